# SPDX-License-Identifier: Apache-2.0
# tables.sh: medians and ratios of servers that were measured in turns; sourced. Who sources it sets servers, Herd first.

# Medians of what stands in a file of turns. A ratio is the median of the rounds' ratios: a peer's figure over Herd's.
medians='
  BEGIN { peers = split(servers, names, " "); heading["herd"] = "Herd"; heading["peer"] = "Go"; heading["rust"] = "Rust"; heading["compare"] = "Go cmp" }
  function median(list,   n, parts, i, j, t) {
    n = split(list, parts, " ")
    for (i = 2; i <= n; i++)
      for (j = i; j > 1 && parts[j] + 0 < parts[j - 1] + 0; j--) { t = parts[j]; parts[j] = parts[j - 1]; parts[j - 1] = t }
    return n ? (n % 2 ? parts[(n + 1) / 2] : (parts[n / 2] + parts[n / 2 + 1]) / 2) : ""
  }
  function shown(value) { return value == "" ? "-" : sprintf(value < 100 ? "%.1f" : "%.0f", value) }
  function times(ratio) { return ratio == "" ? "-" : sprintf(ratio < 10 ? "%.2f" : "%.1f", ratio) }
  # The figures of one column, by servers; with_ratio: each peer by how many times Herd is better, too.
  function cells(row, column, with_ratio,   i, text) {
    for (i = 1; i <= peers; i++) {
      text = text sprintf(" %7s", shown(median(all[row, column, names[i]])))
      if (with_ratio && i > 1) text = text sprintf(" %6s", times(median(ratios[row, column, names[i]])))
    }
    return " |" text
  }
  function headings(with_ratio,   i, text) {
    for (i = 1; i <= peers; i++) text = text sprintf(" %7s", heading[names[i]]) (with_ratio && i > 1 ? "  ratio" : "")
    return " |" text
  }
  function take(server, row, round, column, value,   i) {
    all[row, column, server] = all[row, column, server] " " value
    of[row, column, round, server] = value
    count[row, column, round]++
    if (count[row, column, round] < peers || of[row, column, round, "herd"] <= 0) return
    for (i = 2; i <= peers; i++)
      ratios[row, column, names[i]] = ratios[row, column, names[i]] " " of[row, column, round, names[i]] / of[row, column, round, "herd"]
  }'

# few FILE DIVISOR: a row for each name.
few() {
  awk -v by="$2" -v servers="${servers[*]}" "$medians"'
    {
      if (!($2 in seen)) { seen[$2] = 1; rows[++n] = $2 }
      split($4, pair, "=")
      take($1, $2, $3, "value", pair[2] / by)
    }
    END {
      printf "%-28s%s\n", "", headings(1)
      for (i = 1; i <= n; i++) {
        name = rows[i]
        gsub("_", " ", name)
        printf "%-28s%s\n", name, cells(rows[i], "value", 1)
      }
    }' "$1"
}
