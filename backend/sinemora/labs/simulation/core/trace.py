"""The Google cluster trace of 2011 (version 2, CC-BY 4.0), read from a folder with `task_events`.

A folder contains `task_events/part-*.csv.gz` without headers. Time is in µs; tasks already running at the start of the
trace have time 0. Columns: time, missing info, job, task index, machine, event type, … Types: 0 submit, 1 schedule,
2 evict, 3 fail, 4 finish, 5 kill, 6 lost, 7 and 8 updates. Jobs of one task have no links and are left out, as in the
source.
"""

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

MACHINES = 12_500
SUBMIT, SCHEDULE = 0, 1
ENDS = frozenset({2, 3, 4, 5, 6})
_START_US = 600_000_000  # the trace begins ten minutes after its zero


class JobTraceError(ValueError):
    """A folder without a valid trace; the message names what is missing or the invalid line."""


@dataclass(frozen=True, slots=True)
class TaskEvent:
    """A submission, scheduling or end of a task."""

    time_s: float
    """Seconds since the start of the trace; 0 for tasks that already ran."""
    job: int
    task: int
    kind: int


@dataclass(slots=True)
class TraceJob:
    """A job with its arrival, and the end of each task (infinity: after the trace)."""

    job: int
    submitted_s: float
    ends_s: dict[int, float] = field(default_factory=dict)


def events(folder: Path) -> Iterator[TaskEvent]:
    """Yield submissions, schedulings and ends of tasks in time order."""
    parts = sorted((folder / "task_events").glob("part-*.csv.gz"))
    if not parts:
        raise JobTraceError(f"Trace missing: no task_events/part-*.csv.gz in {folder}")
    for part in parts:
        with gzip.open(part, "rt", newline="") as lines:
            for number, row in enumerate(csv.reader(lines), 1):
                try:
                    time_us, job, task, kind = int(row[0]), int(row[2]), int(row[3]), int(row[5])
                except (IndexError, ValueError):
                    raise JobTraceError(f"{part.name}, line {number}: not a task event") from None
                if kind <= SCHEDULE or kind in ENDS:
                    yield TaskEvent(max(0.0, (time_us - _START_US) / 1e6), job, task, kind)


def job_ends(folder: Path, until_s: float) -> dict[int, float]:
    """Return ends of jobs from `job_events` (time, missing info, job, event type, …); empty if the folder has none."""
    ends: dict[int, float] = {}
    for part in sorted((folder / "job_events").glob("part-*.csv.gz")):
        with gzip.open(part, "rt", newline="") as lines:
            for number, row in enumerate(csv.reader(lines), 1):
                try:
                    time_us, job, kind = int(row[0]), int(row[2]), int(row[3])
                except (IndexError, ValueError):
                    raise JobTraceError(f"{part.name}, line {number}: not a job event") from None
                at = max(0.0, (time_us - _START_US) / 1e6)
                if kind in ENDS and at <= until_s:
                    ends[job] = at
                elif kind <= SCHEDULE:
                    ends.pop(job, None)
    return ends


def jobs(folder: Path, until_s: float) -> list[TraceJob]:
    """Return jobs with more than one task, by arrival; a task ends at its last end event.

    A task that is evicted or fails and is scheduled again has not ended. If its end is missing, that of its job counts.
    """
    by_number: dict[int, TraceJob] = {}
    for event in events(folder):
        if event.time_s > until_s:
            break
        job = by_number.setdefault(event.job, TraceJob(event.job, event.time_s))
        job.ends_s[event.task] = event.time_s if event.kind in ENDS else np.inf
    ended = job_ends(folder, until_s)
    for number, job in by_number.items():
        if number in ended:
            job.ends_s = {task: min(at, max(ended[number], job.submitted_s)) for task, at in job.ends_s.items()}
    return [job for job in by_number.values() if len(job.ends_s) > 1]
