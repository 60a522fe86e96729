"""Plot of a fitted curve as SVG: samples, fit and band."""

from html import escape

import numpy as np

from sinemora.applications.curves.core.fit import Fit

_WIDTH, _HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 24, 34, 44
_INK, _GRID, _LINE, _BAND = "#1f2937", "#d1d5db", "#1c7ed6", "#a5d8ff"


def svg(fitted: Fit, title: str) -> str:
    """Return performance against added microseconds as SVG."""
    end = fitted.curve.end_us
    samples = fitted.samples.performance / fitted.baseline_factor
    lowest, ceiling = min(float(fitted.low(end)), float(samples.min())), max(1.05, float(samples.max()) + 0.03)
    floor = max(0.0, float(np.floor((lowest - 0.02) * 10) / 10))

    def x(us: float) -> float:
        return round(_LEFT + us / end * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(share: float) -> float:
        return round(_TOP + (ceiling - share) / (ceiling - floor) * (_HEIGHT - _TOP - _BOTTOM), 1)

    at = np.unique(np.concatenate((np.linspace(0, end, 161), fitted.samples.added_us)))
    band = fitted.at(at)
    upper = [f"{x(us)},{y(p)}" for us, p in zip(at, band.high, strict=True)]
    lower = [f"{x(us)},{y(p)}" for us, p in zip(at[::-1], band.low[::-1], strict=True)]
    line = [f"{x(us)},{y(p)}" for us, p in zip(at, band.performance, strict=True)]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
        f' aria-label="{escape(title)}" font-family="system-ui, sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="20" fill="{_INK}" font-size="14">{escape(title)}</text>',
    ]
    for share in np.arange(floor, ceiling, 0.1):
        height = y(float(share))
        parts.append(f'<path d="M{_LEFT} {height}H{_WIDTH - _RIGHT}" stroke="{_GRID}"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{height + 4}" text-anchor="end" fill="{_INK}">{share:.1f}</text>')
    for us in np.linspace(0, end, 6):
        label = f'<text x="{x(us)}" y="{_HEIGHT - 24}" text-anchor="middle" fill="{_INK}">{us:.0f}</text>'
        parts.append(label)
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(
        f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle" fill="{_INK}">µs added to the round trip</text>'
    )
    parts.append(f'<polygon points="{" ".join(upper + lower)}" fill="{_BAND}" fill-opacity="0.6"/>')
    parts.append(f'<polyline points="{" ".join(line)}" fill="none" stroke="{_LINE}" stroke-width="2"/>')
    for us, p in zip(fitted.samples.added_us, samples, strict=True):
        parts.append(f'<circle cx="{x(us)}" cy="{y(p)}" r="3.5" fill="#ffffff" stroke="{_INK}" stroke-width="1.5"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"
