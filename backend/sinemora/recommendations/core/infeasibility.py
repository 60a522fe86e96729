"""Diagnosis of unplaced tasks: the single constraint whose relaxation makes room, and objectives out of reach."""

from collections.abc import Iterator
from dataclasses import replace

from sinemora.applications.performance import Indices
from sinemora.kit.percent import percent
from sinemora.recommendations.core.constraints import moves_allowed
from sinemora.recommendations.core.formulate import formulate
from sinemora.recommendations.core.holdout import estimate_mean, performance_series
from sinemora.recommendations.core.instance import WAITING, Deployment, ImputedMatrix, Instance
from sinemora.recommendations.core.joint_placement import SearchResult
from sinemora.recommendations.core.options import Options
from sinemora.recommendations.placement import infeasibility
from sinemora.recommendations.placement.plan import PlacementPlan
from sinemora.recommendations.placement.policies import limits
from sinemora.recommendations.placement.problem import Problem

LEVELS = {"machine": "VM", "rack": "host", "pod": "zone", "place": "zone"}
"""Names of the solver's levels for tenants."""


def diagnose_unplaced(
    instance: Instance,
    stars: list[int],
    assumed: ImputedMatrix,
    problem: Problem | None,
    plan: PlacementPlan | None,
    search: SearchResult | None,
) -> Iterator[limits.InfeasibleError]:
    """Yield why tasks of the published policy and of the joint placement are unplaced."""
    try:
        if problem is not None and plan is not None:
            if plan.waiting.any():
                # The published policy may leave a task waiting that fits: refuse only what no policy can place.
                plan = limits.solve(problem.with_roots(plan.root))
            infeasibility.require_all_placed(problem, plan, LEVELS, _unpinned(instance, stars, assumed))
    except limits.InfeasibleError as error:
        yield error
    try:
        if search is not None:
            infeasibility.require_all_found(
                search.problem, search.solution, [application.name for application in instance.applications], LEVELS
            )
    except limits.InfeasibleError as error:
        yield error


def unmet_objectives(instance: Instance, at: tuple[Indices, ...], options: Options) -> list[str]:
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
                f"{application.name} reaches {percent(estimate.mean)}, below its objective of"
                f" {percent(application.objective)}, {_within_moves(application, options)}, or rent VMs nearer to one"
                " another."
            )
    return words


def _within_moves(application: Deployment, options: Options) -> str:
    """Return the moves that an application is allowed, and what could be relaxed."""
    own = application.moves_max
    most = options.moves_max if own is None else min(own, options.moves_max)
    if most == 0:
        of = "the request" if options.moves_max == 0 else application.name
        return f"{moves_allowed(0)}: raise moves_max of {of}, lower the objective"
    return f"with {moves_allowed(most)}: lower the objective, relax a limit"


def _unpinned(instance: Instance, stars: list[int], assumed: ImputedMatrix) -> Iterator[tuple[str, Problem]]:
    """Yield the problem without the pins of each application, those with waiting tasks first."""
    for place in sorted(stars, key=lambda place: not (instance.applications[place].at == WAITING).any()):
        application = instance.applications[place]
        if any(need.pinned and at >= 0 for need, at in zip(application.tasks, application.at.tolist(), strict=True)):
            loose = replace(application, tasks=tuple(replace(need, pinned=False) for need in application.tasks))
            applications = (*instance.applications[:place], loose, *instance.applications[place + 1 :])
            looser = formulate(replace(instance, applications=applications), stars, assumed)
            yield f"unpin tasks of {application.name}", looser
