"""Routes of the shaping lab."""

from sinemora.access.tenants.access import Viewer, signed_in_router
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import only_reads
from sinemora.kit.http.routes import accepts
from sinemora.labs.shaping_lab import service
from sinemora.labs.shaping_lab.schemas import ShapingStudyCreate, ShapingStudyRead

router = signed_in_router("/v1", "advisors")


@router.post("/advisors/shaping-studies", responses=responses(422))
@accepts(lambda settings: settings.data_limit_bytes)
@only_reads
def compare_study(body: ShapingStudyCreate, actor: Viewer) -> ShapingStudyRead:
    """Return a study of `sinemora lab shape` next to the figures of the source, by operation. Stores nothing."""
    return service.compare(body)
