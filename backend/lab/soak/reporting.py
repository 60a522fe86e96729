"""Figures of a soak, and the file with everything that was counted."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lab.benchmarks import figures
from lab.benchmarks.figures import comment
from lab.soak import logs, processes, store
from lab.soak.day import Day
from lab.soak.fleet import REFUSED
from lab.soak.outages import Failure, Injected, failures_of, fault_at, outage_s, p99_s, unexplained
from lab.soak.watch import Observed, Watch

LONG_S = 600.0
"""Shortest soak whose speed and growth are judged: a shorter one measures the start of the product."""
GROWTH_S = 2 * 3600.0
"""Shortest soak whose growth is judged: within the first hour each connection of PostgreSQL opens each partition once,
and keeps what it knows of it."""
_JOBS_LIMIT_S = 60.0
_SHOWN = 5


def in_words(day: Day, one: Injected) -> str:
    """Return a line on a fault: how long it lasted, and the failures of callers so far."""
    if one.recovered_at is None:
        return "not recovered"
    own = {who: failures_of(one, failures, [one]) for who, failures in _failures(day).items()}
    seen = [f"{outage_s(failures):.1f} s for {who}" for who, failures in own.items()]
    return (
        f"lasted {one.over_at - one.began_at:.1f} s, recovered {one.recovery_s:.1f} s later; failures {', '.join(seen)}"
    )


def report(day: Day, watch: Watch, taken_s: float, began_bytes: int, file: Path) -> None:
    """Stop load and watch, count what is in the database, print the figures and write the file."""
    # Before the fleets stop, which makes their agents silent.
    false = store.incidents([day.worlds["small"]])
    for reader in day.readers:
        reader.stop()
    records = {name: each.stop() for name, each in day.fleets.items()} | {"burst": day.burst}
    dead = store.dead_letters([job for reader in day.readers for job in reader.jobs], _JOBS_LIMIT_S)
    observed = watch.stop()
    acknowledged = sum(len(record.acknowledged) for record in records.values())
    missing = {name: store.missing(day.worlds[name], record.acknowledged) for name, record in records.items()}
    twice, lacking = (sum(each) for each in zip(*map(store.merged_wrongly, day.worlds.values()), strict=True))
    whole: dict[str, Any] = {"seconds": round(taken_s), "missing": missing, "dead_letters": dead}
    figures.report("soak_hours", taken_s / 3600, faults=len(observed.injected))
    figures.report(
        "soak_lost_reports",
        sum(map(len, missing.values())),
        acknowledged=acknowledged,
        sent_again=sum(record.sent_again for record in records.values()),
    )
    figures.report("soak_duplicate_windows", twice)
    figures.report("soak_unmerged_windows", lacking)
    figures.report("soak_dead_letters", len(dead), jobs=sum(len(reader.jobs) for reader in day.readers))
    whole["incidents"] = false
    whole |= _callers(day, observed) | _errors(observed) | _growth(observed, taken_s, began_bytes, acknowledged)
    if taken_s >= LONG_S:
        # On a machine that is busy with its start an agent may be late for longer than the rule waits.
        figures.report("soak_false_alerts", len(false))
        _latencies(day, observed)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", "utf-8")
    comment(f"everything that was counted: {file}")


def _failures(day: Day) -> dict[str, list[Failure]]:
    """Return the failures that agents and readers saw. The bursts are faults themselves."""
    agents = [failure for name, record in day.records().items() if name != "burst" for failure in record.failures]
    return {"agents": agents, "readers": [failure for reader in day.readers for failure in reader.seen.failures]}


def _callers(day: Day, observed: Observed) -> dict[str, Any]:
    """Report what callers saw: outages by fault, wrong answers, failures without a fault or while programs changed."""
    injected, failures = observed.injected, _failures(day)
    every = [failure for of_kind in failures.values() for failure in of_kind]
    wrong = [*day.wrong, *(text for reader in day.readers for text in reader.seen.wrong)]
    wrong += [f"report: {why}" for _, why in failures["agents"] if why.isdigit() and why not in ("429", "503")]
    outside = unexplained(every, injected)
    replaced = [why for at, why in every if fault_at(at, injected) == "replace" and (why == REFUSED or why[0] == "5")]
    recoveries = [one.recovery_s for one in injected if one.recovery_s is not None]
    for text in (*wrong, *(why for _, why in outside))[:_SHOWN]:
        comment(f"unexpected: {text}")
    figures.report("soak_wrong_answers", len(wrong))
    figures.report("soak_unexplained_failures", len(outside))
    figures.report("soak_replace_failures", len(replaced))
    figures.report("soak_not_recovered", len(injected) - len(recoveries))
    figures.report("soak_recovery_s", max(recoveries, default=0.0))
    own = [{who: failures_of(one, seen, injected) for who, seen in failures.items()} for one in injected]
    outages = {who: max((outage_s(seen[who]) for seen in own), default=0.0) for who in failures}
    figures.report("soak_outage_s", max(outages.values()), **{f"{who}_s": round(s, 1) for who, s in outages.items()})
    return {
        "faults": [
            asdict(one)
            | {f"{who}_outage_s": round(outage_s(seen), 2) for who, seen in of_one.items()}
            | {f"{who}_failures": dict(Counter(why for _, why in seen)) for who, seen in of_one.items()}
            for one, of_one in zip(injected, own, strict=True)
        ],
        "wrong_answers": wrong,
        "unexplained_failures": outside,
        "stream_events": sum(reader.seen.events for reader in day.readers),
    }


def _errors(observed: Observed) -> dict[str, Any]:
    """Report the errors in logs."""
    strange = logs.unexplained(observed.errors, observed.injected)
    for one in strange[:_SHOWN]:
        comment(f"unexplained, log of {one.process}:\n{one.text}")
    figures.report(
        "soak_unexplained_tracebacks",
        len(strange),
        tracebacks=sum(one.is_traceback for one in observed.errors),
    )
    return {
        "log_errors": logs.by_kind(observed.errors, observed.injected),
        "unexplained_tracebacks": [asdict(one) for one in strange],
        "error_lines": [asdict(one) for one in observed.errors if not one.is_traceback][-200:],
    }


def _growth(observed: Observed, taken_s: float, began_bytes: int, acknowledged: int) -> dict[str, Any]:
    """Report growth of memory, open files and database."""
    grown = processes.growth(observed.samples)
    size = store.size_bytes()
    for name, one in grown.items():
        slope = "" if one.mib_per_h is None else f", {one.mib_per_h:+.1f} MiB/h, {one.files_per_h:+.1f} files/h"
        comment(
            f"{name}: {one.first_mib:.1f} to {one.last_mib:.1f} MiB, {one.first_files} to {one.last_files} files{slope}"
        )
    judged = {name: one for name, one in grown.items() if one.mib_per_h is not None}
    if taken_s >= GROWTH_S and judged:
        _worst("soak_memory_growth_mib_per_h", {name: one.mib_per_h or 0.0 for name, one in judged.items()})
        _worst("soak_open_files_growth_per_h", {name: one.files_per_h or 0.0 for name, one in judged.items()})
    if taken_s >= LONG_S:
        figures.report("soak_database_bytes_per_report", (size - began_bytes) / max(1, acknowledged), bytes=size)
    return {"processes": {name: asdict(one) for name, one in grown.items()}, "database_bytes": [began_bytes, size]}


def _worst(figure: str, values: dict[str, float]) -> None:
    name = max(values, key=lambda each: values[each])
    figures.report(figure, values[name], process=name)


def _latencies(day: Day, observed: Observed) -> None:
    """Report how long reports and pages took outside of faults."""
    reports = [one for record in day.records().values() for one in record.latencies]
    pages: Sequence[tuple[float, float]] = [one for reader in day.readers for one in reader.seen.latencies]
    for figure, latencies in (("soak_report_p99_ms", reports), ("soak_page_p99_ms", pages)):
        found = p99_s(latencies, observed.injected)
        if found is not None:
            figures.report(figure, 1000 * found, counted=len(latencies))
