"""Composes Celery: `celery -A sinemora.worker worker` and `… beat`. Importing a feature's tasks registers them."""

from celery.schedules import crontab
from celery.signals import setup_logging

from sinemora import tables
from sinemora.inventory import tasks as inventory
from sinemora.kit.celery import SCHEDULE, celery
from sinemora.kit.logging import configure_logging
from sinemora.measurements import tasks as measurements
from sinemora.tenants import tasks as tenants

app = celery
FEATURES = (tables,)

SCHEDULE["tenants.sweep"] = {"task": tenants.sweep.name, "schedule": crontab(minute="17")}
SCHEDULE["inventory.sweep"] = {"task": inventory.sweep.name, "schedule": crontab(minute="47")}
# A sweep that comes late does all the work: those that waited meanwhile would find none.
SCHEDULE["measurements.roll_up"] = {
    "task": measurements.roll_up.name,
    "schedule": 20.0,
    "options": {"expires": 20},
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


@setup_logging.connect
def _our_logging(**_: object) -> None:
    configure_logging()
