"""Delays as people read them: three significant digits in the unit that suits, as in the console."""

import math

_UNITS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0))


def delay(ns: float | None) -> str:
    """Return a delay with its unit: 99_100 is “99.1 µs”, 30_081_000 “30.1 ms”, a missing one “-”."""
    if ns is None:
        return "-"
    # The rounded value decides the unit: 999 999 ns are 1.00 ms, not 1000 µs.
    rounded = float(f"{ns:.3g}")
    unit, factor = next((scale for scale in _UNITS if abs(rounded) >= scale[1]), _UNITS[-1])
    value = rounded / factor
    digits = 0 if value == 0 else max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{digits}f} {unit}"
