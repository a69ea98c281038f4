#!/bin/sh
# layers.sh: includes point down, and each library's header stands in the files that are allowed to have it.
set -eu
cd "$(dirname "$0")/../.."
bad=0

# layer: what it may include
check() {
  layer=$1
  shift
  allowed=$(echo "$@" | tr ' ' '|')
  found=$(grep -nE '^#include "' -r "shared/$layer" --include='*.[ch]' --include='*.def' |
    grep -vE "#include \"($allowed)/" || true)
  if [ -n "$found" ]; then
    echo "shared/$layer may include $* only:" >&2
    echo "$found" >&2
    bad=1
  fi
}
check base base
check text text base
check kube kube text base
check stack stack kube text base
check io io base
check runtime runtime io kube text base
check settings settings runtime io stack kube text base

# header pattern: the files that may include it
only() {
  pattern=$1
  files=$2
  found=$(grep -rnE "^#include <($pattern)" --include='*.[ch]' shared webhook controller lab certs |
    grep -vE "^($files):" || true)
  if [ -n "$found" ]; then
    echo "<$pattern> belongs in $files only:" >&2
    echo "$found" >&2
    bad=1
  fi
}
only 'cjson/|cJSON' 'shared/text/value\.c'
only 'yaml\.h' 'shared/text/yaml\.c'
only 'zlib' 'shared/text/zip\.c'
only 'pcre2' 'shared/text/regex\.c'
only 'openssl/' 'shared/text/digest\.c|shared/io/tls[a-z_]*\.[ch]'
only 'microhttpd|gnutls/' 'shared/io/http_server[a-z_]*\.[ch]'
only 'curl/' 'shared/io/http_client[a-z_]*\.[ch]'
only 'seccomp\.h' 'shared/io/sandbox\.c'
only 'sqlite3' 'lab/apiserver/store[a-z_]*\.[ch]'

# The core is pure.
found=$(grep -nE '\b(time|clock_gettime|gettimeofday|getenv|fopen|socket|pthread_create|printf)\(' -r \
  shared/text shared/kube shared/stack --include='*.c' | grep -vE 'snprintf|vsnprintf' || true)
if [ -n "$found" ]; then
  echo "the core touches the world:" >&2
  echo "$found" >&2
  bad=1
fi

# A reason is a row of reasons.def, wherever it is given or looked for.
found=$(grep -nE '(reason( =|,)|plan_set\(|plan_fail\().*STR\("[A-Z][A-Za-z]+"\)' -r shared/stack --include='*.c' || true)
if [ -n "$found" ]; then
  echo "a reason that is no row of shared/stack/reasons.def:" >&2
  echo "$found" >&2
  bad=1
fi

# Tables of tables: every file opens by saying what it is.
for file in $(git ls-files '*.c' '*.h' '*.def' 2>/dev/null); do
  [ -f "$file" ] || continue
  head -n 1 "$file" | grep -q '^/\* ' || { echo "$file does not open with what it is" >&2; bad=1; }
done
[ "$bad" = 0 ] && echo "lint: layers hold"
exit "$bad"
