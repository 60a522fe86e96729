"""Kinds of jobs: what a worker does for each. Features register theirs where their tasks stand."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sinemora.jobs.models import Queue

if TYPE_CHECKING:
    from sinemora.jobs.context import Running

Work = Callable[["Running"], dict[str, Any] | None]


@dataclass(frozen=True)
class Kind:
    """A kind of job: `name` is `feature.verb`; `work` does it and returns its result (JSON).

    Work is idempotent: a job whose worker died is started again, up to `attempts_max` times in all, and finds what it
    last kept by `Running.keep`.
    """

    name: str
    queue: Queue
    work: Work
    attempts_max: int = 3


_kinds: dict[str, Kind] = {}


def register(kind: Kind) -> Kind:
    """Make a kind known to the worker."""
    if _kinds.setdefault(kind.name, kind) is not kind:
        raise ValueError(f"two kinds of jobs are named {kind.name}")
    return kind


def kind_named(name: str) -> Kind | None:
    """The kind of this name, None when no feature of this version has it."""
    return _kinds.get(name)
