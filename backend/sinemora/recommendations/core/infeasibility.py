"""Diagnosis of unplaced tasks: the single constraint whose relaxation makes room, and objectives out of reach."""

from collections.abc import Callable, Iterator

from sinemora.applications.curves.core.curve import Floats
from sinemora.applications.performance import Indices
from sinemora.kit.percent import percent
from sinemora.recommendations.core.constraints import moves_allowed
from sinemora.recommendations.core.holdout import estimate_mean, performance_series
from sinemora.recommendations.core.instance import Deployment, ImputedMatrix, Instance
from sinemora.recommendations.core.joint_placement import SearchResult, movable_tasks, search_problem
from sinemora.recommendations.core.options import Options
from sinemora.recommendations.placement import infeasibility
from sinemora.recommendations.placement.plan import PlacementPlan
from sinemora.recommendations.placement.policies import search
from sinemora.recommendations.placement.problem import ANYWHERE

LEVELS = {"machine": "VM", "rack": "host", "pod": "zone", "place": "zone"}
"""Names of the solver's levels for tenants."""


def diagnose_unplaced(
    instance: Instance,
    assumed: ImputedMatrix,
    options: Options,
    prices: Floats,
    plan: PlacementPlan | None,
    found: SearchResult | None,
) -> Iterator[infeasibility.InfeasibleError]:
    """Yield why tasks of the published policy and of the joint placement are unplaced."""
    names = [application.name for application in instance.applications]
    machines = [machine.name for machine in instance.machines]
    if plan is not None and (plan.waiting.any() or (plan.root == ANYWHERE).any()):
        # The published policy may leave a task waiting that fits: refuse only what the search cannot place either.
        here = tuple(application.at for application in instance.applications)
        problem, _ = search_problem(instance, assumed, here, movable_tasks(instance, []), options, prices)
        at = search.started(problem, problem.at)
        yield from _refusal(lambda: infeasibility.require_all_found(problem, at, names, machines, LEVELS))
    if found is not None:
        proven = found.solution.gap is not None and not found.problem.barred.size
        yield from _refusal(
            lambda: infeasibility.require_all_found(found.problem, found.solution.at, names, machines, LEVELS, proven)
        )


def _refusal(require: Callable[[], None]) -> Iterator[infeasibility.InfeasibleError]:
    try:
        require()
    except infeasibility.InfeasibleError as error:
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
                f"With these moves {application.name} reaches {percent(estimate.mean)}, below its objective of"
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
