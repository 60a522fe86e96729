"""The one door to placement: a problem, the name of a policy, a plan."""

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum

from sinemora.placement import exact, gang, limits, moves, nomora, objectives, vector_packing
from sinemora.placement.costs import Objective
from sinemora.placement.plan import Plan, moved_tasks
from sinemora.placement.problem import ANYWHERE, Problem, ProblemError


class Policy(StrEnum):
    """How tasks are placed."""

    exact = "exact"
    """Cheapest for the roots as they are, proven. The default."""
    gang = "gang"
    """Roots chosen with their tasks."""
    robust = "robust"
    """As `exact`, each pair costing a risk of its whole distribution."""
    pack = "pack"
    """CPU, memory and exclusion as well, by CP-SAT."""
    nomora = "nomora"
    """The published network, one node per task."""
    nomora_aggregated = "nomora_aggregated"
    """The published network, one node per job: same optimum."""


def solve(problem: Problem, policy: Policy = Policy.exact, objective: Objective = Objective.slowdown) -> Plan:
    """The plan of a policy. Raises `ProblemError` where it does not know what the problem asks for.

    A price or a budget of moves and limits on failure domains hold under `exact` and `robust`, the former under `pack`.
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
        plan = moves.front(problem, (problem.move_price,), objective)[0].plan
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
            raise ProblemError("not_supported", "policy nomora", "the published policy knows one objective, no budget")
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
