from collections.abc import Callable
from typing import Any

import pytest
from kombu.exceptions import OperationalError
from sqlalchemy import Engine, text
from sqlalchemy.orm import Session

from sinemora.kit.db import system_session
from sinemora.kit.jobs import enqueue


class Recorder:
    """Stands for a task; `sent` are the ids it left with."""

    name = "recorder"

    def __init__(self, broken: bool = False) -> None:
        self.sent: list[dict[str, str]] = []
        self.broken = broken

    def apply_async(self, kwargs: dict[str, str], **_: Any) -> None:
        if self.broken:
            raise OperationalError("no broker")
        self.sent.append(kwargs)


def savepoint(session: Session, inside: Callable[[], None], *, keep: bool) -> None:
    nested = session.begin_nested()
    inside()
    (nested.commit if keep else nested.rollback)()


def test_stays_when_the_transaction_rolls_back(database: Engine):
    task = Recorder()

    def fail() -> None:
        with system_session() as session:
            session.execute(text("SELECT 1"))
            enqueue(session, task, id="a")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert task.sent == []


def test_jobs_leave_after_commit_and_a_savepoint_takes_only_its_own_with_it(database: Engine):
    task = Recorder()
    with system_session() as session:
        session.execute(text("SELECT 1"))
        enqueue(session, task, id="before")
        savepoint(session, lambda: enqueue(session, task, id="undone"), keep=False)
        savepoint(session, lambda: enqueue(session, task, id="kept"), keep=True)
        assert task.sent == []
    assert task.sent == [{"id": "before"}, {"id": "kept"}]


def test_a_broker_that_is_away_does_not_undo_what_is_committed(database: Engine):
    with system_session() as session:
        session.execute(text("SELECT 1"))
        enqueue(session, Recorder(broken=True), id="a")
