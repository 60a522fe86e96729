"""A choice in words and numbers: what a reader needs to believe a move, or to refuse it."""

from uuid import UUID

import numpy as np

from sinemora.applications.schemas import Named
from sinemora.measurements.query.history import History
from sinemora.measurements.schemas import Span
from sinemora.placement.costs import Objective
from sinemora.placement.move_sequence import Step, TaskMove
from sinemora.placement.problem import Risk
from sinemora.recommendations import constraints
from sinemora.recommendations.alternatives import Known, alternatives
from sinemora.recommendations.holdout import Expected, Gain
from sinemora.recommendations.infeasibility import short_of_objectives
from sinemora.recommendations.instance import World
from sinemora.recommendations.network import network_of
from sinemora.recommendations.optimize import POINTS, Choice, Group, expected, moved, of_task
from sinemora.recommendations.schemas import (
    Answer,
    ApplicationGain,
    BestFound,
    CertificateRead,
    Evidence,
    ExpectedRead,
    FrontPoint,
    GainRead,
    MoveRead,
    Place,
    Question,
    RunnerUp,
)

_COUNTED = {
    Risk.mean: "the mean over all exchanges",
    Risk.p99: "the 99th percentile of all exchanges",
    Risk.cvar: "the slowest twentieth of all exchanges",
}


def answer(world: World, seen: History, question: Question, objective: Objective, choice: Choice) -> Answer:
    """What was found, without the moves themselves."""
    here = tuple(one.at for one in world.applications)
    chosen = [place for place, one in enumerate(world.applications) if one.chosen]
    total = expected(world, here, choice.after, chosen, 0.0) if choice.kept else None
    touched = sorted({move.task[0] for group in choice.kept for move in group.moves})
    gains = [(place, expected(world, here, choice.after, [place], 0.0)) for place in touched]
    size = len(world.machines)
    off_diagonal = ~np.eye(size, dtype=bool)
    known = int((choice.assumed.known & off_diagonal).sum())
    span = seen.span
    return Answer(
        policy=question.policy,
        objective=objective,
        best_found=_best_found(choice),
        total=None if total is None else gain_read(total),
        applications=[
            ApplicationGain(
                application=_named(world.applications[place].id, world.applications[place].name),
                objective=world.applications[place].objective,
                expected=gain_read(found),
            )
            for place, found in gains
            if found is not None
        ],
        certificate=_certificate(choice),
        front=_front(world, choice, chosen),
        constraints=constraints.stated(world),
        rejected=short_of_objectives(world, choice.after)
        + [f"{words}." for words in choice.unplaced]
        + [_rejected(world, group) for group in choice.groups if group.rejected is not None],
        evidence=Evidence(
            window=Span(from_=None if span is None else span[0], to=None if span is None else span[1]),
            statistic=question.statistic,
            chosen_on=len(world.choosing),
            judged_on=len(world.judging),
            paths=size * (size - 1),
            paths_known=known,
            paths_assumed=size * (size - 1) - known,
            hysteresis=choice.hysteresis,
        ),
        price_change_per_hour=_price_change(world, here, choice.after),
        network=network_of(choice) if question.explain else None,
    )


def moves(world: World, choice: Choice) -> list[MoveRead]:
    """The moves in the order to make them."""
    here = tuple(one.at for one in world.applications)
    group_of = {move: number for number, group in enumerate(choice.kept) for move in group.moves}
    leaving = {move.source: move for group in choice.kept for move in group.moves if not move.starts}
    known: Known = {}
    found = []
    for position, step in enumerate(choice.steps):
        move = step.move
        one = world.applications[move.task[0]]
        gained = of_task(world, move, here, choice.after)
        before = None if move.starts else _trip_ns(world, choice, move, here)
        trips = (before, _trip_ns(world, choice, move, choice.after))
        other = leaving.get(move.target)
        runner, slack = alternatives(world, choice, move, known)
        found.append(
            MoveRead(
                position=position,
                group=group_of[move],
                application=_named(one.id, one.name),
                task=_named(one.tasks[move.task[1]].id, one.tasks[move.task[1]].name),
                source=None if move.starts else _place(world, move.source),
                target=_place(world, move.target),
                via=None if step.via is None else _machine(world, step.via),
                gain=None if gained is None else gain_read(gained),
                round_trip_before_ns=trips[0],
                round_trip_after_ns=trips[1],
                slot_price=_slot_price(choice, move.target),
                makes_room=[] if other is None else [_task_name(world, other)],
                runner_up=runner,
                slack_us=slack,
                disturbs=_disturbed(world, move),
                explanation=_explanation(world, move, gained, trips, other, runner, slack),
                rollback=_rollback(world, step),
            )
        )
    return found


def gain_read(found: Gain) -> GainRead:
    """A gain as it is shown."""
    return GainRead(
        before=expected_read(found.before),
        after=expected_read(found.after),
        gain=expected_read(found.gain),
        probability=found.probability,
    )


def expected_read(found: Expected) -> ExpectedRead:
    """A mean with its interval as it is shown."""
    return ExpectedRead(mean=found.mean, low=found.low, high=found.high, windows=found.windows)


def _certificate(choice: Choice) -> CertificateRead | None:
    proof = None if choice.plan is None else choice.plan.certificate
    if proof is None:
        return None
    words = (
        "No placement of these tasks on these VMs is better under the round trips it was chosen on."
        if proof.proven
        else f"No placement can be better by more than {proof.gap} points of {proof.primal}."
    )
    return CertificateRead(primal=proof.primal, dual=proof.dual, gap=proof.gap, proven=proof.proven, words=words)


def _best_found(choice: Choice) -> BestFound | None:
    found = choice.search
    if found is None:
        return None
    left = f"; {found.waiting} of them find no VM with room" if found.waiting else ""
    words = (
        f"Best found for {choice.searched} tasks of graphs or of more than a slot, not proven: their links cost"
        f" {found.cost:.3f}, and no placement costs less than {found.bound:.3f}{left}."
    )
    return BestFound(tasks=choice.searched, cost=found.cost, bound=found.bound, words=words)


def _price_change(world: World, before: tuple[np.ndarray, ...], after: tuple[np.ndarray, ...]) -> float | None:
    """What an hour costs more when VMs without tasks are not rented; None where no VM that matters has a price."""
    used = [{int(machine) for at in side for machine in at if machine >= 0} for side in (before, after)]
    prices = [world.machines[machine].price_per_hour for machine in used[0] ^ used[1]]
    if not prices or any(price is None for price in prices):
        return None
    return sum(
        (world.machines[machine].price_per_hour or 0.0) * (1 if machine in used[1] else -1)
        for machine in used[0] ^ used[1]
    )


def _front(world: World, choice: Choice, chosen: list[int]) -> list[FrontPoint]:
    """What the first group of moves gains, the first two, and so on."""
    here = tuple(one.at for one in world.applications)
    place_of = {step.move: position for position, step in enumerate(choice.steps)}
    made: list[TaskMove] = []
    points = []
    for group in choice.kept:
        made += group.moves
        found = expected(world, here, moved(here, made), chosen, 0.0)
        positions = sorted(place_of[move] for move in made if move in place_of)
        gained = None if found is None else gain_read(found)
        points.append(FrontPoint(moves=len(made), expected=gained, positions=positions))
    return points


def _explanation(
    world: World,
    move: TaskMove,
    gained: Gain | None,
    trips: tuple[int | None, int],
    other: TaskMove | None,
    runner: RunnerUp | None,
    slack: float | None,
) -> str:
    one = world.applications[move.task[0]]
    partner = "its neighbours" if one.root in (None, move.task[1]) else one.tasks[one.root or 0].name
    target = world.machines[move.target].name
    words = [f"On {target} the round trip to {partner} is {trips[1] / 1e3:.0f} µs"]
    if trips[0] is not None:
        words[0] += f" instead of {trips[0] / 1e3:.0f} µs on {world.machines[move.source].name}"
    if world.felt_judging is not None and one.root is not None:
        words[0] += f" (the median; judged by {_COUNTED[world.felt_judging.risk]})"
    if gained is None:
        words[0] += "; what it performs was not measured."
    elif move.starts:
        words[0] += f": performance {gained.after.mean:.1%}. It waits now and does nothing."
    else:
        words[0] += f": performance {gained.after.mean:.1%} instead of {gained.before.mean:.1%}."
    if other is not None:
        words.append(f"{_task_name(world, other)} makes room by moving to {world.machines[other.target].name}.")
    if runner is not None:
        words.append(f"The next best VM, {runner.vm.name}, would be worse by {runner.worse_by:.1%}.")
    if slack is not None:
        words.append(f"The move pays as long as that round trip grows by less than {slack:.0f} µs.")
    return " ".join(words)


def _rollback(world: World, step: Step) -> str:
    move = step.move
    name = world.applications[move.task[0]].tasks[move.task[1]].name
    if move.starts:
        return f"Stop {name} on {world.machines[move.target].name}; undo moves in the reverse order."
    return (
        f"Move {name} from {world.machines[move.target].name} back to {world.machines[move.source].name};"
        " undo moves in the reverse order."
    )


def _rejected(world: World, group: Group) -> str:
    told = ", ".join(
        f"{_task_name(world, move)} from {_machine_name(world, move.source)} to {_machine_name(world, move.target)}"
        for move in group.moves[:5]
    )
    more = f" and {len(group.moves) - 5} more" if len(group.moves) > 5 else ""
    return f"{told}{more}: {group.rejected}."


def _disturbed(world: World, move: TaskMove) -> list[str]:
    """Applications with tasks on the VMs a move touches, besides its own."""
    return [
        one.name
        for place, one in enumerate(world.applications)
        if place != move.task[0] and np.isin(one.at[one.at >= 0], (move.source, move.target)).any()
    ]


def _trip_ns(world: World, choice: Choice, move: TaskMove, at: tuple[np.ndarray, ...]) -> int:
    """The mean round trip (ns) over the links of a task, by the median of the judging windows."""
    place, task = move.task
    links = world.applications[place].links
    run = (at[place][links.sources] >= 0) & (at[place][links.targets] >= 0)
    mine = run & ((links.sources == task) | (links.targets == task))
    if not mine.any():
        return 0
    sources, targets = at[place][links.sources[mine]], at[place][links.targets[mine]]
    judged = world.judging[:, sources, targets]
    found = [
        0.0
        if a == b
        else float(np.nanmedian(judged[:, row]))
        if np.isfinite(judged[:, row]).any()
        else float(choice.assumed.round_trips_ns[a, b])
        for row, (a, b) in enumerate(zip(sources.tolist(), targets.tolist(), strict=True))
    ]
    return round(float(np.mean(found)))


def _slot_price(choice: Choice, machine: int) -> float | None:
    price = None if choice.plan is None else choice.plan.slot_price
    return None if price is None else float(price[machine]) / POINTS


def _task_name(world: World, move: TaskMove) -> str:
    one = world.applications[move.task[0]]
    return f"{one.name}/{one.tasks[move.task[1]].name}"


def _place(world: World, machine: int) -> Place:
    vm = world.machines[machine]
    return Place(id=vm.id, name=vm.name, zone=vm.zone, host=vm.host, price_per_hour=vm.price_per_hour)


def _machine_name(world: World, machine: int) -> str:
    return world.machines[machine].name if machine >= 0 else "waiting"


def _machine(world: World, machine: int) -> Named:
    return _named(world.machines[machine].id, world.machines[machine].name)


def _named(identity: UUID, name: str) -> Named:
    return Named(id=identity, name=name)
