"""Options of the optimiser."""

from dataclasses import dataclass

from sinemora.recommendations.placement.costs import Objective
from sinemora.recommendations.placement.policies.nomora import Parameters


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the optimiser. `move_cost` None: the value of each application.

    `nomora`: parameters of the published policy, whose flow network then places the tasks of stars, without limits on
    moves.
    """

    nomora: Parameters | None = None
    objective: Objective = Objective.loss
    moves_max: int = 10
    move_cost: float | None = None
