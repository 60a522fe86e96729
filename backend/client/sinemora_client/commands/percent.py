"""Ratios as people read them: with the unit apart from the number (ISO 80000-1, 7.1.4)."""


def percent(ratio: float | None, digits: int = 1) -> str:
    """Return a ratio as a percentage: 0.123 is “12.3 %”, a missing one “-”."""
    return "-" if ratio is None else f"{100 * ratio:.{digits}f} %"


def signed_percent(ratio: float | None, digits: int = 1) -> str:
    """Return a difference of ratios as a percentage with its sign: 0.123 is “+12.3 %”, a missing one “-”."""
    return "-" if ratio is None else f"{100 * ratio:+.{digits}f} %".replace("-", "−")
