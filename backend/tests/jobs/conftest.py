"""Kinds of jobs for one test, and the messages that would have gone to workers."""

import pytest

from sinemora.jobs import registry
from sinemora.jobs.dispatch import TASKS
from sinemora.jobs.models import Queue
from sinemora.jobs.registry import JobKind


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """What would have gone to a worker."""
    left: list[dict[str, str]] = []
    for task in TASKS.values():
        monkeypatch.setattr(task, "apply_async", lambda kwargs, **_: left.append(kwargs))
    return left


@pytest.fixture
def make_kind(monkeypatch: pytest.MonkeyPatch):
    """Registers a kind of job for one test."""
    monkeypatch.setattr(registry, "_registry", {})
    return lambda work, queue=Queue.bulk, **options: registry.register(JobKind("test.work", queue, work, **options))
