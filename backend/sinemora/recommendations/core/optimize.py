"""Optimisation: solve the placement on training windows, keep the moves that hold-out windows confirm.

The solver sees the median round trip of the training windows and the resulting performance. What it proposes is judged
on hold-out windows (`acceptance`), and where that rejects moves, it searches again (`search_again`).
"""

from dataclasses import dataclass

from sinemora.applications.curves.core.curve import Floats
from sinemora.recommendations.core.acceptance import blocked_groups, judge, prices_of_moves
from sinemora.recommendations.core.formulate import formulate, solvable_stars, task_moves
from sinemora.recommendations.core.gains import apply_moves, min_gain
from sinemora.recommendations.core.infeasibility import diagnose_unplaced
from sinemora.recommendations.core.instance import WAITING, ImputedMatrix, Instance, impute
from sinemora.recommendations.core.joint_placement import Barred, movable_tasks, place_jointly
from sinemora.recommendations.core.options import Options
from sinemora.recommendations.core.racks import racks_of
from sinemora.recommendations.core.search_again import Judged, place_confirmed, place_reachably
from sinemora.recommendations.core.solution import Group, Solution
from sinemora.recommendations.placement import progress
from sinemora.recommendations.placement.move_sequence import TaskMove
from sinemora.recommendations.placement.policies import nomora


@dataclass(frozen=True, slots=True, eq=False)
class _Placing:
    """Joint placement after the moves `proposed` of the published policy, and the judgement of all these moves.

    A move has to gain the price of its application for its task; noise explains the gain `noise`.
    """

    instance: Instance
    options: Options
    assumed: ImputedMatrix
    proposed: list[TaskMove]
    prices: Floats
    noise: float

    def __call__(self, movers: set[tuple[int, int]], barred: Barred, earlier: Judged | None) -> Judged:
        """Place `movers`; return the result, all groups, and the steps of those kept.

        The search begins with the moves that were kept of an `earlier` result. That one had at least these `movers`,
        and no limit that this one lacks.
        """
        search, moves = None, self.proposed
        if movers:
            at = apply_moves(tuple(application.at for application in self.instance.applications), moves)
            known = None
            if earlier is not None and earlier[0] is not None:
                kept = [move for group in earlier[1] if group.rejected is None for move in group.moves]
                known = (earlier[0].solution, apply_moves(at, kept))
            search = place_jointly(self.instance, self.assumed, at, movers, self.options, self.prices, barred, known)
            moves = [*moves, *search.moves]
        progress.report(0.8, f"judging {len(moves)} moves on other windows")
        return search, *judge(self.instance, moves, self.options, self.noise)


def solve(instance: Instance, options: Options) -> Solution:
    """Return the moves worth making. Raises `NothingMeasured`, `placement.ProblemError`, `placement.InfeasibleError`.

    Raises the last if tasks are unplaced and no move is worth making; otherwise `unplaced` has the reason.
    """
    assumed = impute(instance.training, instance.zones)
    here = tuple(application.at for application in instance.applications)
    chosen = [place for place, application in enumerate(instance.applications) if application.chosen]
    noise = min_gain(instance, chosen)
    prices = prices_of_moves(instance, options, noise)
    stars = solvable_stars(instance) if options.nomora else []
    problem, plan, proposed, racks_from = None, None, [], None
    if stars:
        progress.report(0.2, f"placing tasks of {len(stars)} stars on {len(instance.machines)} VMs")
        racks, racks_from = racks_of(instance, assumed)
        problem = formulate(instance, stars, assumed, racks)
        plan = nomora.solve(problem, options.nomora)
        proposed = task_moves(instance, stars, problem, plan)
    movers = movable_tasks(instance, stars)
    waiting = {(place, task) for place, task in movers if here[place][task] == WAITING}
    if instance.shortage is not None and waiting:  # no gain of a move can be judged: only starts are worth making
        movers = waiting
    place = _Placing(instance, options, assumed, proposed, prices, noise)
    judged, barred = place(movers, Barred(), None), Barred()
    refused: list[Group] = []
    if not options.nomora and instance.shortage is None:
        judged, barred, refused = place_confirmed(instance, place, movers, judged)
    search, groups, steps = judged
    first = search
    if blocked_groups(groups) and not options.nomora:
        search, again, steps = place_reachably(place, movers, barred, judged)
        groups = [*again, *(group for group in blocked_groups(groups) if group not in again)]
    rejected = sum(len(group.moves) for group in groups if group.rejected is not None)
    groups = [*groups, *refused]
    kept = [group for group in groups if group.rejected is None]
    after = apply_moves(here, [move for group in kept for move in group.moves])
    unplaced = []
    for why in diagnose_unplaced(instance, assumed, options, prices, plan, search):
        # Running tasks that violate their limits may stay.
        if not steps and any((here[place] == WAITING).any() for place in chosen):
            raise why
        unplaced.append(str(why))
    return Solution(
        options=options,
        steps=steps,
        groups=tuple(groups),
        kept=tuple(kept),
        after=after,
        plan=plan,
        problem=problem,
        assumed=assumed,
        min_gain=noise,
        search=first,
        unplaced=tuple(unplaced),
        racks_from=racks_from,
        left_out=len(barred),
        rejected=rejected,
    )
