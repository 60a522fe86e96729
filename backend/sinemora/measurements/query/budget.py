"""Read budgets of queries: one for requests, a larger one for jobs."""

from collections.abc import Callable
from dataclasses import dataclass

from sinemora.kit.errors import ProductError


class OverBudget(ProductError):
    """Refusal of a query over more frames than its budget; a request then starts a job."""

    def __init__(self, frames: int, frames_max: int) -> None:
        super().__init__(
            "range_too_large",
            409,
            f"Range too large: {frames} frames, at most {frames_max} for one query."
            " Request a shorter range or fewer paths.",
            frames=frames,
            frames_max=frames_max,
        )


@dataclass(frozen=True, slots=True)
class ReadBudget:
    """`frames_max` frames may be read; `report` receives the share read so far and may raise to stop the query."""

    frames_max: int
    report: Callable[[float], None]

    def check(self, frames: int) -> None:
        """Raise `OverBudget` (`range_too_large`) for more frames than allowed."""
        if frames > self.frames_max:
            raise OverBudget(frames, self.frames_max)

    def part(self, start: float, end: float) -> "ReadBudget":
        """Return the budget of a part of the work, whose progress counts from `start` to `end`."""
        return ReadBudget(self.frames_max, lambda share: self.report(start + (end - start) * share))


REQUEST = ReadBudget(200_000, lambda _: None)
JOB_FRAMES_MAX = 5_000_000
