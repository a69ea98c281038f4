# SPDX-License-Identifier: Apache-2.0
# tool.sh: programs of Debian packages, unpacked into $unpacked and not installed: the package prometheus would start a server.
# Sourced behind lib.sh.

# tool PROGRAM PACKAGE: 0 if it can be called by its name from here on.
tool() {
  PATH=$unpacked/usr/bin:$PATH
  ! command -v "$1" >/dev/null || return 0
  mkdir -p "$unpacked"
  (cd "$unpacked" && apt-get -qq -o Acquire::Retries=2 download "$2" && dpkg-deb --extract "$2"_*.deb .) >"$state/$1.log" 2>&1 &&
    command -v "$1" >/dev/null && return
  echo "$(basename "$0"): skipped: $1: the Debian package $2 cannot be had: $(tail -n 1 "$state/$1.log")"
  return 1
}
