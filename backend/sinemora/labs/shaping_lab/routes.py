"""Routes of the shaping lab."""

from fastapi import APIRouter

from sinemora.access.tenants.access import SignedIn, Viewer
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import ProductRoute, only_reads
from sinemora.kit.http.routes import accepts
from sinemora.labs.shaping_lab import service
from sinemora.labs.shaping_lab.schemas import ShapingStudyCreate, ShapingStudyRead

router = APIRouter(
    prefix="/v1",
    dependencies=[SignedIn],
    route_class=ProductRoute,
    tags=["advisors"],
    responses=responses(401, 403, 429),
)


@router.post("/advisors/shaping-studies", responses=responses(422))
@accepts(lambda settings: settings.data_limit_bytes)
@only_reads
def compare_study(body: ShapingStudyCreate, actor: Viewer) -> ShapingStudyRead:
    """Return a study of `sinemora lab shape` next to the figures of the source, by operation. Stores nothing."""
    return service.compare(body)
