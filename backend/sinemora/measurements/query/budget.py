"""How much one question may read: what a request can wait for, and what a job may take its time with."""

from collections.abc import Callable
from dataclasses import dataclass

from sinemora.kit.errors import ProductError


class OverBudget(ProductError):
    """More frames than the budget allows; a request makes a job of it."""

    def __init__(self, frames: int, frames_max: int) -> None:
        super().__init__(
            "range_too_large",
            409,
            f"This range holds {frames} frames, and at most {frames_max} are read for one answer."
            " Ask for a shorter one, or for fewer paths.",
            frames=frames,
            frames_max=frames_max,
        )


@dataclass(frozen=True, slots=True)
class Budget:
    """`frames_max` frames may be read; `report` receives the share read so far and may raise to stop the query."""

    frames_max: int
    report: Callable[[float], None]

    def check(self, frames: int) -> None:
        """ProductError `range_too_large` (`OverBudget`) for more frames than that."""
        if frames > self.frames_max:
            raise OverBudget(frames, self.frames_max)

    def part(self, start: float, end: float) -> "Budget":
        """The same budget for a part of the work: its progress counts from `start` to `end`."""
        return Budget(self.frames_max, lambda share: self.report(start + (end - start) * share))


REQUEST = Budget(200_000, lambda _: None)
JOB_FRAMES_MAX = 5_000_000
