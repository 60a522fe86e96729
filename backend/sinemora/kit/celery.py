"""Celery application. Features register their tasks with it; `sinemora.schedule` imports them all."""

import sys
from typing import Any

from celery import Celery
from pydantic import ValidationError

from sinemora.kit.config import explain, settings
from sinemora.kit.redis import broker_url

LIMIT_S = 3300
"""Time after which a task that has no other limit is interrupted, s; its process is ended five minutes later."""


def _configuration() -> dict[str, Any]:
    try:
        broker = broker_url(settings().redis_url)
    except ValidationError as error:  # Celery would bury the reason in a traceback
        sys.exit(explain(error))
    return {
        "broker_url": broker,
        "broker_connection_retry_on_startup": True,
        "task_ignore_result": True,
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "task_default_queue": UPKEEP,
        "task_time_limit": 3600,
        "task_soft_time_limit": LIMIT_S,
        "worker_prefetch_multiplier": 1,
        "worker_hijack_root_logger": False,
        # Longer than any job, or the broker hands a running job to a second worker.
        "broker_transport_options": {"visibility_timeout": 7200, "socket_connect_timeout": 2},
        "timezone": "UTC",
        "beat_schedule": SCHEDULE,
        "beat_scheduler": "sinemora.kit.pulse:Scheduler",
        "task_routes": ROUTES,
    }


# Entries of the beat schedule by task name (`sinemora.schedule`).
SCHEDULE: dict[str, dict[str, Any]] = {}
WATCH = "watch"
"""Queue of what must never wait: evaluation of alerts and the sweep of jobs. Its worker does nothing else."""
NOTICES = "notices"
"""Queue of notifications to receivers."""
FAST = "fast"
"""Queue of mails and of other tasks that wait for servers elsewhere. Threads of one worker serve it and `NOTICES`."""
UPKEEP = "upkeep"
"""Queue of all other periodic tasks: merging, retention, partitions. No tenant's job is in it."""
# Queues by task name, for tasks that do not use the default queue.
ROUTES: dict[str, dict[str, Any]] = {}

celery = Celery("sinemora")
celery.add_defaults(_configuration)
