"""Kinds of jobs for one test."""

import pytest

from sinemora.jobs import registry
from sinemora.jobs.models import Queue
from sinemora.jobs.registry import JobKind


@pytest.fixture
def make_kind(monkeypatch: pytest.MonkeyPatch):
    """Registers a kind of job for one test."""
    monkeypatch.setattr(registry, "_registry", {})
    return lambda work, queue=Queue.bulk, **options: registry.register(JobKind("test.work", queue, work, **options))
