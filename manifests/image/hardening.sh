#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hardening.sh PROGRAM...: whether each was built as a program must be that reads what strangers send. What is missing is
# named; 1 if anything is. Read back from the file itself: a flag that a compiler or linker dropped shows here.
set -euo pipefail
export LC_ALL=C

missing=0
# has WHAT PATTERN: a line of the program's $facts.
has() {
  grep -qE "$2" <<<"$facts" || {
    echo "hardening.sh: $program: no $1" >&2
    missing=1
  }
}

[ $# -gt 0 ] || { echo "usage: hardening.sh PROGRAM..." >&2; exit 2; }
for program in "$@"; do
  facts=$(readelf --wide --file-header --program-headers --dynamic --dyn-syms --notes "$program")
  has 'position independence (-pie)' 'Flags:.* PIE\b'
  has 'read-only relocations (-z relro)' '^ *GNU_RELRO '
  has 'binding at start (-z now)' 'Flags:.* NOW\b'
  has 'stack that is not executed (-z noexecstack)' '^ *GNU_STACK .* RW +0x'
  has 'stack protector (-fstack-protector-strong)' ' __stack_chk_fail\b'
  has 'checked calls (-D_FORTIFY_SOURCE=3)' ' __[a-z_]+_chk(@|$| )'
  [[ $facts != *X86-64* ]] || has 'shadow stack (-fcf-protection, -z shstk)' 'x86 feature:.* SHSTK'
done
exit "$missing"
