# SPDX-License-Identifier: Apache-2.0
# tool.sh: programs of Debian packages, unpacked into $unpacked and not installed: the package prometheus would start a server.
# Sourced behind lib.sh.

# tool PROGRAM PACKAGE [PACKAGE OF A LIBRARY...]: 0 if it can be called by its name from here on.
tool() {
  local program=$1 libraries
  shift
  PATH=$unpacked/usr/bin:$unpacked/usr/sbin:$PATH
  mkdir -p "$unpacked"
  command -v "$program" >/dev/null || (cd "$unpacked" && apt-get -qq -o Acquire::Retries=2 -o APT::Sandbox::User=root download "$@" &&
    for package in *.deb; do dpkg-deb --extract "$package" . || exit; done) >"$state/$program.log" 2>&1 || {
    echo "$(basename "$0"): skipped: $program: the Debian package $1 cannot be had: $(tail -n 1 "$state/$program.log")"
    return 1
  }
  libraries=("$unpacked"/usr/lib/*-linux-gnu*)
  [ $# = 1 ] || export LD_LIBRARY_PATH="${libraries[0]}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  "$program" --version >"$state/$program.log" 2>&1 && return
  echo "$(basename "$0"): skipped: $program of the Debian package $1 does not run: $(tail -n 1 "$state/$program.log")"
  return 1
}
