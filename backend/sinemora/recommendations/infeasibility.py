"""Why tasks find no place, and which limit given up alone would make room; which applications stay below objectives."""

from collections.abc import Iterator
from dataclasses import replace

from sinemora.applications.performance import Indices
from sinemora.placement import infeasibility, limits
from sinemora.placement.plan import Plan
from sinemora.placement.policies import Policy
from sinemora.placement.problem import Problem
from sinemora.recommendations.formulate import formulate
from sinemora.recommendations.holdout import expected_of, series
from sinemora.recommendations.instance import WAITING, Assumed, Deployed, World
from sinemora.recommendations.local_search import Searched

LEVELS = {"machine": "VM", "rack": "host", "pod": "zone", "place": "zone"}
"""What the solver's levels are to a tenant, and what an application may be kept to."""
PUBLISHED = (Policy.nomora, Policy.nomora_aggregated)
"""Policies under which a task may wait though there is a place for it."""


def unplaced_of(
    world: World,
    stars: list[int],
    assumed: Assumed,
    policy: Policy | None,
    problem: Problem | None,
    plan: Plan | None,
    search: Searched | None,
) -> Iterator[limits.InfeasibleError]:
    """Why tasks of the solver's and of the search's find no place, where they do not."""
    try:
        if problem is not None and plan is not None and policy is not None:
            if policy in PUBLISHED and plan.waiting.any():
                # What waits there may have a place all the same: only what no policy could place is refused.
                plan = limits.solve(replace(problem.with_roots(plan.root), move_price=0, most_moves=None))
            infeasibility.require_all_placed(problem, plan, LEVELS, lambda: _loosened(world, stars, assumed, policy))
    except limits.InfeasibleError as error:
        yield error
    try:
        if search is not None:
            infeasibility.require_all_found(
                search.question, search.found, [one.name for one in world.applications], LEVELS
            )
    except limits.InfeasibleError as error:
        yield error


def short_of_objectives(world: World, at: tuple[Indices, ...]) -> list[str]:
    """Which applications stay below the performance they must not fall below when tasks run `at` these machines."""
    found = []
    for place, one in enumerate(world.applications):
        if not one.chosen or one.objective is None:
            continue
        by = None if one.root is None else world.felt_judging
        told = expected_of(series(one.links, at[place], world.judging, one.sensitivity, by).performance)
        if told is not None and told.mean < one.objective:
            found.append(
                f"{one.name} keeps {told.mean:.1%}, below its objective of {one.objective:.1%}, whichever moves"
                " these limits allow: lower the objective, relax a limit, or rent VMs nearer to one another."
            )
    return found


def _loosened(world: World, stars: list[int], assumed: Assumed, policy: Policy) -> Iterator[tuple[str, Problem]]:
    """Zones, exclusions and pins of stars given up one by one, those of which a task waits first."""
    for place in sorted(stars, key=lambda place: not (world.applications[place].at == WAITING).any()):
        one = world.applications[place]
        for words, other in _looser(world, stars, one):
            applications = (*world.applications[:place], other, *world.applications[place + 1 :])
            yield words, formulate(replace(world, applications=applications), stars, assumed, policy)


def _looser(world: World, stars: list[int], one: Deployed) -> Iterator[tuple[str, Deployed]]:
    if one.allowed is not None:
        yield f"allow {one.name} more zones", replace(one, allowed=None)
    for other in sorted(one.apart_from - set(stars)):
        words = f"let {one.name} and {world.applications[other].name} share VMs"
        yield words, replace(one, apart_from=one.apart_from - {other})
    if any(need.pinned and at >= 0 for need, at in zip(one.tasks, one.at.tolist(), strict=True)):
        yield f"unpin tasks of {one.name}", replace(one, tasks=tuple(replace(need, pinned=False) for need in one.tasks))
