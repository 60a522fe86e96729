"""Arcs of the NoMora flow network as solved for a recommendation."""

from sinemora.kit.errors import ProductError
from sinemora.recommendations.core.solution import Solution
from sinemora.recommendations.placement.policies.explain import explain
from sinemora.recommendations.schemas import NetworkArc

ARCS_MAX = 5_000


def solved_arcs(solution: Solution) -> list[NetworkArc]:
    """Return every arc of the stars' flow network with its flow; empty if no star was placed.

    ProductError `network_too_large`: more than `ARCS_MAX` arcs.
    """
    if solution.problem is None or solution.plan is None:
        return []
    decided = solution.problem.with_roots(solution.plan.root)
    arcs = explain(decided, solution.options.nomora)
    if len(arcs) > ARCS_MAX:
        raise ProductError(
            "network_too_large",
            409,
            f"Network too large: {len(arcs):,} arcs, {ARCS_MAX:,} allowed. Select fewer applications"
            " or omit `explain`.",
            arcs=len(arcs),
        )
    return [NetworkArc.model_validate(arc._asdict()) for arc in arcs]
