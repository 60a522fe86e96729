"""Job that exports the data of a tenant as an archive, for its owners."""

from typing import IO, Any, cast

from sqlalchemy.orm import Session

from sinemora.access.tenants.access import Actor
from sinemora.access.tenants.models import Role
from sinemora.jobs import service as jobs
from sinemora.jobs.context import JobContext
from sinemora.jobs.models import Job, Queue
from sinemora.jobs.registry import JobKind, register
from sinemora.kit.config import settings
from sinemora.operations.archives import tenant

# Outputs of jobs are derived from the rest, and an export would contain the exports before it.
_DERIVED = frozenset({"job_chunks"})


def _work(running: JobContext) -> dict[str, Any]:
    def report(done: int, count: int, line: str) -> None:
        running.progress(done / count, " ".join(line.split()))

    selection = tenant.Selection(without=_DERIVED, measurements=bool(running.params["measurements"]))
    with running.output("sinemora-export.tar", "application/x-tar") as out:
        manifest = tenant.export(
            str(running.tenant_id), cast(IO[bytes], out), report, selection, settings().database_system_url
        )
        size = out.size_bytes
    tables = manifest["tables"].values()
    return {"tables": len(tables), "rows": sum(table["rows"] for table in tables), "bytes": size}


# A viewer sees less than an export has: the audit log, for one.
EXPORT = register(JobKind("tenant.export", Queue.bulk, _work, output_role=Role.owner))


def submit(session: Session, actor: Actor, *, measurements: bool) -> Job:
    """Submit the export of the caller's tenant. ProductError `jobs_too_many`."""
    title = f"Export of {actor.tenant_name}" + ("" if measurements else " without measurements")
    return jobs.submit(session, actor, EXPORT, title, {"measurements": measurements})
