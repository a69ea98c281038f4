#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh: the README's two commands in a bare Debian 12 root: no make, no compiler, an empty environment.
#
# `make run` stays up, so its `ready` file is awaited, then it is asked to end; `make demo` must end by itself with 0.
set -euo pipefail
cd "$(dirname "$0")/../.."
[ "$(id -u)" = 0 ] || { echo "test-bare: must be root (it makes a Debian root folder and mounts /proc and /dev in it)" >&2; exit 1; }
sh cmake/deps.sh bare

root=$(mktemp -d /var/tmp/herd-bare.XXXXXX)
finish() {
  local code=$?
  umount -l "$root/proc" "$root/dev" 2>/dev/null || true
  rm -rf --one-file-system "$root"
  exit "$code"
}
trap finish EXIT

echo "bare: making a Debian 12 root"
sources=$(ls /etc/apt/sources.list /etc/apt/sources.list.d/debian.* 2>/dev/null || true)
# shellcheck disable=SC2086
mmdebstrap --quiet --variant=minbase --skip=check/empty bookworm "$root" $sources
cp -a /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
cp /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"
mkdir -p "$root/src"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp -P --parents -t "$root/src"
# A process group of its own, so that ending it ends all that it started.
inside=(setsid env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
  chroot "$root" /bin/sh -c)

echo "bare: apt-get install -y make && make run"
"${inside[@]}" 'cd /src && apt-get update -qq && apt-get install -y -qq make >/dev/null && make run' \
  >"$root/run.log" 2>&1 &
run=$!
deadline=$((SECONDS + 900))
until [ -e "$root/src/build/run/ready" ]; do
  kill -0 "$run" 2>/dev/null || { tail -n 60 "$root/run.log" >&2; echo "bare: make run ended" >&2; exit 1; }
  ((SECONDS < deadline)) || { tail -n 60 "$root/run.log" >&2; echo "bare: not ready in time" >&2; exit 1; }
  sleep 1
done
kill -TERM -- "-$run"
wait "$run" 2>/dev/null || true
grep -E 'rag-inference' "$root/run.log" | tail -n 3

echo "bare: make demo"
"${inside[@]}" 'cd /src && make demo' >"$root/demo.log" 2>&1 || { tail -n 60 "$root/demo.log" >&2; echo "bare: make demo failed" >&2; exit 1; }
tail -n 12 "$root/demo.log"
echo "test-bare: 2 passed, 0 failed"
