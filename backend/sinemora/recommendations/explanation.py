"""Recommendation in words and numbers: the evidence that justifies each move."""

from uuid import UUID

import numpy as np

from sinemora.applications.schemas import Named
from sinemora.kit.delays import delay
from sinemora.kit.errors import ProductError
from sinemora.kit.percent import percent
from sinemora.measurements.query.matrix.history import MatrixHistory
from sinemora.measurements.schemas import Span
from sinemora.recommendations import bringing, load_instance
from sinemora.recommendations.alternatives import Known, alternatives
from sinemora.recommendations.bringing import Costs
from sinemora.recommendations.core import constraints
from sinemora.recommendations.core.binding import Binding, binding_limits
from sinemora.recommendations.core.broken_limits import broken_limits
from sinemora.recommendations.core.gains import apply_moves, expected_gain, task_gain
from sinemora.recommendations.core.holdout import Estimate, Gain
from sinemora.recommendations.core.infeasibility import unmet_objectives
from sinemora.recommendations.core.instance import Instance
from sinemora.recommendations.core.solution import Group, Solution
from sinemora.recommendations.placement.costs import Objective
from sinemora.recommendations.placement.move_sequence import MoveStep, TaskMove
from sinemora.recommendations.placement.policies.explain import explain
from sinemora.recommendations.placement.problem import Risk
from sinemora.recommendations.schemas import (
    ApplicationGain,
    BindingLimit,
    BindingRead,
    CertificateRead,
    Evidence,
    ExpectedRead,
    GainRead,
    MoveEndpoint,
    MoveRead,
    NetworkArc,
    Optimality,
    OptimalityRead,
    ParetoPoint,
    RecommendationRequest,
    RecommendationResult,
    RunnerUp,
)

ARCS_MAX = 5_000
_COUNTED = {
    Risk.mean: "the mean of all exchanges",
    Risk.p99: "the 99th percentile of all exchanges",
    Risk.cvar: "the slowest twentieth of all exchanges",
}
_OPTIMISED = {
    Objective.loss: "mean performance over tasks",
    Objective.slowdown: "mean 1 / performance over tasks",
    Objective.fair: "mean performance over applications",
    Objective.worst_first: "performance of the worst application",
}


def build_result(
    instance: Instance, history: MatrixHistory, request: RecommendationRequest, solution: Solution
) -> RecommendationResult:
    """Return the result of a recommendation without its moves."""
    here = tuple(application.at for application in instance.applications)
    chosen = [place for place, application in enumerate(instance.applications) if application.chosen]
    total = expected_gain(instance, here, solution.after, chosen, 0.0) if solution.kept else None
    touched = sorted({move.task[0] for group in solution.kept for move in group.moves})
    gains = [(place, expected_gain(instance, here, solution.after, [place], 0.0)) for place in touched]
    size = len(instance.machines)
    off_diagonal = ~np.eye(size, dtype=bool)
    known = int((solution.assumed.known & off_diagonal).sum())
    span = history.span
    return RecommendationResult(
        policy=request.policy,
        objective=solution.options.objective,
        total=None if total is None else gain_read(total),
        applications=[
            ApplicationGain(
                application=_named(instance.applications[place].id, instance.applications[place].name),
                objective=instance.applications[place].objective,
                expected=gain_read(gain),
            )
            for place, gain in gains
            if gain is not None
        ],
        certificate=_certificate(solution),
        optimality=_optimality(solution),
        pareto_front=_pareto_front(instance, solution, chosen),
        constraints=[*constraints.describe(instance), constraints.moves_allowed(solution.options.moves_max)],
        rejected=unmet_objectives(instance, solution.after, solution.options)
        + [f"{words}." for words in solution.unplaced]
        + [_rejected(instance, group) for group in solution.groups if group.rejected is not None],
        binding=[_binding(instance, one) for one in binding_limits(instance, solution)],
        broken=broken_limits(instance, solution.after, solution.options),
        evidence=Evidence(
            window=Span(from_=None if span is None else span[0], to=None if span is None else span[1]),
            statistic=request.statistic,
            chosen_on=len(instance.training),
            judged_on=len(instance.holdout),
            blocks=np.unique(instance.holdout_blocks).size,
            gap_s=instance.gap_s,
            age_s=round(load_instance.age(history).total_seconds()),
            shortage=instance.shortage,
            paths=size * (size - 1),
            paths_known=known,
            paths_assumed=size * (size - 1) - known,
            min_gain=solution.min_gain,
        ),
        price_change_per_hour=_price_change(instance, here, solution.after),
        network=solved_arcs(solution) if request.explain else None,
        nomora=request.nomora,
        racks_from=solution.racks_from,
    )


def _binding(instance: Instance, one: Binding) -> BindingRead:
    application = instance.applications[one.task[0]]
    task = application.tasks[one.task[1]]
    return BindingRead(
        limits=[BindingLimit(kind=limit.kind, limit=limit.words, relax=limit.relax) for limit in one.limits],
        application=_named(application.id, application.name),
        task=_named(task.id, task.name),
        vm=_machine(instance, one.machine),
        gain=gain_read(one.gain),
    )


def build_moves(instance: Instance, solution: Solution, costs: Costs) -> list[MoveRead]:
    """Return the moves in execution order."""
    here = tuple(application.at for application in instance.applications)
    group_of = {move: number for number, group in enumerate(solution.kept) for move in group.moves}
    leaving = {move.source: move for group in solution.kept for move in group.moves if not move.starts}
    known: Known = {}
    reads = []
    for position, step in enumerate(solution.steps):
        move = step.move
        application = instance.applications[move.task[0]]
        gained = task_gain(instance, move, here, solution.after)
        before = None if move.starts else _trip_ns(instance, solution, move, here)
        trips = (before, _trip_ns(instance, solution, move, solution.after))
        other = leaving.get(move.target)
        runner, slack = alternatives(instance, solution, move, known)
        cost = bringing.of_move(instance, costs, move)
        helped = _helped(instance, solution, move, here)
        words = _explanation(instance, solution, move, gained, trips, other, runner, slack, helped)
        reads.append(
            MoveRead(
                position=position,
                group=group_of[move],
                application=_named(application.id, application.name),
                task=_named(application.tasks[move.task[1]].id, application.tasks[move.task[1]].name),
                source=None if move.starts else _place(instance, move.source),
                target=_place(instance, move.target),
                via=None if step.via is None else _machine(instance, step.via),
                gain=None if gained is None else gain_read(gained),
                round_trip_before_ns=trips[0],
                round_trip_after_ns=trips[1],
                slot_price=_slot_price(solution, move.target),
                makes_room=[] if other is None else [_task_name(instance, other)],
                runner_up=runner,
                slack_us=slack,
                disturbs=_disturbed(instance, move),
                bringing=cost,
                explanation=words if cost is None else f"{words} It {cost.words}.",
                rollback=_rollback(instance, step),
            )
        )
    return reads


def gain_read(gain: Gain) -> GainRead:
    """Convert a gain to its API schema."""
    return GainRead(
        before=expected_read(gain.before),
        after=expected_read(gain.after),
        gain=expected_read(gain.gain),
        probability=gain.probability,
        doubts=list(gain.doubts),
    )


def expected_read(estimate: Estimate) -> ExpectedRead:
    """Convert an estimate to its API schema."""
    return ExpectedRead(mean=estimate.mean, low=estimate.low, high=estimate.high, windows=estimate.windows)


def _certificate(solution: Solution) -> CertificateRead | None:
    proof = None if solution.plan is None else solution.plan.certificate
    if proof is None:
        return None
    words = (
        "The flow network is solved to optimality."
        if proof.proven
        else f"The flow network has a gap of {proof.gap} of {proof.primal} cost points."
    )
    return CertificateRead(primal=proof.primal, dual=proof.dual, gap=proof.gap, proven=proof.proven, words=words)


def _optimality(solution: Solution) -> OptimalityRead:
    gap = solution.gap
    if solution.options.nomora and solution.plan is not None:
        return OptimalityRead(
            state=Optimality.HEURISTIC,
            gap=None,
            words="Not proven: the published policy minimises the cost of its own network, which charges most machines"
            " of a rack alike. The policy best may find a better placement.",
        )
    if gap is None and solution.search is not None:
        why = (
            "for worst_first"
            if solution.options.objective is Objective.worst_first
            else "of how many waiting tasks could be placed"
        )
        return OptimalityRead(
            state=Optimality.HEURISTIC, gap=None, words=f"Best found, not proven: no bound is known {why}."
        )
    before = " Some of its moves were rejected afterwards." if solution.rejected else ""
    where = "within these limits, on the median round trips of the training windows"
    if solution.left_out:
        left_out = "1 move" if solution.left_out == 1 else f"{solution.left_out} moves"
        where += f", without {left_out} that other windows did not confirm"
    if not gap:
        words = (
            f"Optimal in {_OPTIMISED[solution.options.objective]}, less the price of moves: no placement is better"
            f" {where}.{before}"
        )
        return OptimalityRead(state=Optimality.OPTIMAL, gap=0.0, words=words)
    by = f"{np.ceil(gap * 1e4) / 100:.2f} percentage points of performance"
    if solution.options.objective is Objective.slowdown:
        by = f"{np.ceil(gap * 1e4) / 1e4:.4f} of 1 / performance"
    words = f"Within {by} of the optimum, as a mean over links: no placement is better by more {where}.{before}"
    return OptimalityRead(state=Optimality.BOUNDED, gap=gap, words=words)


def _price_change(instance: Instance, before: tuple[np.ndarray, ...], after: tuple[np.ndarray, ...]) -> float | None:
    """Return the change of the hourly price if idle VMs are given back; None if a VM that matters has no price."""
    used = [{int(machine) for at in side for machine in at if machine >= 0} for side in (before, after)]
    prices = [instance.machines[machine].price_per_hour for machine in used[0] ^ used[1]]
    if not prices or any(price is None for price in prices):
        return None
    return sum(
        (instance.machines[machine].price_per_hour or 0.0) * (1 if machine in used[1] else -1)
        for machine in used[0] ^ used[1]
    )


def _pareto_front(instance: Instance, solution: Solution, chosen: list[int]) -> list[ParetoPoint]:
    """Return the gain of the best group of moves, of the best two, and so on."""
    here = tuple(application.at for application in instance.applications)
    place_of = {step.move: position for position, step in enumerate(solution.steps)}
    moves: list[TaskMove] = []
    points = []
    for group in solution.kept:
        moves += group.moves
        gain = expected_gain(instance, here, apply_moves(here, moves), chosen, 0.0)
        positions = sorted(place_of[move] for move in moves if move in place_of)
        gained = None if gain is None else gain_read(gain)
        points.append(ParetoPoint(moves=len(moves), expected=gained, positions=positions))
    return points


def _explanation(
    instance: Instance,
    solution: Solution,
    move: TaskMove,
    gained: Gain | None,
    trips: tuple[int | None, int],
    other: TaskMove | None,
    runner: RunnerUp | None,
    slack: float | None,
    helped: str | None,
) -> str:
    application = instance.applications[move.task[0]]
    partner = (
        "its neighbours" if application.root in (None, move.task[1]) else application.tasks[application.root or 0].name
    )
    target = instance.machines[move.target].name
    words = [f"On {target} the round trip to {partner} is {delay(trips[1])}"]
    if trips[0] is not None:
        words[0] += f" instead of {delay(trips[0])} on {instance.machines[move.source].name}"
    if instance.holdout_risk is not None and application.root is not None:
        words[0] += f" (median; evaluated by {_COUNTED[instance.holdout_risk.risk]})"
    if gained is None:
        words[0] += "; its performance was not measured."
    elif move.starts:
        words[0] += f": performance {percent(gained.after.mean)}. It is waiting now."
    else:
        words[0] += f": performance {percent(gained.after.mean)} instead of {percent(gained.before.mean)}."
    if not move.starts and instance.location[1, move.source] != instance.location[1, move.target]:
        region = instance.machines[move.source].region
        left = solution.after[move.task[0]]
        stay = int((instance.location[1, left[left >= 0]] == instance.location[1, move.source]).sum())
        words.append(f"It leaves region {region}, where {stay} of {len(left)} tasks of {application.name} are then.")
    if helped is not None:
        words.append(helped)
    if other is not None:
        words.append(
            f"{_task_name(instance, other)} frees the slot by moving to {instance.machines[other.target].name}."
        )
    if runner is not None:
        # A smaller difference would be printed as 0.0 %.
        worse = f"worse by {percent(runner.worse_by)}" if runner.worse_by >= 0.0005 else "as good"
        words.append(f"The next best VM, {runner.vm.name}, is {worse}.")
    if slack is not None:
        words.append(f"The move pays while this round trip grows by less than {delay(slack * 1e3)}.")
    return " ".join(words)


def _rollback(instance: Instance, step: MoveStep) -> str:
    move = step.move
    name = instance.applications[move.task[0]].tasks[move.task[1]].name
    if move.starts:
        return f"Stop {name} on {instance.machines[move.target].name}; undo moves in the reverse order."
    return (
        f"Move {name} from {instance.machines[move.target].name} back to {instance.machines[move.source].name};"
        " undo moves in the reverse order."
    )


def _rejected(instance: Instance, group: Group) -> str:
    names = ", ".join(
        f"{_task_name(instance, move)} from {_machine_name(instance, move.source)}"
        f" to {_machine_name(instance, move.target)}"
        for move in group.moves[:5]
    )
    more = f" and {len(group.moves) - 5} more" if len(group.moves) > 5 else ""
    return f"{names}{more}: {group.rejected}."


def _disturbed(instance: Instance, move: TaskMove) -> list[str]:
    """Return other applications with tasks on the VMs of a move."""
    machines = [machine for machine in (move.source, move.target) if machine >= 0]
    return [
        application.name
        for place, application in enumerate(instance.applications)
        if place != move.task[0] and any((application.at == machine).any() for machine in machines)
    ]


def _trip_ns(instance: Instance, solution: Solution, move: TaskMove, at: tuple[np.ndarray, ...]) -> int:
    """Return the weighted mean round trip (ns) over the links of a task, by the median of the hold-out windows."""
    trips = _trips_ns(instance, solution, move, at)
    if not trips:
        return 0
    weights = instance.applications[move.task[0]].links.weights[list(trips)]
    return round(float(np.average(list(trips.values()), weights=weights)))


def _trips_ns(instance: Instance, solution: Solution, move: TaskMove, at: tuple[np.ndarray, ...]) -> dict[int, float]:
    """Return the round trip (ns) of each link of a task, the median of the hold-out windows, by number of the link."""
    place, task = move.task
    links = instance.applications[place].links
    run = (at[place][links.sources] >= 0) & (at[place][links.targets] >= 0)
    mine = np.flatnonzero(run & ((links.sources == task) | (links.targets == task)))
    sources, targets = at[place][links.sources[mine]], at[place][links.targets[mine]]
    judged = instance.holdout[:, sources, targets]
    return {
        int(link): 0.0
        if a == b
        else float(np.nanmedian(judged[:, row]))
        if np.isfinite(judged[:, row]).any()
        else float(solution.assumed.round_trips_ns[a, b])
        for row, (link, a, b) in enumerate(zip(mine, sources.tolist(), targets.tolist(), strict=True))
    }


def _helped(instance: Instance, solution: Solution, move: TaskMove, here: tuple[np.ndarray, ...]) -> str | None:
    """Return which link of a graph a move helps most, by its weight; None for a star and for a task that waits."""
    application = instance.applications[move.task[0]]
    before = _trips_ns(instance, solution, move, here)
    after = _trips_ns(instance, solution, move, solution.after)
    links = sorted(before.keys() & after.keys())
    if application.root is not None or not links:
        return None
    weights, sensitive = application.links.weights, application.sensitivity
    performance = [sensitive.curve(sensitive.added_us([side[link] for link in links])) for side in (before, after)]
    gains = weights[links] * (performance[1] - performance[0])
    best = links[int(np.argmax(gains))]
    if gains.max() <= 0:
        return None
    ends = (int(application.links.sources[best]), int(application.links.targets[best]))
    other = application.tasks[ends[ends[0] == move.task[1]]].name
    return (
        f"It helps the link with {other} most, which has {percent(float(weights[best] / weights.sum()))} of the weight:"
        f" {delay(after[best])} instead of {delay(before[best])}."
    )


def _slot_price(solution: Solution, machine: int) -> float | None:
    return None if solution.slot_price is None else float(solution.slot_price[machine])


def _task_name(instance: Instance, move: TaskMove) -> str:
    application = instance.applications[move.task[0]]
    return f"{application.name}/{application.tasks[move.task[1]].name}"


def _place(instance: Instance, machine: int) -> MoveEndpoint:
    vm = instance.machines[machine]
    return MoveEndpoint(id=vm.id, name=vm.name, zone=vm.zone, host=vm.host, price_per_hour=vm.price_per_hour)


def _machine_name(instance: Instance, machine: int) -> str:
    return instance.machines[machine].name if machine >= 0 else "waiting"


def _machine(instance: Instance, machine: int) -> Named:
    return _named(instance.machines[machine].id, instance.machines[machine].name)


def _named(identity: UUID, name: str) -> Named:
    return Named(id=identity, name=name)


def solved_arcs(solution: Solution) -> list[NetworkArc]:
    """Return every arc of the stars' flow network with its flow; empty if no star was placed.

    ProductError `network_too_large`: more than `ARCS_MAX` arcs.
    """
    if solution.problem is None or solution.plan is None:
        return []
    decided = solution.problem.with_roots(solution.plan.root)
    arcs = explain(decided, solution.options.nomora)
    if len(arcs) > ARCS_MAX:
        raise ProductError(
            "network_too_large",
            409,
            f"Network too large: {len(arcs):,} arcs, {ARCS_MAX:,} allowed. Select fewer applications"
            " or omit `explain`.",
            arcs=len(arcs),
        )
    return [NetworkArc.model_validate(arc._asdict()) for arc in arcs]
