"""Entry point of placement: solves a problem by a named policy."""

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum

from sinemora.recommendations.placement.costs import Objective
from sinemora.recommendations.placement.plan import Plan, moved_tasks
from sinemora.recommendations.placement.policies import exact, gang, limits, moves, nomora, objectives, vector_packing
from sinemora.recommendations.placement.problem import ANYWHERE, Problem, ProblemError


class Policy(StrEnum):
    """Placement policy."""

    exact = "exact"
    """Optimal for the given roots, proven. The default."""
    gang = "gang"
    """Places roots together with their tasks."""
    robust = "robust"
    """As `exact`, with a tail-risk cost per pair."""
    pack = "pack"
    """Adds CPU, memory and anti-affinity, by CP-SAT."""
    nomora = "nomora"
    """The published network, one node per task."""
    nomora_aggregated = "nomora_aggregated"
    """The published network, one node per job: same optimum."""


def solve(problem: Problem, policy: Policy = Policy.exact, objective: Objective = Objective.slowdown) -> Plan:
    """Return the plan of a policy. Raises `ProblemError` if it does not support the problem.

    Move price, move budget and spread limits hold under `exact` and `robust`, price and budget also under `pack`.
    """
    if objective is Objective.worst_first:
        return objectives.worst_first(problem, lambda weighted: _POLICIES[policy](weighted, objective))
    return _POLICIES[policy](problem, objective)


def _exact(problem: Problem, objective: Objective) -> Plan:
    if (problem.jobs.root == ANYWHERE).any():
        problem = problem.with_roots(gang.place(problem, objective))
    if problem.spread:
        return limits.solve(problem, objective)
    if problem.move_price:
        plan = moves.pareto_front(problem, (problem.move_price,), objective)[0].plan
        if problem.most_moves is None or moved_tasks(problem.loose(), plan.assignment) <= problem.most_moves:
            return plan
    if problem.most_moves is not None:
        return moves.within_budget(problem, problem.most_moves, objective)
    return exact.solve(problem, objective)


def _robust(problem: Problem, objective: Objective) -> Plan:
    if problem.risk is None:
        raise ProblemError("risk_missing", "risk", "distributions of latency, and the risk of them that counts")
    return replace(_exact(problem, objective), policy="robust")


def _gang(problem: Problem, objective: Objective) -> Plan:
    if problem.spread or problem.most_moves is not None:
        raise ProblemError("not_supported", "policy gang", "spread limits and move budgets: use exact")
    return gang.solve(problem, objective)


def _pack(problem: Problem, objective: Objective) -> Plan:
    if (problem.jobs.root == ANYWHERE).any():
        problem = problem.with_roots(gang.place(problem, objective))
    return vector_packing.solve(problem, objective)


def _nomora(aggregate: bool) -> Callable[[Problem, Objective], Plan]:
    def solve_published(problem: Problem, objective: Objective) -> Plan:
        if objective is not Objective.slowdown or problem.most_moves is not None:
            raise ProblemError(
                "not_supported", "policy nomora", "the published policy supports one objective and no move budget"
            )
        return nomora.solve(problem, nomora.Parameters(aggregate=aggregate))

    return solve_published


_POLICIES: dict[Policy, Callable[[Problem, Objective], Plan]] = {
    Policy.exact: _exact,
    Policy.gang: _gang,
    Policy.robust: _robust,
    Policy.pack: _pack,
    Policy.nomora: _nomora(False),
    Policy.nomora_aggregated: _nomora(True),
}
