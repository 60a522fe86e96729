"""Result of the optimiser."""

from dataclasses import dataclass

from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.performance import Indices
from sinemora.recommendations.core.holdout import Gain
from sinemora.recommendations.core.instance import ImputedMatrix
from sinemora.recommendations.core.joint_placement import SearchResult
from sinemora.recommendations.core.options import Options
from sinemora.recommendations.core.racks import RackSource
from sinemora.recommendations.placement.move_sequence import MoveStep, TaskMove
from sinemora.recommendations.placement.plan import PlacementPlan
from sinemora.recommendations.placement.problem import Problem


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Moves that depend on one another, their common gain, and the reason for a rejection."""

    moves: tuple[TaskMove, ...]
    gain: Gain | None
    rejected: str | None
    unconfirmed: bool = False
    """Rejected because held-out windows do not confirm the gain."""
    loser: int | None = None
    """Application that does not gain enough by its own moves, of a group with several."""
    too_costly: tuple[str, ...] = ()
    """Unconfirmed only because of these costs, `move_cost` or `bringing_cost`: without them the gain is confirmed."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Solution:
    """Moves in execution order (`steps`), all `groups`, best first, and the placement `after` the kept ones."""

    options: Options
    steps: tuple[MoveStep, ...]
    groups: tuple[Group, ...]
    kept: tuple[Group, ...]
    after: tuple[Indices, ...]
    plan: PlacementPlan | None
    problem: Problem | None
    assumed: ImputedMatrix
    min_gain: float
    """Minimum gain of a move for its task, because round trips are noisy."""
    search: SearchResult | None = None
    """Joint placement: of all tasks, or under the published policy of those that its network does not place.

    The first one, if moves without a feasible order were then left out.
    """
    unplaced: tuple[str, ...] = ()
    """Unplaced tasks and the limit to blame."""
    racks_from: RackSource | None = None
    """Origin of the racks of the published flow network; None without it."""
    left_out: int = 0
    """Number of tasks and machines that `search` was kept from, because held-out windows did not confirm the move."""
    rejected: int = 0
    """Number of moves of `search` that were rejected afterwards."""

    @property
    def gap(self) -> float | None:
        """Return by how much another placement might be better at most, per link; None if no bound is known."""
        if self.search is None or self.search.solution.gap is None or self.problem is not None:
            return None
        return self.search.solution.gap / max(float(self.search.problem.weight.sum()), 1e-12)

    @property
    def slot_price(self) -> Floats | None:
        """Return the gain of one more slot on each VM in performance of a task, shape (VMs,); None if unknown."""
        return None if self.plan is not None or self.search is None else self.search.solution.slot_price
