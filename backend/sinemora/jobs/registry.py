"""Registry of job kinds. Each feature registers its kinds next to its tasks."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sinemora.access.tenants.models import Role
from sinemora.jobs.models import Queue

if TYPE_CHECKING:
    from sinemora.jobs.context import JobContext

JobFunction = Callable[["JobContext"], dict[str, Any] | None]


@dataclass(frozen=True)
class JobKind:
    """A kind of job: `name` is `feature.verb`; `work` runs it and returns its result (JSON).

    Work is idempotent: a job whose worker died is started again, up to `attempts_max` times in all, and finds its last
    checkpoint (`JobContext.keep`). Jobs of the queue solve are `isolated`: they run in a child process of the worker.
    """

    name: str
    queue: Queue
    work: JobFunction
    attempts_max: int = 3
    output_role: Role = Role.viewer
    """Least role that may download the output."""
    size: Callable[[dict[str, Any]], float] = lambda params: 1.0
    """Size of a job from its parameters, in the unit of the kind: durations of jobs are in proportion to it."""
    second_per_size: float = 5.0
    """Expected duration of a job of size 1, s, until jobs of the kind have succeeded."""
    href: str | None = None
    """Path of the resource that the work makes, with fields of its result in braces."""
    libraries: tuple[str, ...] = ()
    """Slow modules that the work of an isolated kind needs. The worker imports them once, before it forks the child:
    the child would import them again for each job.
    """

    @property
    def isolated(self) -> bool:
        """Return whether the work runs in a process that is killed when the job is cancelled."""
        return self.queue is Queue.solve

    def import_libraries(self) -> None:
        """Import the libraries of the work into this process."""
        for name in self.libraries:
            import_module(name)


_registry: dict[str, JobKind] = {}


def register(kind: JobKind) -> JobKind:
    """Register a kind with the worker."""
    if _registry.setdefault(kind.name, kind) is not kind:
        raise ValueError(f"two kinds of jobs are named {kind.name}")
    return kind


def kind_named(name: str) -> JobKind | None:
    """Return the kind of this name; None when this version has none."""
    return _registry.get(name)


def expected_s(kind: str, size: float, median_s: float | None) -> float:
    """Return the expected duration of a job, s. `median_s` is the median duration by size of its kind, if known."""
    if median_s is None:
        known = kind_named(kind)
        median_s = 1.0 if known is None else known.second_per_size
    return size * median_s
