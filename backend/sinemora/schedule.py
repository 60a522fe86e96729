"""Composition of Celery: what runs when. The imports register all tasks. `sinemora.worker` is the application."""

import os
from typing import Any

from celery import Task
from celery.concurrency.thread import TaskPool as ThreadPool
from celery.schedules import crontab
from celery.signals import (
    celeryd_after_setup,
    heartbeat_sent,
    setup_logging,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
)
from celery.worker.state import active_requests, reserved_requests

from sinemora import compose, tables
from sinemora.access.members import tasks as members
from sinemora.access.signin import tasks as signin
from sinemora.access.tenants import tasks as tenants
from sinemora.alerts.detection import backtest, heartbeats
from sinemora.alerts.detection import tasks as alerts
from sinemora.applications.learning import tasks as learning
from sinemora.applications.traffic import tasks as traffic
from sinemora.fleet.inventory import tasks as inventory
from sinemora.jobs import tasks as jobs
from sinemora.kit import outbox, pulse
from sinemora.kit.celery import FAST, LIMIT_S, NOTICES, SCHEDULE, UPKEEP, celery
from sinemora.kit.observability import tracing, worker_metrics
from sinemora.kit.observability.logging import configure_logging
from sinemora.measurements import tasks as measurements
from sinemora.measurements.imports import service
from sinemora.measurements.metric_exports import tasks as metric_exports
from sinemora.measurements.query import execute
from sinemora.operations.archives import deletion, export_job
from sinemora.recommendations import tasks as recommendations
from sinemora.recommendations.what_if import options_job

app = celery
FEATURES = (tables, export_job, execute, service, worker_metrics, backtest, options_job)
_INTERRUPTED_S = 300.0
"""Time after which a run of a frequent sweep is interrupted, s."""
LABS = tuple(compose.imported("jobs"))


def _every(
    task: "Task[Any, Any]", schedule: float | crontab, expires_s: float | None = None, **parameters: float
) -> None:
    """Run `task` every `schedule` seconds or as a crontab says, unless it has waited for `expires_s` for a worker.

    One late sweep does all the work, so those that queued up meanwhile are dropped. A run of a frequent sweep that
    hangs is interrupted, and its process is ended if that does not help: the next run does the work.
    """
    options = {} if expires_s is None else {"expires": expires_s}
    if isinstance(schedule, float) and task.soft_time_limit == LIMIT_S:
        options |= {"soft_time_limit": _INTERRUPTED_S, "time_limit": 2 * _INTERRUPTED_S}
    SCHEDULE[task.name] = {"task": task.name, "schedule": schedule, "kwargs": parameters, "options": options}


_every(tenants.sweep, crontab(minute="17"))
_every(members.sweep, crontab(minute="12"))
_every(deletion.delete_due, crontab(minute="*/10"))
_every(outbox.deliver_due, 10.0, 10)
_every(signin.sweep, crontab(minute="7"))
_every(jobs.sweep, jobs.SWEEP_S, 15)
_every(jobs.delete_old, crontab(minute="27"))
_every(inventory.sweep, crontab(minute="47"))
_every(measurements.roll_up, 20.0, 20)
_every(measurements.correct, 10.0, 10)
_every(measurements.remove_gone, 60.0, 60)
_every(measurements.find_gaps, crontab(minute="*/10"), 600)
_every(measurements.partitions, crontab(minute="5"), 3600)
_every(measurements.shorten, crontab(minute="35"), 3600)
_every(measurements.age, crontab(minute="45"), 1800)
_every(metric_exports.push_due, metric_exports.EVERY_S, 20)
_every(recommendations.follow, 30.0, 30)
_every(recommendations.ask, crontab(minute="*/5"), 300)
_every(recommendations.mail_reports, crontab(minute="22"), 1800)
_every(learning.read, 60.0, 60)
_every(learning.judge, 600.0, 600)
_every(traffic.follow, 10.0, 10)
# Each process of the watch queue looks for due windows for some seconds, and then takes what else waits there.
_every(alerts.evaluate, 1.0, 2, for_s=5.0)
_every(alerts.evaluate_late_data, 60.0, 60)
_every(alerts.deliver_due, 5.0, 5)
_every(alerts.end_gone, 30.0, 30)
_every(heartbeats.send_heartbeats, heartbeats.EVERY_S, 30)


_processes = 0


@heartbeat_sent.connect
def _pulse(**_: object) -> None:
    """Record that the loop of this worker runs, and that its processes begin the tasks that they get."""
    has_idle = len(active_requests) < _processes
    pulse.touch_unless_waiting(one.id for one in reserved_requests if has_idle and one not in active_requests)


@setup_logging.connect
def _configure_logging(**_: object) -> None:
    configure_logging()


@worker_process_init.connect
def _start_tracing(**_: object) -> None:
    """Start tracing in each process that runs tasks; its threads would not survive the fork."""
    tracing.start("sinemora-worker")


@celeryd_after_setup.connect
def _serve_new_queues(instance: Any, **_: object) -> None:
    """Serve what earlier versions had in `fast` and `bulk`, if this worker was started by their command line."""
    queues = instance.app.amqp.queues
    if {FAST, "bulk"} <= set(queues.consume_from):
        for name in (NOTICES, UPKEEP):
            queues.select_add(name)


@celeryd_after_setup.connect
def _let_people_first(instance: Any, **_: object) -> None:
    """Give jobs and upkeep less of busy processors than pages, reports and alerts, which people wait for."""
    queues = set(instance.app.amqp.queues.consume_from)
    if queues and queues <= {"bulk", "solve", UPKEEP}:
        os.nice(5)  # a third of the weight: they go on, however busy the machine is


@worker_ready.connect
def _start_tracing_of_threads(sender: Any, **_: object) -> None:
    """Start tracing in a worker whose tasks run in threads: Celery sends it no other signal. Count other processes."""
    global _processes
    if isinstance(sender.pool, ThreadPool):
        tracing.start("sinemora-worker")
    else:
        _processes = sender.pool.limit


@worker_process_shutdown.connect
def _stop_tracing(**_: object) -> None:
    tracing.stop()
