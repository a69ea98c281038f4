#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# backfill.sh TSDB END: the series of series.txt as blocks for a Prometheus that is started on TSDB: a sample every 30 s
# in the hour before END, a Unix time. Needs promtool.
set -eu
mkdir -p "$1"
awk -v end="$2" '
  function sample(series, value, i) { printf "%s %.6f %d\n", series, value, end - 3600 + 30 * i }
  /^#/ || !NF { next }
  {
    phase++
    buckets = $2 == "histogram" ? split("0.1 0.5 1 5 +Inf", le, " ") : 1
    split("0.1 0.4 0.8 0.99 1", share, " ")
    for (b = 1; b <= buckets; b++) {
      series = $1
      if (buckets > 1) sub(/}$/, ",le=\"" (b < buckets ? le[b] * $4 : le[b]) "\"}", series)
      total = 0
      for (i = 0; i <= 120; i++) {
        wave = 1 + 0.3 * sin(i / 12 + phase)
        total += $3 * wave * (buckets == 1 ? 1 : b > 3 ? share[b] : share[b] * (1 + 0.1 * sin(i / 7 + b)))
        sample(series, $2 == "constant" ? $3 : $2 == "gauge" ? $3 * wave : total, i)
      }
    }
  }
  END { print "# EOF" }' "$(dirname "$0")/series.txt" >"$1.openmetrics"
promtool tsdb create-blocks-from --quiet openmetrics "$1.openmetrics" "$1"
