"""Composes Celery: `celery -A sinemora.worker worker` and `… beat`. Importing a feature's tasks registers them."""

from celery.schedules import crontab
from celery.signals import setup_logging

from sinemora import tables
from sinemora.kit.celery import SCHEDULE, celery
from sinemora.kit.logging import configure_logging
from sinemora.tenants import tasks as tenants

app = celery
FEATURES = (tables, tenants)

SCHEDULE["tenants.sweep"] = {"task": tenants.sweep.name, "schedule": crontab(minute="17")}


@setup_logging.connect
def _our_logging(**_: object) -> None:
    configure_logging()
