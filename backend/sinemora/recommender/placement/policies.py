"""The one door to placement: a problem, the name of a policy, a plan."""

from collections.abc import Callable
from enum import StrEnum

from sinemora.recommender.placement import gang, limits, moves, nomora, objectives
from sinemora.recommender.placement.costs import Objective
from sinemora.recommender.placement.plan import Plan
from sinemora.recommender.placement.problem import ANYWHERE, Problem, ProblemError


class Policy(StrEnum):
    """How tasks are placed."""

    exact = "exact"
    """Cheapest for the roots as they are, proven. The default."""
    gang = "gang"
    """Roots chosen with their tasks."""
    nomora = "nomora"
    """The published network, one node per task."""
    nomora_aggregated = "nomora_aggregated"
    """The published network, one node per job: same optimum."""


def solve(problem: Problem, policy: Policy = Policy.exact, objective: Objective = Objective.slowdown) -> Plan:
    """The plan of a policy. Limits on moves and on failure domains hold under `exact`."""
    return _POLICIES[policy](problem, objective)


def _exact(problem: Problem, objective: Objective) -> Plan:
    if (problem.jobs.root == ANYWHERE).any():
        problem = problem.with_roots(gang.place(problem))
    if problem.spread and problem.most_moves is not None:
        raise ProblemError("not_together", "spread, most_moves", "a move budget and spread limits cannot be combined")
    if objective in (Objective.fair, Objective.worst_first) and (problem.spread or problem.most_moves is not None):
        raise ProblemError("not_together", "objective", f"{objective} takes neither spread limits nor a move budget")
    if problem.spread:
        return limits.solve(problem, objective)
    if problem.most_moves is not None:
        return moves.within_budget(problem, problem.most_moves, objective)
    return objectives.solve(problem, objective)


def _gang(problem: Problem, objective: Objective) -> Plan:
    if problem.spread or problem.most_moves is not None or objective in (Objective.fair, Objective.worst_first):
        raise ProblemError("not_supported", "policy gang", "spread limits, move budgets and job weights: use exact")
    return gang.solve(problem, objective)


def _nomora(aggregate: bool) -> Callable[[Problem, Objective], Plan]:
    def solve_published(problem: Problem, objective: Objective) -> Plan:
        if objective is not Objective.slowdown or problem.most_moves is not None:
            raise ProblemError("not_supported", "policy nomora", "the published policy knows one objective, no budget")
        return nomora.solve(problem, nomora.Parameters(aggregate=aggregate))

    return solve_published


_POLICIES: dict[Policy, Callable[[Problem, Objective], Plan]] = {
    Policy.exact: _exact,
    Policy.gang: _gang,
    Policy.nomora: _nomora(False),
    Policy.nomora_aggregated: _nomora(True),
}
