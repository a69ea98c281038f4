#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deps.sh KIND: make sure that the Debian packages of KIND (build, test, fuzz, bare, e2e) are installed.
#
# Installs without questions where it is root or sudo asks for nothing; otherwise says exactly what is missing.
# What is in the lists below is split into words wherever it is used.
# shellcheck disable=SC2086
set -eu

build="gcc libc6-dev cmake ninja-build pkg-config libmicrohttpd-dev libgnutls28-dev libcurl4-openssl-dev
  libcjson-dev libyaml-dev libpcre2-dev libssl-dev libsqlite3-dev zlib1g-dev
  libseccomp-dev procps util-linux ca-certificates"
test="$build clang-format libcmocka-dev libasan8 libubsan1 libtsan2 curl openssl jq git strace skopeo buildah shellcheck"
fuzz="$test clang libclang-rt-14-dev"
bare="mmdebstrap"
e2e="$build curl openssl jq git containerd runc containernetworking-plugins iproute2 iptables dnsmasq-base"

case "${1:-build}" in
  build) wanted=$build ;;
  test) wanted=$test ;;
  fuzz) wanted=$fuzz ;;
  bare) wanted=$bare ;;
  e2e) wanted=$e2e ;;
  *) echo "deps.sh: '$1' is not build, test, fuzz, bare or e2e" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null 2>&1; then
  echo "deps.sh: this is not a Debian system; install the equivalents of:" $wanted >&2
  exit 0
fi

missing=
for package in $wanted; do
  dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing="$missing $package"
done
# Any kubectl will do; Debian's is old but drives the demo.
command -v kubectl >/dev/null 2>&1 || missing="$missing kubernetes-client"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
  as_root="sudo -n"
else
  echo "These packages are missing, and this user can become root neither directly nor by sudo without a password:" >&2
  echo " $missing" >&2
  echo "Ask for:  apt-get install -y$missing" >&2
  exit 1
fi
echo "Installing:$missing"
# Another apt-get at work is waited for.
apt_get="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300"
$apt_get install -y --no-install-recommends $missing >/dev/null 2>&1 || {
  $apt_get update
  $apt_get install -y --no-install-recommends $missing >/dev/null
}
