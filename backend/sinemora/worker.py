"""Composes Celery: `celery -A sinemora.worker worker` and `… beat`. Importing a feature's tasks registers them."""

from celery.schedules import crontab
from celery.signals import setup_logging

from sinemora import tables
from sinemora.inventory import tasks as inventory
from sinemora.kit.celery import SCHEDULE, celery
from sinemora.kit.logging import configure_logging
from sinemora.tenants import tasks as tenants

app = celery
FEATURES = (tables,)

SCHEDULE["tenants.sweep"] = {"task": tenants.sweep.name, "schedule": crontab(minute="17")}
SCHEDULE["inventory.sweep"] = {"task": inventory.sweep.name, "schedule": crontab(minute="47")}


@setup_logging.connect
def _our_logging(**_: object) -> None:
    configure_logging()
