"""The loss over the iterations as a picture: an SVG file, or a few lines of text. Wants nothing but Python."""

import math

WIDTH, HEIGHT, LEFT, TOP = 640, 400, 70, 30
COLORS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd")


def _range(curves):
    """The powers of ten between which all numbers lie."""
    logs = [math.log10(value) for values in curves.values() for value in values if 0.0 < value < math.inf] or [0.0]
    low, high = math.floor(min(logs)), math.ceil(max(logs))
    return low, max(high, low + 1)


def _share(value, low, high):
    """How high a number is between 10^low and 10^high: 0 to 1; at the top what is no number."""
    if not value < math.inf:
        return 1.0
    return (math.log10(max(value, 10.0**low)) - low) / (high - low)


def svg(curves, title):
    """Curves {name: positive numbers} on a logarithmic scale, as the text of an SVG file."""
    low, high = _range(curves)
    most = max(len(values) for values in curves.values()) - 1
    wide, tall = WIDTH - LEFT - 20, HEIGHT - TOP - 50

    def x(iteration):
        return LEFT + wide * iteration / max(most, 1)

    def y(value):
        return TOP + tall * (1.0 - _share(value, low, high))

    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">'
        % (WIDTH, HEIGHT),
        '<rect width="100%" height="100%" fill="white"/>',
        '<text x="%d" y="18">%s</text>' % (LEFT, title),
    ]
    for power in range(low, high + 1):
        height = y(10.0**power)
        lines.append('<path d="M%d %.1fH%d" stroke="#ddd"/>' % (LEFT, height, LEFT + wide))
        lines.append('<text x="%d" y="%.1f" text-anchor="end">1e%d</text>' % (LEFT - 6, height + 4, power))
    for iteration in sorted({0, most // 2, most}):
        lines.append(
            '<text x="%.1f" y="%d" text-anchor="middle">%d</text>' % (x(iteration), TOP + tall + 18, iteration)
        )
    for number, (name, values) in enumerate(curves.items()):
        color = COLORS[number % len(COLORS)]
        points = " ".join("%.1f,%.1f" % (x(i), y(value)) for i, value in enumerate(values))
        lines.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>' % (points, color))
        lines.append('<text x="%d" y="%d" fill="%s">%s</text>' % (LEFT + 80 * number, HEIGHT - 10, color, name))
    return "\n".join([*lines, "</svg>", ""])


def text(values, rows=10, width=50):
    """A bar for some of the numbers, on a logarithmic scale."""
    low, high = _range({"": values})
    places = sorted({round(i * (len(values) - 1) / max(rows - 1, 1)) for i in range(rows)})
    lines = []
    for place in places:
        bar = "#" * round(width * _share(values[place], low, high))
        lines.append("%6d  %10.3e  %s" % (place, values[place], bar))
    return "\n".join(lines)
