"""Composition of Celery: what runs when. The imports register all tasks. `sinemora.worker` is the application."""

from contextlib import suppress

from celery.schedules import crontab
from celery.signals import heartbeat_sent, setup_logging, worker_process_init, worker_process_shutdown

from sinemora import tables
from sinemora.advisors.tail_lab import job as tail_lab
from sinemora.alerts.detection import backtest
from sinemora.alerts.detection import tasks as alerts
from sinemora.archives import deletion, export_job
from sinemora.bucket_exports import tasks as bucket_exports
from sinemora.inventory import tasks as inventory
from sinemora.jobs import tasks as jobs
from sinemora.kit import outbox
from sinemora.kit.celery import SCHEDULE, celery
from sinemora.kit.config import settings
from sinemora.kit.observability import tracing, worker_metrics
from sinemora.kit.observability.logging import configure_logging
from sinemora.learning import tasks as learning
from sinemora.measurements import tasks as measurements
from sinemora.measurements.imports import service
from sinemora.measurements.query import execute
from sinemora.members import tasks as members
from sinemora.recommendations import tasks as recommendations
from sinemora.signin import tasks as signin
from sinemora.simulation import job as simulation
from sinemora.tenants import tasks as tenants
from sinemora.what_if import options_job

app = celery
FEATURES = (tables, export_job, execute, service, worker_metrics, backtest, simulation, tail_lab, options_job)

SCHEDULE["tenants.sweep"] = {"task": tenants.sweep.name, "schedule": crontab(minute="17")}
SCHEDULE["members.sweep"] = {"task": members.sweep.name, "schedule": crontab(minute="12")}
SCHEDULE["tenants.delete_due"] = {"task": deletion.delete_due.name, "schedule": crontab(minute="*/10")}
SCHEDULE["mail.deliver_due"] = {"task": outbox.deliver_due.name, "schedule": 10.0, "options": {"expires": 10}}
SCHEDULE["signin.sweep"] = {"task": signin.sweep.name, "schedule": crontab(minute="7")}
SCHEDULE["jobs.sweep"] = {"task": jobs.sweep.name, "schedule": jobs.SWEEP_S, "options": {"expires": 15}}
SCHEDULE["jobs.delete_old"] = {"task": jobs.delete_old.name, "schedule": crontab(minute="27")}
SCHEDULE["inventory.sweep"] = {"task": inventory.sweep.name, "schedule": crontab(minute="47")}
# `expires`: one late sweep does all the work, so those that queued up meanwhile are dropped.
SCHEDULE["measurements.roll_up"] = {
    "task": measurements.roll_up.name,
    "schedule": 20.0,
    "options": {"expires": 20},
}
SCHEDULE["measurements.correct"] = {
    "task": measurements.correct.name,
    "schedule": 10.0,
    "options": {"expires": 10},
}
SCHEDULE["measurements.find_gaps"] = {
    "task": measurements.find_gaps.name,
    "schedule": crontab(minute="*/10"),
    "options": {"expires": 600},
}
SCHEDULE["measurements.partitions"] = {
    "task": measurements.partitions.name,
    "schedule": crontab(minute="5"),
    "options": {"expires": 3600},
}
SCHEDULE["measurements.shorten"] = {
    "task": measurements.shorten.name,
    "schedule": crontab(minute="35"),
    "options": {"expires": 3600},
}
SCHEDULE["measurements.age"] = {
    "task": measurements.age.name,
    "schedule": crontab(minute="45"),
    "options": {"expires": 1800},
}

SCHEDULE["bucket_exports.start_due"] = {
    "task": bucket_exports.start_due.name,
    "schedule": 30.0,
    "options": {"expires": 30},
}

SCHEDULE["recommendations.follow"] = {
    "task": recommendations.follow.name,
    "schedule": 30.0,
    "options": {"expires": 30},
}
SCHEDULE["recommendations.ask"] = {
    "task": recommendations.ask.name,
    "schedule": crontab(minute="*/5"),
    "options": {"expires": 300},
}

SCHEDULE["learning.read"] = {"task": learning.read.name, "schedule": 60.0, "options": {"expires": 60}}
SCHEDULE["learning.judge"] = {"task": learning.judge.name, "schedule": 600.0, "options": {"expires": 600}}


# Every second: a window is evaluated as soon as all agents have reported it.
SCHEDULE["alerts.evaluate"] = {
    "task": alerts.evaluate.name,
    "schedule": 1.0,
    "options": {"expires": 5},
}
SCHEDULE["alerts.evaluate_late_data"] = {
    "task": alerts.evaluate_late_data.name,
    "schedule": 60.0,
    "options": {"expires": 60},
}
SCHEDULE["alerts.deliver_due"] = {
    "task": alerts.deliver_due.name,
    "schedule": 5.0,
    "options": {"expires": 5},
}


@heartbeat_sent.connect
def _pulse(**_: object) -> None:
    """Touch the pulse file: the supervisor sees that the loop of this worker runs."""
    if path := settings().worker_pulse_file:
        with suppress(OSError):  # a full disk is no reason to stop working
            path.touch()


@setup_logging.connect
def _configure_logging(**_: object) -> None:
    configure_logging()


@worker_process_init.connect
def _start_tracing(**_: object) -> None:
    """Start tracing in each process that runs tasks; its threads would not survive the fork."""
    tracing.start("sinemora-worker")


@worker_process_shutdown.connect
def _stop_tracing(**_: object) -> None:
    tracing.stop()
