"""The published network as it was solved for a recommendation, arc by arc, for those who want to follow it."""

from sinemora.kit.errors import ProductError
from sinemora.placement.explain import explain
from sinemora.placement.nomora import Parameters
from sinemora.recommendations.optimize import Choice
from sinemora.recommendations.schemas import NetworkArc

ARCS_MAX = 5_000


def network_of(choice: Choice) -> list[NetworkArc]:
    """Every arc of the network of the stars with the flow that solves it; none where no star was placed.

    ProductError `network_too_large`: it has more than `ARCS_MAX` arcs.
    """
    if choice.problem is None or choice.plan is None:
        return []
    decided = choice.problem.with_roots(choice.plan.root)
    arcs = explain(decided, Parameters(aggregate=True))
    if len(arcs) > ARCS_MAX:
        raise ProductError(
            "network_too_large",
            409,
            f"The network has {len(arcs):,} arcs; up to {ARCS_MAX:,} are kept. Ask about fewer applications,"
            " or without `explain`.",
            arcs=len(arcs),
        )
    return [NetworkArc.model_validate(arc._asdict()) for arc in arcs]
