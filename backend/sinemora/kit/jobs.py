"""Sending of tasks after the commit, so that a worker finds the rows that it reads.

A crash between commit and send loses a task: every task is idempotent, and a periodic sweep sends it again.
"""

from typing import Any

import structlog
from celery import Task
from kombu.exceptions import OperationalError
from sqlalchemy import event
from sqlalchemy.orm import Session, SessionTransaction

from sinemora.kit.db import SessionMaker

log = structlog.get_logger(__name__)


def enqueue(session: Session, task: "Task[Any, Any]", **ids: str) -> None:
    """Send `task` once the outermost transaction of `session` has committed; never when it rolls back."""
    session.info.setdefault("jobs", []).append((session.get_nested_transaction(), task, ids))


@event.listens_for(SessionMaker, "after_commit")
def _send(session: Session) -> None:
    if session.in_nested_transaction():  # fires for released savepoints too
        return
    for _, task, ids in session.info.pop("jobs", []):
        try:
            task.apply_async(kwargs=ids, retry=False)
        except OperationalError as error:
            # The rows are committed, so the response stays a success; the sweep sends the task.
            log.warning("job not sent", task=task.name, error=str(error))


@event.listens_for(SessionMaker, "after_soft_rollback")
def _drop(session: Session, ended: SessionTransaction) -> None:
    jobs = session.info.get("jobs", [])
    session.info["jobs"] = [job for job in jobs if ended.nested and job[0] is not ended]
