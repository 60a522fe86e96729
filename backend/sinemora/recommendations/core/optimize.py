"""Optimisation: solve the placement on training windows, keep the moves that hold-out windows confirm.

The solver sees the median round trip of the training windows and the resulting performance. What it proposes is judged
on hold-out windows (`acceptance`), and where that rejects moves, it searches again (`search_again`).
"""

from sinemora.recommendations.core.acceptance import blocked_groups, judge
from sinemora.recommendations.core.formulate import formulate, solvable_stars, task_moves
from sinemora.recommendations.core.gains import apply_moves, min_gain
from sinemora.recommendations.core.infeasibility import diagnose_unplaced
from sinemora.recommendations.core.instance import WAITING, ImputedMatrix, Instance, impute
from sinemora.recommendations.core.joint_placement import Barred, movable_tasks, place_jointly
from sinemora.recommendations.core.racks import racks_of
from sinemora.recommendations.core.search_again import Judged, place_confirmed, place_reachably
from sinemora.recommendations.core.solution import Group, Options, Solution
from sinemora.recommendations.placement import progress
from sinemora.recommendations.placement.move_sequence import TaskMove
from sinemora.recommendations.placement.policies import nomora


def solve(instance: Instance, options: Options) -> Solution:
    """Return the moves worth making. Raises `NothingMeasured`, `placement.ProblemError`, `placement.InfeasibleError`.

    Raises the last if tasks are unplaced and no move is worth making; otherwise `unplaced` has the reason.
    """
    assumed = impute(instance.training, instance.zones)
    here = tuple(application.at for application in instance.applications)
    chosen = [place for place, application in enumerate(instance.applications) if application.chosen]
    noise = min_gain(instance, chosen)
    costs = [
        instance.applications[place].move_cost if options.move_cost is None else options.move_cost for place in chosen
    ]
    least_gain = max(noise, min(costs, default=0.0))
    stars = solvable_stars(instance) if options.published else []
    problem, plan, proposed, racks_from = None, None, [], None
    if stars:
        progress.report(0.2, f"placing tasks of {len(stars)} stars on {len(instance.machines)} VMs")
        racks, racks_from = racks_of(instance, assumed)
        problem = formulate(instance, stars, assumed, racks)
        plan = nomora.solve(problem, options.published)
        proposed = task_moves(instance, stars, problem, plan)
    movers = movable_tasks(instance, stars)

    def place(tasks: set[tuple[int, int]], barred: Barred, earlier: Judged | None) -> Judged:
        return _place_and_judge(instance, options, assumed, proposed, tasks, least_gain, noise, barred, earlier)

    judged, barred = place(movers, frozenset(), None), Barred()
    refused: list[Group] = []
    if not options.published and instance.shortage is None:
        judged, barred, refused = place_confirmed(instance, place, movers, judged)
    search, groups, steps = judged
    first = search
    if blocked_groups(groups) and not options.published:
        search, again, steps = place_reachably(lambda tasks, earlier: place(tasks, barred, earlier), movers, judged)
        groups = [*again, *(group for group in blocked_groups(groups) if group not in again)]
    rejected = sum(len(group.moves) for group in groups if group.rejected is not None)
    groups = [*groups, *refused]
    kept = [group for group in groups if group.rejected is None]
    after = apply_moves(here, [move for group in kept for move in group.moves])
    unplaced = []
    for why in diagnose_unplaced(instance, stars, assumed, problem, plan, search):
        # Running tasks that violate their limits may stay.
        if not steps and any((here[place] == WAITING).any() for place in chosen):
            raise why
        unplaced.append(str(why))
    return Solution(
        steps,
        tuple(groups),
        tuple(kept),
        after,
        plan,
        problem,
        assumed,
        noise,
        first,
        tuple(unplaced),
        racks_from,
        len(barred),
        rejected,
    )


def _place_and_judge(
    instance: Instance,
    options: Options,
    assumed: ImputedMatrix,
    proposed: list[TaskMove],
    movers: set[tuple[int, int]],
    least_gain: float,
    noise: float,
    barred: Barred,
    earlier: Judged | None,
) -> Judged:
    """Place `movers` after the moves `proposed`; return the result, all groups, and the steps of those kept.

    The search begins with the moves that were kept of an `earlier` result. That one had at least these `movers`, and no
    limit that this one lacks.
    """
    search = None
    if movers:
        at = apply_moves(tuple(application.at for application in instance.applications), proposed)
        known = None
        if earlier is not None and earlier[0] is not None:
            kept = [move for group in earlier[1] if group.rejected is None for move in group.moves]
            known = (earlier[0].solution, apply_moves(at, kept))
        search = place_jointly(
            instance, assumed, at, movers, options.objective, least_gain, options.moves_max, barred, known
        )
        proposed = [*proposed, *search.moves]
    progress.report(0.8, f"judging {len(proposed)} moves on held-out windows")
    return search, *judge(instance, proposed, options.move_cost, options.moves_max, noise)
