#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""picture.py PROMETHEUS DASHBOARD END: an SVG of DASHBOARD, a file, as PROMETHEUS, a URL on which
backfill.sh has put its series, answers in the hour before END."""
import json
import re
import sys
from html import escape
from urllib.parse import urlencode
from urllib.request import urlopen

COLORS = ["#30ba78", "#2453ff", "#fe7c3f", "#90439e", "#c9a227", "#0c8a9e", "#d6336c", "#6b7280"]
WIDTH, HEIGHT, LEFT, TOP, LEGEND = 440, 190, 46, 26, 12


def series_of(prometheus, target, end):
    """[(legend, [(x, y)])], with x from 0 to 1."""
    asked = {"query": target["expr"].replace("$namespace", ".*"), "start": end - 3300, "end": end, "step": 60}
    with urlopen(prometheus + "/api/v1/query_range?" + urlencode(asked)) as answer:
        for one in json.load(answer)["data"]["result"]:
            legend = re.sub(r"{{(\w+)}}", lambda m: one["metric"].get(m[1], ""), target["legendFormat"])
            points = [((float(t) - end + 3300) / 3300, float(v)) for t, v in one["values"]]
            yield legend, [p for p in points if p[1] == p[1]]


def short(number):
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.3g}"


def panel_svg(panel, lines, x0, y0):
    top = max([y for _, points in lines for _, y in points] + [0]) or 1
    plot_w, plot_h = WIDTH - LEFT - 10, HEIGHT - TOP - 18 - LEGEND * ((len(lines) + 1) // 2)
    unit = panel["fieldConfig"]["defaults"]["unit"]
    out = [f'<g transform="translate({x0},{y0})"><rect class="p" width="{WIDTH - 8}" height="{HEIGHT - 8}"/>',
           f'<text class="t" x="8" y="17">{escape(panel["title"])} ({unit})</text>']
    for part in (0, 0.5, 1):
        y = TOP + plot_h * (1 - part)
        out.append(f'<path class="a" d="M{LEFT},{y:.0f}h{plot_w}"/><text class="n" x="{LEFT - 4}" y="{y + 3:.0f}">{short(top * part)}</text>')
    for i, (legend, points) in enumerate(lines):
        color = COLORS[i % len(COLORS)]
        path = " ".join(f"{LEFT + x * plot_w:.0f},{TOP + plot_h * (1 - y / top):.0f}" for x, y in points)
        lx, ly = LEFT + i % 2 * 195, TOP + plot_h + 6 + LEGEND * (i // 2 + 1) - 4
        out.append(f'<polyline stroke="{color}" points="{path}"/><text x="{lx}" y="{ly}" fill="{color}">{escape(legend)}</text>')
    return "".join(out) + "</g>\n"


def main(prometheus, file, end):
    with open(file, encoding="utf-8") as opened:
        dashboard = json.load(opened)
    panels = dashboard["panels"]
    height = 30 + HEIGHT * ((len(panels) + 1) // 2)
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {height}" font-family="sans-serif" font-size="9">'
          "<style>polyline{fill:none;stroke-width:1.2}.p{fill:#fff;stroke:#ccc}.a{stroke:#eee}.n{text-anchor:end;fill:#666}"
          ".t{font-size:11px;font-weight:bold}</style>"
          f'<rect width="100%" height="100%" fill="#f6f6f6"/><text x="8" y="20" font-size="15">{escape(dashboard["title"])}: made-up series</text>')
    for i, panel in enumerate(panels):
        lines = [line for target in panel["targets"] for line in series_of(prometheus, target, end)]
        print(panel_svg(panel, lines, 4 + i % 2 * WIDTH, 30 + i // 2 * HEIGHT), end="")
    print("</svg>")


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
