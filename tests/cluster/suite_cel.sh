#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suite_cel.sh: tests/unit/lab/cel/expressions.txt says what Kubernetes answers: cel-go with the libraries of its API server
# is asked again. The lab's own answers are the unit test beside that file.
. "$(dirname "$0")/../integration/lib.sh"
suite "$1" "$2"
# shellcheck source=tests/cluster/cluster.sh
. tests/cluster/cluster.sh
cluster_tools cel

table=tests/unit/lab/cel/expressions.txt
row "expressions of CEL have the answers that Kubernetes gives"
cel "$table" "${table%/*}/self.schema.json" "${table%/*}/self.object.json" >"$state/expressions.txt"
diff -u "$table" "$state/expressions.txt" || wrong "answers differ: take over those with + from $state/expressions.txt"
row "and there are many of them"
[ "$(grep -cE '^[=!?] ' "$table")" -gt 400 ] || wrong "$table has too few rows"
