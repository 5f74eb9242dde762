"""The twelve kernels as a picture: bars of time, as parts of that by hand."""

from __future__ import annotations

from typing import Any

WIDTH, ROW, LEFT, RIGHT, TOP = 720, 34, 170, 60, 46  # pixels
BAR, GAP = 12, 2
MOST = 2.6  # of the time by hand; longer bars end there with their number
COLORS = {"kbuild": "#2b6cb0", "Warp": "#a0aec0"}
FONT = 'font-family="sans-serif" font-size="12"'


def svg(values: dict[str, Any]) -> str:
    """A file that a browser shows, light or dark."""
    cases = {title: case for title, case in values["cases"].items() if "by hand" in case["ways"]}
    height = TOP + ROW * len(cases) + 24
    scale = (WIDTH - LEFT - RIGHT) / MOST
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {FONT}>',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="18">time of a kernel, as parts of that of CUDA C by hand</text>',
    ]
    for i, (name, color) in enumerate(COLORS.items()):
        x = LEFT + 110 * i
        lines.append(f'<rect x="{x}" y="26" width="12" height="12" fill="{color}"/>')
        lines.append(f'<text x="{x + 17}" y="36">{name}</text>')
    for row, (title, case) in enumerate(cases.items()):
        y = TOP + ROW * row
        lines.append(f'<text x="{LEFT - 8}" y="{y + 18}" text-anchor="end">{title}</text>')
        by_hand = case["ways"]["by hand"]["median"]
        for i, (name, color) in enumerate(COLORS.items()):
            if name in case["ways"]:
                part = case["ways"][name]["median"] / by_hand
                width, top = scale * min(part, MOST), y + 4 + i * (BAR + GAP)
                lines.append(f'<rect x="{LEFT}" y="{top}" width="{width:.1f}" height="{BAR}" fill="{color}"/>')
                number = f"{part:.2f}" if part < 100 else f"{part:.0f}"
                lines.append(f'<text x="{LEFT + width + 4:.1f}" y="{top + 10}" font-size="10">{number}</text>')
    x = LEFT + scale
    lines.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{height - 20}" stroke="#c53030"/>')
    lines.append(f'<text x="{x:.1f}" y="{height - 6}" text-anchor="middle" fill="#c53030">by hand</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"
