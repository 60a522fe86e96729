"""Figures of alerts: `make bench-alerts` (other noise: SEED=2; some groups: ONLY=eval,scenarios).

eval        999,000 paths x 20 rules, one evaluation, on one core
scenarios   labelled scenarios against the default rules: recall, precision, culprit, delay, notifications
hard        weak and early faults, causes with many paths, faults among spikes: recall, incidents, onset, first notice
traces      weeks of the 18 published traces with their own events: recall, false incidents (DAYS=2 of each)
late        reports always late, and spikes in gaps of reporting: missed, windows later than in time (TRIALS=3 of each)
evaluators  meshes that one core evaluates (MESHES=100), and deadlocks with changes and deletions (PAIRS=2000)
webhook     a whole product watches 100 VMs: seconds from the end of a window to the webhook (WINDOWS=30 of them)
outage      a whole product watches 1,000 VMs, and a zone fails: incidents, seconds to the single notification
ends        random sequences of what happens to incidents and notices: last messages of receivers (SEQUENCES=10000)
"""

import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import chain

import numpy as np

from lab.benchmarks.alerting import ends, late
from lab.benchmarks.alerting.locks import Contention
from lab.benchmarks.alerting.stack import product, seconds_to_webhook, storm
from lab.benchmarks.figures import comment, report
from lab.benchmarks.figures import run as run_groups
from lab.benchmarks.storing.product import running
from lab.incidents.events import HARMLESS, Case, Event, make
from lab.incidents.hard import ONE_CAUSE, WEAK, Hard, Verdict, judge_case, make_case
from lab.incidents.traces import TRACES
from lab.incidents.trial import Score, WeekScore, judge, judge_week, run, run_together
from lab.incidents.weeks import Timescale, make_week
from sinemora.alerts.evaluation.engine import step
from sinemora.alerts.evaluation.rule import defaults
from sinemora.alerts.evaluation.window import EvaluationState, EvaluationWindow
from sinemora.measurements.aggregate.matrix import Metric, Statistic

SEED = int(os.environ.get("SEED") or 1)
PER_EVENT = int(os.environ.get("PER_EVENT") or 20)
DAYS = float(os.environ.get("DAYS") or 7)
VMS = int(os.environ.get("VMS") or 1000)
SEQUENCES = int(os.environ.get("SEQUENCES") or 10_000)
TRIALS, MESHES, PAIRS = (
    int(os.environ.get(name) or usual) for name, usual in (("TRIALS", 3), ("MESHES", 100), ("PAIRS", 2000))
)
STACK_VMS, WINDOWS = int(os.environ.get("STACK_VMS") or 100), int(os.environ.get("WINDOWS") or 30)
# Weekend dips take as long as all others together.
FEWER = {Event.WEEKEND_DIP: 4}


def evaluation() -> None:
    rng = np.random.default_rng(SEED)
    base = rng.uniform(5e4, 5e5, (VMS, VMS)).astype(np.float32)
    zone_of, planned, none = np.sort(np.arange(VMS) % 3), ~np.eye(VMS, dtype=bool), np.zeros(VMS, bool)
    needed = [(rule.condition.metric, rule.condition.statistic) for rule in defaults()]
    needed += [(Metric.ONE_WAY_DELAY, Statistic.MAX), (Metric.LOSS, Statistic.MEAN)]

    def window(number: int) -> EvaluationWindow:
        known: dict[tuple[Metric, Statistic], np.ndarray] = {}
        for series in dict.fromkeys(needed):
            noise = rng.standard_normal((VMS, VMS), np.float32) * np.float32(5e3)
            known[series] = np.zeros((VMS, VMS), np.float32) if series[0] is Metric.LOSS else base + noise
            np.fill_diagonal(known[series], np.nan)
        return EvaluationWindow(number * 10, 10, np.arange(VMS), zone_of, planned, lambda *series: known[series], none)

    state = EvaluationState(np.arange(VMS))
    rules = [replace(rule, id=f"{rule.id}-{number}") for rule in defaults() for number in (1, 2)]
    spent = []
    seen = window(1)
    for number in range(1, 135):  # long enough for baselines to have data
        if number > 126:
            seen = window(number)
        began = time.process_time()
        step(state, rules, replace(seen, ended_at_s=number * 10))
        if number > 128:
            spent.append(time.process_time() - began)
    more = {"paths": VMS * (VMS - 1), "rules": len(rules), "worst": round(max(spent), 3)}
    report("alerts_eval_999k_x20_s", float(np.median(spent)), **more)


def scenarios() -> None:
    scores: list[Score] = []
    shown = 0
    for event in Event:
        for number in range(FEWER.get(event, PER_EVENT)):
            case = make(event, SEED + number)
            found = run(case.mesh, case.windows, defaults(case.mesh.window_s))
            score = judge(case, found)
            scores.append(score)
            shown += len({incident.id for incident in found})
            if event not in HARMLESS and (not score.detected or not score.right or score.wrong):
                comment(f"{event} of seed {SEED + number}, windows {case.start} to {case.end}: {score}")
    detected = [score.detected for score in scores if score.detected is not None]
    incidents = sum(score.incidents for score in scores)
    right, wrong = sum(bool(score.right) for score in scores), sum(score.wrong for score in scores)
    delays = [score.windows for score in scores if score.windows is not None]
    more = {"scenarios": len(scores), "seed": SEED}
    report("alerts_recall", sum(detected) / len(detected), **more)
    report("alerts_precision", (incidents - wrong) / max(incidents, 1), **more)
    report("alerts_culprit_accuracy", right / max(sum(detected), 1), **more)
    report("alerts_detection_windows_p50", float(np.percentile(delays, 50)), **more)
    report("alerts_detection_windows_p90", float(np.percentile(delays, 90)), **more)
    report("alerts_notifications_per_incident", sum(score.notified for score in scores) / max(shown, 1), **more)


def hard() -> None:
    """Put the hard cases to the rules, one process a processor."""
    verdicts: dict[Hard, list[Verdict]] = {}
    with ProcessPoolExecutor(os.cpu_count() or 1) as pool:
        for kind, of_kind in zip(Hard, pool.map(_hard, Hard), strict=True):
            verdicts[kind] = of_kind
            comment(f"{kind}: {of_kind}")
    more = {"cases": PER_EVENT * len(Hard), "seed": SEED}
    every = [one for of_kind in verdicts.values() for one in of_kind]
    weak, one_cause = ([one for kind in kinds for one in verdicts[kind]] for kinds in (WEAK, ONE_CAUSE))
    seen = {str(kind): sum(one.windows is not None for one in of_kind) for kind, of_kind in verdicts.items()}
    report("alerts_weak_recall", float(np.mean([one.windows is not None for one in weak])), seen=seen, **more)
    early = [9999 if one.windows is None else one.windows for one in verdicts[Hard.EARLY]]
    report("alerts_early_detection_windows_p90", float(np.percentile(early, 90)), **more)
    number = [one.incidents for one in one_cause]
    report("alerts_incidents_per_cause_p90", float(np.percentile(number, 90)), worst=max(number), **more)
    errors = [one.onset_error for one in every if one.onset_error is not None]
    report("alerts_onset_error_windows_p90", float(np.percentile(errors, 90)), worst=max(errors), **more)
    told_s = [9999 if one.told_s is None else one.told_s for one in every if one.windows is not None]
    report("alerts_true_incident_told_s_p99", float(np.percentile(told_s, 99)), worst=max(told_s), **more)


def _hard(kind: Hard) -> list[Verdict]:
    """Return the verdicts of all cases of a kind, a few at once: those of hours take much memory."""
    verdicts: list[Verdict] = []
    for first in range(0, PER_EVENT, 5):
        cases: list[Case] = [make_case(kind, SEED + number) for number in range(first, min(first + 5, PER_EVENT))]
        found = run_together([one.mesh for one in cases], [one.windows for one in cases], defaults())
        verdicts += [judge_case(case, incidents) for case, (incidents, _) in zip(cases, found, strict=True)]
    return verdicts


def _weeks(numbers: Sequence[int]) -> list[tuple[WeekScore, float]]:
    """Return the scores of some traces, which are evaluated together, and their notices a week with ends."""
    weeks = [make_week(TRACES[number], np.random.default_rng([SEED, number]), DAYS) for number in numbers]
    meshes, windows = [week.mesh for week in weeks], [week.windows for week in weeks]
    found = run_together(meshes, windows, defaults(meshes[0].window_s))
    results = []
    for week, (incidents, sent) in zip(weeks, found, strict=True):
        score = judge_week(week, incidents)
        sent_a_week = sent * 7 * 86_400 / (week.windows.median_ns.shape[0] * week.mesh.window_s)
        false = [(incident.opened, incident.first, incident.rules) for incident in score.false[:4]]
        text = f"{sum(score.detected)} of {len(score.events)} events, {sent_a_week:.0f} notifications a week"
        comment(f"{week.mesh.trace.name}: {text}, {len(score.false)} false {false}")
        results.append((score, sent_a_week))
    return results


def own_events() -> None:
    """Put the 18 published traces with their own events to the rules, one process a processor."""
    processes = os.cpu_count() or 1
    groups = [range(first, len(TRACES), processes) for first in range(processes)]
    with ProcessPoolExecutor(processes) as pool:
        scores, a_week = zip(*chain.from_iterable(pool.map(_weeks, groups)), strict=True)
    found: dict[Timescale, list[bool]] = defaultdict(list)
    for score in scores:
        for event, is_found in zip(score.events, score.detected, strict=True):
            found[event.timescale].append(is_found)
    more = {"traces": len(TRACES), "days": DAYS, "seed": SEED}
    shares = {f"recall_{timescale}": float(np.mean(some)) for timescale, some in found.items()}
    every = [is_found for some in found.values() for is_found in some]
    report("alerts_recall_own_events", float(np.mean(every)), events=len(every), **shares, **more)
    false = sum(len(score.false) for score in scores)
    report("alerts_false_incidents_per_mesh_week", 7 * false / len(TRACES) / DAYS, paths=72, **more)
    report("alerts_notifications_per_mesh_week_worst", max(a_week), median=float(np.median(a_week)), paths=72, **more)


def webhook() -> None:
    with product() as (stack, listener):
        spent = seconds_to_webhook(stack, listener, STACK_VMS, WINDOWS, SEED)
    more = {"vms": STACK_VMS, "notifications": len(spent), "seed": SEED}
    p50, p99 = np.percentile(spent, (50, 99)).tolist()
    report("alerts_window_to_webhook_p99_s", p99, p50=p50, worst=max(spent), **more)


def outage() -> None:
    with product() as (stack, listener):
        notified_s, paths, incidents = storm(stack, listener, VMS, SEED)
    if not notified_s:
        sys.exit("no notification of the failed zone arrived")
    report("alerts_storm_incidents", incidents, vms=VMS, paths=paths)
    report("alerts_storm_s", notified_s[0], vms=VMS, paths=paths)
    report("alerts_storm_notifications", len(notified_s), vms=VMS)


def told_of_ends() -> None:
    counts: Counter[str] = Counter()
    parts = -(-SEQUENCES // 250)
    with running(), ProcessPoolExecutor(os.cpu_count() or 1) as pool:
        for counted in pool.map(ends.run, range(SEED, SEED + parts), [-(-SEQUENCES // parts)] * parts):
            counts += counted
            comment(str(dict(counts)))
    more = {"sequences": counts["sequences"], "incidents": counts["incidents"], "seed": SEED}
    report("alerts_last_message_wrong", counts["last message wrong"] + counts["sent after the end"], **more)
    report("alerts_open_without_subject", counts["open without subject"], **more)


def lateness() -> None:
    found = {
        (late_s, window_s): [late.extra_windows(late_s, window_s, SEED + number) for number in range(TRIALS)]
        for late_s in (0, 5, 15, 30, 60)
        for window_s in (5, 10, 60)
    }
    trials = [one for each in found.values() for one in each]
    comment(f"windows later than in time, by lateness and length of windows in s: {found}")
    extra = [one for one in trials if one is not None]
    more = {"trials": len(trials), "seed": SEED}
    report("alerts_late_missed", len(trials) - len(extra), **more)
    report("alerts_late_extra_windows_p90", float(np.percentile(extra, 90)), worst=max(extra), **more)
    with running() as stack:
        gaps = [(gap_s, whole) for gap_s in (10, 30, 60, 100, 160, 200, 300, 600) for whole in (True, False)]
        missed = [gap for gap in gaps if late.gap_spike_missed(stack, gap[0], SEED, whole=gap[1])]
    words = [f"{gap_s} s of {'the mesh' if whole else 'one agent'}" for gap_s, whole in missed]
    report("alerts_gap_spikes_missed", len(missed), missed=words, gaps=len(gaps), seed=SEED)


def evaluators() -> None:
    with running() as stack:
        meshes, database = late.meshes_per_core(stack, MESHES, 6)
        report("alerts_meshes_per_core_window", meshes, meshes=MESHES, vms=10, database_share=round(database, 2))
        worlds = [stack.world(f"locks-{number}", 3).mesh_id for number in range(40)]
        contention = Contention(
            lambda method, path, body: stack.call(method, path, body, "*")[0], stack.tenant_id, worlds, SEED
        )
        deadlocks = contention.run(PAIRS)
        statuses = {str(status): count for status, count in sorted(contention.statuses.items())}
        report("alerts_deadlocks", deadlocks, pairs=PAIRS, statuses=statuses, seed=SEED)


GROUPS = {
    "late": lateness,
    "evaluators": evaluators,
    "ends": told_of_ends,
    "webhook": webhook,
    "outage": outage,
    "eval": evaluation,
    "scenarios": scenarios,
    "hard": hard,
    "traces": own_events,
}

if __name__ == "__main__":
    run_groups(GROUPS)
