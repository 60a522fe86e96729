"""Causes of what was observed in a window, as detections with their rules."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sinemora.alerts.evaluation import fairness, host, root_cause
from sinemora.alerts.evaluation.baseline import SHORT, Flags, Floats, Ints
from sinemora.alerts.evaluation.m_of_n import WINDOWS_MAX, RuleState
from sinemora.alerts.evaluation.root_cause import Cause, Culprit, Hypothesis, PathEvidence, Suspect
from sinemora.alerts.evaluation.rule import SEVERITIES, Among, Kind, Rule, Severity, Symptom, sources
from sinemora.alerts.evaluation.settling import Learning
from sinemora.alerts.evaluation.window import CURRENT_SHARE, EvaluationState, EvaluationWindow, Observed, RuleView
from sinemora.measurements.aggregate.matrix import Metric, Statistic

# From this share of silent VMs, the suspect is their zone (or the mesh).
_ZONE_SHARE = 0.6
_LOST = 0.99
_LOSS_LEAST, _LOST_LEAST = np.float32(0.1), np.float32(5)


@dataclass(frozen=True, slots=True)
class Detection:
    """A cause with its firing rules: rule ids with their number of paths, highest severity.

    `windows_ago`: age of the first breach of the symptom that names it, in windows, at most 16. `application`: the one
    below its objective, if the rule is about performance. `spikes`: only rules about spikes fire. `sharp`: critical, or
    far worse than other paths. `symptoms`: those of its rules. `current`: most of its paths have data in this window,
    or it needs none. `lasts`: windows since then if most of its paths are in breach now, else 0.
    """

    cause: Cause
    rules: dict[str, int]
    severity: Severity
    windows_ago: int
    application: str | None = None
    spikes: bool = False
    sharp: bool = False
    symptoms: frozenset[Symptom] = frozenset()
    current: bool = True
    lasts: int = 0


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Result of evaluating a window; `alone`: firing paths that too few VMs see for their rules."""

    detections: list[Detection]
    firing: int
    alone: int
    learning: Learning = field(default_factory=Learning)


def conclude(state: EvaluationState, rules: Sequence[Rule], window: EvaluationWindow, observed: Observed) -> Evaluation:
    """Return the causes of what was observed in a window of one mesh. Rules fire that judge no path by itself."""
    views, gap = observed.views, observed.gap
    detections = silent_agents(state, rules, window, views, gap)
    grouped, alone = _grouped(views, observed.signed, window, state)
    detections += grouped
    if not observed.learnt.settles:
        on_performance = [rule for rule in rules if rule.condition.kind is Kind.PERFORMANCE]
        detections += _applications(state, on_performance, window, gap)
    detections += _buckets(state, [rule for rule in rules if rule.condition.kind is Kind.TOKENS], window, gap)
    _add_hosts(detections, state, [rule for rule in rules if rule.condition.kind is Kind.HOST], window, gap)
    detections += _uneven(state, [rule for rule in rules if rule.condition.kind is Kind.FAIRNESS], window, gap)
    firing = sum(int(np.count_nonzero(view.rule_state.firing)) for view in views)
    return Evaluation(detections, firing, alone, observed.learnt)


def silent_agents(
    state: EvaluationState,
    rules: Sequence[Rule],
    window: EvaluationWindow,
    views: Sequence[RuleView] = (),
    gap: int = 1,
) -> list[Detection]:
    """Return silent agents, or zones of them, as causes. Rules firing on their paths are consequences: removed."""
    detections: list[Detection] = []
    lost = window.values(Metric.LOSS, Statistic.MEAN) >= _LOST
    for rule in (rule for rule in rules if rule.condition.kind is Kind.SILENT):
        in_scope: Flags = np.ones(window.keys.size, np.bool_)
        if rule.scope is not None:
            in_scope = np.asarray(rule.scope.any(axis=1), np.bool_)
        rule_state = state.rule_state(rule.id, (window.keys.size,))
        rule_state.step(window.silent & in_scope, in_scope, rule.m_of_n(window.window_s), gap)
        silent = rule_state.firing
        if not silent.any():
            continue
        for culprit, members in _silent_culprits(silent, window.zone_of):
            inside = root_cause.explains(culprit, window.zone_of) & window.planned
            if culprit.suspect is not Suspect.AGENT:
                inside &= lost  # silence of many shows nothing about the delays before
            cells = np.zeros(0, np.int64)
            for view in views:
                follows = view.firing & inside
                if follows.any():
                    cells = np.union1d(cells, np.flatnonzero(follows))
                    view.firing &= ~inside
                view.bad &= ~inside
                view.known &= ~inside
            best = Hypothesis(culprit, float(members), members, members)
            ago = int(np.bitwise_count(rule_state.hits[silent]).max())
            sharp = rule.severity is Severity.CRITICAL
            count = max(1, cells.size)
            cause, symptoms = Cause((best,), cells), frozenset((Symptom.SILENCE,))
            detections.append(Detection(cause, {rule.id: count}, rule.severity, ago, sharp=sharp, symptoms=symptoms))
    return detections


def _silent_culprits(silent_mask: Flags, zone_of: Ints) -> list[tuple[Culprit, int]]:
    if silent_mask.size > 3 and silent_mask.mean() >= _ZONE_SHARE and np.unique(zone_of[silent_mask]).size > 1:
        return [(Culprit(Suspect.MESH, 0), int(silent_mask.sum()))]
    members, silent = (np.bincount(one, minlength=int(zone_of.max()) + 1) for one in (zone_of, zone_of[silent_mask]))
    zones = (silent > 1) & (silent >= _ZONE_SHARE * members)
    culprits = [(Culprit(Suspect.ZONE, at), int(silent[at])) for at in np.flatnonzero(zones).tolist()]
    return culprits + [(Culprit(Suspect.AGENT, at), 1) for at in np.flatnonzero(silent_mask & ~zones[zone_of]).tolist()]


def _grouped(
    views: Sequence[RuleView], signed: Floats | None, window: EvaluationWindow, state: EvaluationState
) -> tuple[list[Detection], int]:
    """Return causes of firing paths: of direction-aware rules first, then of what those leave unexplained.

    Rules about spikes come last: rare spikes all over a mesh would otherwise hide a lasting rise of a few paths.
    """
    shape = (window.keys.size,) * 2
    lost = window.values(Metric.LOSS, Statistic.MEAN) >= _LOST
    # Both paths of a pair count as one VM.
    notified, alone = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
    for view in views:
        if view.rule.sources_min <= 1:
            notified |= view.firing | view.firing.T
    explained: list[Cause] = []
    for chosen in (
        [view for view in views if view.rule.condition.directed and not view.is_spike],
        [view for view in views if not view.rule.condition.directed],
        [view for view in views if view.is_spike],
    ):
        if not any(view.firing.any() for view in chosen):
            continue
        firing, bad, known = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        for view in chosen:
            firing |= view.firing
            if view.firing.any():
                bad |= view.bad
                known |= view.known
        for at, cause in enumerate(explained):
            follows = root_cause.following(cause, firing, window.zone_of)
            if follows.size:
                explained[at] = replace(cause, cells=np.union1d(cause.cells, follows))
                firing.reshape(-1)[follows] = False
        alone |= firing & alone.T
        firing &= ~alone
        for cause in _sharp(chosen, PathEvidence(firing, bad, known, signed, lost, window.zone_of), window, state):
            explained.append(cause)
            inside = root_cause.explains(cause.culprit, window.zone_of)
            for mask in (firing, bad, known):
                mask &= ~inside
        clock = all(view.rule.condition.metric is Metric.CLOCK_ERROR for view in chosen if view.firing.any())
        evidence = PathEvidence(
            firing, bad, known, signed if chosen[0].rule.condition.directed else None, lost, window.zone_of
        )
        found = root_cause.causes(evidence, notified)
        explained += [_of_clock(cause) if clock else cause for cause in found]
        firing.reshape(-1)[np.concatenate([np.zeros(0, np.int64), *(cause.cells for cause in found)])] = False
        alone |= firing
    detections: list[Detection] = []
    unseen = int(np.count_nonzero(alone))
    data = _has_data(views, window).reshape(-1) if explained else np.zeros(0, np.bool_)
    for cause in explained:
        rules = _firing_rules(views, cause)
        if not rules:
            unseen += cause.cells.size
            continue
        cause = _of_host(cause, views, state, window)
        severity = max((view.rule.severity for view in views if view.rule.id in rules), key=SEVERITIES.index)
        ago, lasts = _named_for(views, rules, cause.cells)
        spikes = all(view.is_spike for view in views if view.rule.id in rules)
        sharp = cause.sharp or severity is Severity.CRITICAL
        symptoms = frozenset(view.rule.condition.symptom for view in views if view.rule.id in rules)
        current = window.active is not None or bool(data[cause.cells].mean() >= CURRENT_SHARE)
        detections.append(Detection(cause, rules, severity, ago, None, spikes, sharp, symptoms, current, lasts))
    return detections, unseen


def _has_data(views: Sequence[RuleView], window: EvaluationWindow) -> Flags:
    """Return the paths with data in a window: of their loss, or of a series that a firing rule compares."""
    series = {(Metric.LOSS, Statistic.MEAN)}
    for condition in (view.rule.condition for view in views if view.firing.any()):
        series.add((condition.metric, Statistic.P50 if condition.kind is Kind.SPIKE else condition.statistic))
    data: Flags = np.logical_or.reduce([np.isfinite(window.values(*each)) for each in series])
    return data


def _sharp(
    views: Sequence[RuleView], evidence: PathEvidence, window: EvaluationWindow, state: EvaluationState
) -> list[Cause]:
    """Return the causes of paths far worse than others: under critical rules, or by much more delay or loss."""
    if not views[0].rule.condition.directed or views[0].is_spike:
        return []
    critical = np.zeros(evidence.firing.shape, np.bool_)
    for view in views:
        if view.rule.severity is Severity.CRITICAL:
            critical |= view.firing & evidence.firing
    # Paths stand out by what a rule judges on each of them by itself: the delays of paths that lose packets differ by
    # noise.
    slow, heavy = (
        np.logical_or.reduce([np.zeros(evidence.firing.shape, np.bool_), *(view.firing for view in views if of(view))])
        for of in (lambda view: view.rule.condition.about_delay, _is_of_one_loss)
    )
    strengths = []
    for (metric, statistic), baseline in state.baselines.items():
        if metric is Metric.ONE_WAY_DELAY and statistic is Statistic.P50:
            rise = window.values(metric, statistic) - baseline.level[SHORT]
            strengths.append(np.where(slow, np.nan_to_num(rise), np.float32(0)))
    # Paths that have recovered and still fire differ by noise alone.
    compared = evidence.firing & evidence.bad
    sharp = critical | root_cause.standing_out(compared, strengths)
    sharp |= heavy & root_cause.standing_out(compared, [_lost(state, window)])
    if not sharp.any() or not (evidence.firing & ~sharp).any():
        return []
    return root_cause.sharp_causes(evidence, sharp)


def _of_host(cause: Cause, views: Sequence[RuleView], state: EvaluationState, window: EvaluationWindow) -> Cause:
    """Return the cause with the host of its VM as a suspect, if that was waiting."""
    if window.hosts is None:
        return cause
    firing = [view for view in views if view.firing.reshape(-1)[cause.cells].any()]
    loss = _median(window.values(Metric.LOSS, Statistic.MEAN), cause.cells) or 0.0
    baselines = ((series, one) for series, one in state.baselines.items() if series[0] is Metric.ONE_WAY_DELAY)
    rises = [window.values(*series) - one.level[SHORT] for series, one in baselines]
    rise_ns = _median(rises[0], cause.cells) if rises else None
    spikes = all(view.is_spike for view in firing)
    return host.blamed(cause, window.hosts(), spikes=spikes, rise_ns=rise_ns, loss=loss)


def _median(values: Floats, cells: Ints) -> float | None:
    known = values.reshape(-1)[cells]
    known = known[np.isfinite(known)]
    return float(np.median(known)) if known.size else None


def _lost(state: EvaluationState, window: EvaluationWindow) -> Floats:
    """Return how much paths lose: packets of the longest time that rules count, else the share of the window.

    Some lost packets more than on others are chance, as is one of ten in a window: these are the least values.
    """
    lost: Floats = np.fmax(window.values(Metric.LOSS, Statistic.MEAN), _LOSS_LEAST)
    counts = state.loss_counts[max(state.loss_counts)] if state.loss_counts else None
    if counts is not None and counts.sent.any():
        lost = np.fmax(counts.lost.sum(axis=0, dtype=np.float32), _LOST_LEAST)
    return lost


def _is_of_one_loss(view: RuleView) -> bool:
    """Return whether a rule judges the loss of a window on each path by itself."""
    condition = view.rule.condition
    return condition.kind is Kind.THRESHOLD and condition.metric is Metric.LOSS and view.rule.sources_min == 1


def _of_clock(cause: Cause) -> Cause:
    """Return the cause with the clock as culprit, where the firing metric is the clock error of a VM."""
    best = cause.hypotheses[0]
    if best.culprit.suspect not in (Suspect.VM, Suspect.EGRESS, Suspect.INGRESS):
        return cause
    clock = Hypothesis(Culprit(Suspect.CLOCK, best.culprit.at), best.score, best.bad, best.known)
    return replace(cause, hypotheses=(clock, *cause.hypotheses[1:]))


def _firing_rules(views: Sequence[RuleView], cause: Cause) -> dict[str, int]:
    """Return the rules that fire on paths of a cause and are seen by enough VMs, with their number of paths."""
    counts = {}
    for view in views:
        cells = cause.cells[view.firing.reshape(-1)[cause.cells]]
        fewest = max(1, view.rule.sources_min)
        # There are at most as many VMs as paths, so causes of one path need no count.
        if cells.size >= fewest and (fewest == 1 or sources(cells, view.firing.shape[0]) >= fewest):
            counts[view.rule.id] = int(cells.size)
    return counts


def _named_for(views: Sequence[RuleView], rules: dict[str, int], cells: Ints) -> tuple[int, int]:
    """Return the windows since the symptom began that names a cause, and the same if it is there now, else 0.

    The rule that fires on most paths names it. A spike some minutes before packets are lost is another symptom, and
    its time says nothing about the loss. Spikes do not last.
    """
    firing = [view for view in views if view.rule.id in rules]
    main = max(firing, key=lambda view: (rules[view.rule.id], SEVERITIES.index(view.rule.severity)))
    symptom = (main.is_spike, main.rule.condition.symptom)
    ago, now = 1, False
    for view in firing:
        if (view.is_spike, view.rule.condition.symptom) == symptom:
            of_rule = cells[view.firing.reshape(-1)[cells]]
            ago = max(ago, _seen_for(view.rule_state, of_rule, view.rule.y))
            now |= bool((view.rule_state.hits.reshape(-1)[of_rule] & 1).mean() >= CURRENT_SHARE)
    return ago, ago if now and not main.is_spike else 0


def _seen_for(rule_state: RuleState, cells: Ints, apart: int) -> int:
    """Return the number of windows since most of these paths were first in breach, at most 16.

    Breaches belong together that are less than `apart` windows from one another, the N of M of N: older ones did not
    make the rule fire.
    """
    hits = rule_state.hits.reshape(-1)[cells]
    hits = hits[hits > 0]
    if not hits.size:
        return 1
    oldest = np.bitwise_count(hits ^ (hits - np.uint16(1))).astype(np.int64) - 1  # the newest breach
    for age in range(WINDOWS_MAX):
        belongs = (hits >> np.uint16(age) & 1).astype(np.bool_) & (age > oldest) & (age - oldest <= max(1, apart - 1))
        oldest = np.where(belongs, age, oldest)
    return int(np.median(oldest + 1))


def _applications(state: EvaluationState, rules: Sequence[Rule], window: EvaluationWindow, gap: int) -> list[Detection]:
    detections = []
    for rule in rules:
        values = window.burn_rates(rule.condition.over_s) if rule.condition.over_s else window.below
        names = sorted(values)
        below = np.array([values[name] for name in names], np.float64)
        for at, name in enumerate(names):
            rule_state = state.rule_state(f"{rule.id}/{name}", (1,))
            known = np.isfinite(below[at : at + 1])
            breach: Flags = below[at : at + 1] > rule.condition.above
            rule_state.step(breach & known, known, rule.m_of_n(window.window_s), gap)
            if rule_state.firing[0]:
                # Identified by name, not by its position in this window.
                best = Hypothesis(Culprit(Suspect.APPLICATION, 0), 1.0, 1, 1)
                ago = _seen_for(rule_state, np.zeros(1, np.int64), rule.y)
                cause = Cause((best,), np.zeros(0, np.int64))
                symptoms = frozenset((Symptom.PERFORMANCE,))
                detections.append(Detection(cause, {rule.id: 1}, rule.severity, ago, name, symptoms=symptoms))
    return detections


def _buckets(state: EvaluationState, rules: Sequence[Rule], window: EvaluationWindow, gap: int) -> list[Detection]:
    """Return the token buckets that will be empty within the time of a rule, or are; one for each VM."""
    detections = []
    for at, key in enumerate(window.keys.tolist()):
        if key not in window.buckets:
            continue
        empty_in_s = window.buckets[key][1].empty_in_s
        firing: dict[Rule, RuleState] = {}
        for rule in rules:
            in_scope = rule.scope is None or bool(rule.scope[at].any() or rule.scope[:, at].any())
            breach = in_scope and empty_in_s is not None and empty_in_s <= rule.condition.within_s
            rule_state = state.rule_state(f"{rule.id}/{key}", (1,))
            rule_state.step(np.array([breach]), np.array([in_scope]), rule.m_of_n(window.window_s), gap)
            if rule_state.firing[0]:
                firing[rule] = rule_state
        if firing:
            cause = Cause((Hypothesis(Culprit(Suspect.BUCKET, at), 1.0, 1, 1),), np.zeros(0, np.int64))
            severity = max((rule.severity for rule in firing), key=SEVERITIES.index)
            ago = max(_seen_for(one, np.zeros(1, np.int64), rule.y) for rule, one in firing.items())
            symptoms = frozenset((Symptom.TOKENS,))
            detections.append(Detection(cause, {rule.id: 1 for rule in firing}, severity, ago, symptoms=symptoms))
    return detections


def _add_hosts(
    detections: list[Detection],
    state: EvaluationState,
    rules: Sequence[Rule],
    window: EvaluationWindow,
    gap: int,
) -> None:
    """Add the hosts that wait for longer than a rule allows, one for each VM; none that slow paths were put down to."""
    known = window.hosts() if rules and window.hosts is not None else ()
    blamed = {one.cause.culprit.at for one in detections if one.cause.culprit.suspect is Suspect.HOST}
    for at, of_vm in enumerate(known):
        firing: dict[Rule, RuleState] = {}
        for rule in rules:
            in_scope = rule.scope is None or bool(rule.scope[at].any() or rule.scope[:, at].any())
            breach = in_scope and of_vm is not None and of_vm.waiting > rule.condition.above
            rule_state = state.rule_state(f"{rule.id}/{int(window.keys[at])}", (1,))
            is_known = np.array([in_scope and of_vm is not None])
            rule_state.step(np.array([breach]), is_known, rule.m_of_n(window.window_s), gap)
            if rule_state.firing[0]:
                firing[rule] = rule_state
        if firing and at not in blamed:
            cause = Cause((Hypothesis(Culprit(Suspect.HOST, at), 1.0, 1, 1),), np.zeros(0, np.int64))
            severity = max((rule.severity for rule in firing), key=SEVERITIES.index)
            ago = max(_seen_for(one, np.zeros(1, np.int64), rule.y) for rule, one in firing.items())
            counts = {rule.id: 1 for rule in firing}
            detections.append(Detection(cause, counts, severity, ago, symptoms=frozenset((Symptom.HOST,))))


def _uneven(state: EvaluationState, rules: Sequence[Rule], window: EvaluationWindow, gap: int) -> list[Detection]:
    """Return the kinds of members that share the mesh unevenly; of flows with the paths, in both directions."""
    firing: dict[Suspect, list[tuple[Rule, RuleState, Ints]]] = {}
    counted = window.planned & state.settled(window)
    for rule in rules:
        of_paths = rule.condition.among is Among.FLOWS
        index = fairness.indices(rule, window, counted)
        known = np.isfinite(index)
        breach = known & (np.nan_to_num(index, nan=1.0) < rule.condition.below)
        rule_state = state.rule_state(f"{rule.id}/{rule.condition.among}", index.shape)
        if of_paths:
            rule_state.clear(~fairness.in_scope(rule, window.planned))
            rule_state.step(breach, known, rule.m_of_n(window.window_s * window.period), gap, window.active)
        else:
            rule_state.step(breach, known, rule.m_of_n(window.window_s), gap)
        if rule_state.firing.any():
            cells = np.flatnonzero(rule_state.firing) if of_paths else np.zeros(0, np.int64)
            firing.setdefault(fairness.SUSPECTS[rule.condition.among], []).append((rule, rule_state, cells))
    detections = []
    for suspect, found in firing.items():
        cells = np.unique(np.concatenate([of_rule for *_, of_rule in found]))
        count = max(1, cells.size)
        cause = Cause((Hypothesis(Culprit(suspect, 0), float(count), count, count),), cells)
        severity = max((rule.severity for rule, *_ in found), key=SEVERITIES.index)
        ago = max(_seen_for(one, np.flatnonzero(one.firing), rule.y) for rule, one, _ in found)
        counts = {rule.id: max(1, of_rule.size) for rule, _, of_rule in found}
        detections.append(Detection(cause, counts, severity, ago, symptoms=frozenset((Symptom.FAIRNESS,))))
    return detections
