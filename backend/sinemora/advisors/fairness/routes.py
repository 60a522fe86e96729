"""Routes of the fairness meter."""

from typing import Annotated
from uuid import UUID

from fastapi import Query, Response
from sqlalchemy import select

from sinemora.access.tenants.access import Viewer, signed_in_router
from sinemora.advisors.fairness import service
from sinemora.advisors.fairness.schemas import FairnessImportCreate, FairnessImportRead, FairnessOf, FairnessRead
from sinemora.fleet.meshes.models import Mesh
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.routes import accepts
from sinemora.measurements.aggregate.fairness import ALERT_BELOW

router = signed_in_router("/v1", "advisors")
TEXT = "text/plain; version=0.0.4; charset=utf-8"
# One matrix of every mesh a scrape is enough; flows belong to single paths.
_SCRAPED = (FairnessOf.VMS, FairnessOf.APPLICATIONS)
_SCRAPED_MINUTES = 10


@router.get("/meshes/{mesh_id}/fairness", responses=responses(404, 422))
def read_fairness(
    mesh_id: UUID,
    session: SessionDep,
    actor: Viewer,
    of: FairnessOf = FairnessOf.VMS,
    minutes: Annotated[int, Query(ge=2, le=1440, description="Look-back; flows: the newest window")] = 60,
    source: Annotated[str | None, Query(max_length=100, description="VM of a path, name or id: for flows")] = None,
    target: Annotated[str | None, Query(max_length=100, description="Other VM of the path")] = None,
    alert_below: Annotated[float, Query(gt=0, le=1)] = ALERT_BELOW,
) -> FairnessRead:
    """Return Jain's fairness index over VMs, flows of a path, applications or metric sources of a mesh."""
    ends = (source, target) if source is not None and target is not None else None
    return service.fairness(session, mesh_id, of, minutes, ends, alert_below)


@router.post("/advisors/fairness-imports", responses=responses(422))
@accepts(lambda settings: settings.data_limit_bytes)
def import_fairness(body: FairnessImportCreate, actor: Viewer) -> FairnessImportRead:
    """Return Jain's index of a table of throughputs, or the means of a table of indices. Stores nothing."""
    return FairnessImportRead.model_validate({"groups": service.import_table(body.csv)}, from_attributes=True)


@router.get("/advisors/fairness/metrics", response_class=Response, include_in_schema=False)
def scrape_fairness(session: SessionDep, actor: Viewer) -> Response:
    """Return the index of every mesh in the text format of Prometheus, as the hook of alerts."""
    lines = [
        "# HELP sinemora_fairness_index Jain's fairness index over the VMs or applications of a mesh.",
        "# TYPE sinemora_fairness_index gauge",
    ]
    for mesh in session.scalars(select(Mesh).order_by(Mesh.name)):
        name = mesh.name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        for of in _SCRAPED:
            index = service.fairness(session, mesh.id, of, _SCRAPED_MINUTES, None).index
            if index is not None:
                lines.append(f'sinemora_fairness_index{{mesh="{name}",of="{of.value}"}} {index!r}')
    return Response("\n".join(lines) + "\n", media_type=TEXT)
