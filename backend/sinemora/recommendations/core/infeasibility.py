"""Diagnosis of unplaced tasks: the single constraint whose relaxation makes room, and objectives out of reach."""

from collections.abc import Iterator
from dataclasses import replace

from sinemora.applications.performance import Indices
from sinemora.placement import infeasibility
from sinemora.placement.plan import Plan
from sinemora.placement.policies import limits
from sinemora.placement.policies.by_name import Policy
from sinemora.placement.problem import Problem
from sinemora.recommendations.core.formulate import formulate
from sinemora.recommendations.core.holdout import estimate_mean, performance_series
from sinemora.recommendations.core.instance import WAITING, Deployment, ImputedMatrix, Instance
from sinemora.recommendations.core.local_search import SearchResult

LEVELS = {"machine": "VM", "rack": "host", "pod": "zone", "place": "zone"}
"""Names of the solver's levels for tenants."""
PUBLISHED = (Policy.nomora, Policy.nomora_aggregated)
"""Policies under which a task may wait although a machine is free."""


def diagnose_unplaced(
    instance: Instance,
    stars: list[int],
    assumed: ImputedMatrix,
    policy: Policy | None,
    problem: Problem | None,
    plan: Plan | None,
    search: SearchResult | None,
) -> Iterator[limits.InfeasibleError]:
    """Yield why tasks of the solver and of the local search are unplaced."""
    try:
        if problem is not None and plan is not None and policy is not None:
            if policy in PUBLISHED and plan.waiting.any():
                # A waiting task may fit all the same: refuse only what no policy can place.
                plan = limits.solve(replace(problem.with_roots(plan.root), move_price=0, most_moves=None))
            infeasibility.require_all_placed(
                problem, plan, LEVELS, lambda: _relaxed_problems(instance, stars, assumed, policy)
            )
    except limits.InfeasibleError as error:
        yield error
    try:
        if search is not None:
            infeasibility.require_all_found(
                search.problem, search.solution, [application.name for application in instance.applications], LEVELS
            )
    except limits.InfeasibleError as error:
        yield error


def unmet_objectives(instance: Instance, at: tuple[Indices, ...]) -> list[str]:
    """Describe the applications that stay below their objective for the placement `at`."""
    words = []
    for place, application in enumerate(instance.applications):
        if not application.chosen or application.objective is None:
            continue
        by = None if application.root is None else instance.holdout_risk
        estimate = estimate_mean(
            performance_series(application.links, at[place], instance.holdout, application.sensitivity, by),
            instance.holdout_blocks,
        )
        if estimate is not None and estimate.mean < application.objective:
            words.append(
                f"{application.name} reaches {estimate.mean:.1%}, below its objective of {application.objective:.1%},"
                " with any feasible moves: lower the objective, relax a limit, or rent VMs nearer to one another."
            )
    return words


def _relaxed_problems(
    instance: Instance, stars: list[int], assumed: ImputedMatrix, policy: Policy
) -> Iterator[tuple[str, Problem]]:
    """Yield relaxations of zones, anti-affinity and pins, one at a time, applications with waiting tasks first."""
    for place in sorted(stars, key=lambda place: not (instance.applications[place].at == WAITING).any()):
        application = instance.applications[place]
        for words, other in _relaxations(instance, stars, application):
            applications = (*instance.applications[:place], other, *instance.applications[place + 1 :])
            yield words, formulate(replace(instance, applications=applications), stars, assumed, policy)


def _relaxations(instance: Instance, stars: list[int], application: Deployment) -> Iterator[tuple[str, Deployment]]:
    if application.allowed is not None:
        yield f"allow {application.name} more zones", replace(application, allowed=None)
    for other in sorted(application.apart_from - set(stars)):
        words = f"let {application.name} and {instance.applications[other].name} share VMs"
        yield words, replace(application, apart_from=application.apart_from - {other})
    if any(need.pinned and at >= 0 for need, at in zip(application.tasks, application.at.tolist(), strict=True)):
        yield (
            f"unpin tasks of {application.name}",
            replace(application, tasks=tuple(replace(need, pinned=False) for need in application.tasks)),
        )
