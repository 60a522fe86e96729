"""Progress of a solve: its phases, and the best cost and lower bound where a solver reports them.

The listener belongs to the context of the caller (`contextvars`), so solvers report without a parameter for it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from sinemora.kit.percent import percent


@dataclass(frozen=True, slots=True)
class SolveProgress:
    """Phase of a solve, its share of the whole (0 … 1), and the best cost found with its lower bound, if known."""

    share: float
    phase: str
    cost: float | None = None
    bound: float | None = None
    described: str | None = None
    """Best cost and bound in words of the caller."""

    @property
    def words(self) -> str:
        """Return the phase with the best cost, the bound and the gap between them."""
        if self.described is not None:
            return f"{self.phase}: {self.described}"
        if self.cost is None:
            return self.phase if self.bound is None else f"{self.phase}: lower bound {self.bound:,.6g}"
        words = f"{self.phase}: best cost {self.cost:,.6g}"
        if self.bound is None:
            return words
        gap = max(self.cost - self.bound, 0.0) / max(abs(self.cost), 1e-9)
        return f"{words}, lower bound {self.bound:,.6g}, gap {percent(gap)}"


Listener = Callable[[SolveProgress], None]
_listener: ContextVar[Listener | None] = ContextVar("placement_progress", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Send the progress of solves in this context to `listener`."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def describing(describe: Callable[[float, float | None], str]) -> Iterator[None]:
    """Describe the costs and bounds that solves in this context report by `describe`."""
    outer = listener()

    def pass_on(solve: SolveProgress) -> None:
        words = None if solve.cost is None else describe(solve.cost, solve.bound)
        outer(replace(solve, described=words))

    with listening(pass_on):
        yield


def listener() -> Listener:
    """Return the listener of this context, for solvers that report from threads; without one, a listener that drops."""
    return _listener.get() or (lambda _: None)


def report(share: float, phase: str, cost: float | None = None, bound: float | None = None) -> None:
    """Report the progress of a solve."""
    listener()(SolveProgress(share, phase, cost, bound))
