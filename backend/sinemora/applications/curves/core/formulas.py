"""Members of a family as text formulas; x in microseconds added to the round trip."""

from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.curves.core.families import Family, Parameters


def formula(family: Family, z: Floats, scale_us: float) -> str:
    """Return the member z (dimensions,) as text; `scale_us` is the latency the family counts in."""
    p = family.parameters(z[None, :])
    writer = {
        "hyperbolic": _hyperbolic,
        "exponential": _exponential,
        "two-stage": _two_stage,
        "closed-loop": _closed_loop,
        "linear": _cubic,
        "cubic": _cubic,
        "sigmoid": _sigmoid,
        "two-speeds": _two_speeds,
        "power": _power,
        "piecewise": _piecewise,
        "steps": _steps,
    }[family.name]
    return writer(p, scale_us)


def cubic_coefficients(p: Parameters, scale_us: float) -> tuple[float, float, float, float]:
    """Return coefficients of the powers 0 … 3 of x (µs) past the threshold, from parameters of a line or a cubic."""
    t, top, drop = (float(p[name][0]) for name in ("threshold", "step", "drop"))
    b, g = (float(p[name][0]) if name in p else 0.0 for name in ("bend", "belly"))
    total = 1 + b + b * b / 3 + g / 6
    powers = [1.0, -drop / total, -drop / total * (b + g / 2), -drop / total * (b * b - g) / 3]
    # The powers are of v = (x / scale - t) / (1 - t): expand them around x = 0.
    start, width = t * scale_us, (1 - t) * scale_us
    c1, c2, c3 = (powers[k] / width**k for k in (1, 2, 3))
    c0 = powers[0] - c1 * start + c2 * start**2 - c3 * start**3
    expanded = (c0, c1 - 2 * c2 * start + 3 * c3 * start**2, c2 - 3 * c3 * start, c3)
    c = [(1 - top) * coefficient for coefficient in expanded]
    return c[0], c[1], c[2], c[3]


def _cubic(p: Parameters, scale_us: float) -> str:
    c0, c1, c2, c3 = cubic_coefficients(p, scale_us)
    text = f"1 below {_start(p, scale_us)} µs, then {c0:.4g}"
    for power, c in (("x", c1), ("x²", c2), ("x³", c3)):
        if c:
            text += f" {'−' if c < 0 else '+'} {abs(c):.4g} {power}"
    return text


def _hyperbolic(p: Parameters, scale_us: float) -> str:
    start = _start(p, scale_us)
    return f"1 below {start} µs, then {1 - p['step'][0]:.4g} / (1 + {p['slowdown'][0] / scale_us:.4g} (x − {start}))"


def _exponential(p: Parameters, scale_us: float) -> str:
    start, scale = _start(p, scale_us), p["scale"][0] * scale_us
    return f"1 below {start} µs, then exp(−((x − {start}) / {scale:.4g})^{p['power'][0]:.3g})"


def _two_stage(p: Parameters, scale_us: float) -> str:
    falls, rests = p["fall"][0] * scale_us, p["rest"][0] * scale_us
    start = float(p["threshold"][0]) * scale_us
    return (
        f"1 below {start:.0f} µs, a fall to {1 - p['drop'][0]:.4g} until {start + falls:.0f} µs, level until "
        f"{start + falls + rests:.0f} µs, then divided by 1 + {p['slowdown'][0] / scale_us:.4g} "
        f"(x − {start + falls + rests:.0f})"
    )


def _closed_loop(p: Parameters, scale_us: float) -> str:
    idle, saturated, m = p["idle"][0] * scale_us, p["saturated"][0] * scale_us, p["sharpness"][0]
    return f"R(0) / R(x) with R(x) = ({saturated:.0f}^{m:.3g} + ({idle:.0f} + x)^{m:.3g})^(1/{m:.3g}) µs"


def _piecewise(p: Parameters, scale_us: float) -> str:
    return f"exp(−falls) between {p['falls'].shape[1] + 1} knots up to {scale_us:.0f} µs"


def _sigmoid(p: Parameters, scale_us: float) -> str:
    middle, width = p["middle"][0] * scale_us, p["width"][0] * scale_us
    return f"1 − {p['drop'][0]:.4g} / (1 + exp(−(x − {middle:.0f}) / {width:.3g})), scaled to 1 at 0 µs"


def _power(p: Parameters, scale_us: float) -> str:
    return f"1 − {p['drop'][0]:.4g} (x / {scale_us:.4g})^{p['power'][0]:.3g}"


def _two_speeds(p: Parameters, scale_us: float) -> str:
    fast, slow, share = p["fast"][0] * scale_us, p["slow"][0] * scale_us, p["share"][0]
    return f"{share:.3g} exp(−x / {fast:.4g}) + {1 - share:.3g} exp(−x / {slow:.4g})"


def _steps(p: Parameters, scale_us: float) -> str:
    some = [(at * scale_us, drop) for at, drop in zip(p["at"][0], p["drop"][0], strict=True) if drop > 0]
    return "1, " + ", ".join(f"times {1 - drop:.3g} from {at:.0f} µs" for at, drop in sorted(some))


def _start(p: Parameters, scale_us: float) -> str:
    return f"{p['threshold'][0] * scale_us:.0f}"
