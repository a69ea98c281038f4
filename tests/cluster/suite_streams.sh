#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_streams.sh: Herd's HTTP client on one connection of HTTP/2 with a real API server, with many streams at once.
. "$(dirname "$0")/../integration/lib.sh"
suite "$1" "$2"
# shellcheck source=tests/cluster/cluster.sh
. tests/cluster/cluster.sh
start_cluster management

row "while watches run on the same connection each request is answered, and each watch tells all"
version=$(k get configmaps -o 'jsonpath={.metadata.resourceVersion}')
ok "$bin/herd-streams" "$state/kubeconfig" "$version" 2000
says "2000 objects, 0 without an answer, on 1 connections"
