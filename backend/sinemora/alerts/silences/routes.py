"""HTTP of silences."""

from uuid import UUID

from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.alerts.models import Silence
from sinemora.alerts.silences import service
from sinemora.alerts.silences.schemas import SilenceCreate, SilenceRead
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.paging import Page, Paging, Slice, paginate

router = signed_in_router("/v1", "alerts")


@router.get("/silences", response_model=Page[SilenceRead])
def list_silences(session: SessionDep, actor: Viewer, page: Paging) -> Slice[SilenceRead]:
    """List silences, latest end first, including past ones."""
    slice_ = paginate(session, select(Silence), page, Silence.ends_at, Silence.id, descending=True)
    return slice_.mapped(service.silence_read)


@router.post("/silences", status_code=201, responses=responses(422))
def create_silence(body: SilenceCreate, session: SessionDep, actor: Editor) -> SilenceRead:
    """Create a silence: matching incidents are still created, without notifications."""
    return service.silence_read(service.create_silence(session, actor, body))


@router.get("/silences/{silence_id}", responses=responses(404))
def read_silence(silence_id: UUID, session: SessionDep, actor: Viewer) -> SilenceRead:
    """Read one silence."""
    return service.silence_read(service.get_silence(session, silence_id))


@router.delete("/silences/{silence_id}", status_code=204, responses=responses(404))
def end_silence(silence_id: UUID, session: SessionDep, actor: Editor) -> None:
    """End a silence now."""
    service.end_silence(session, actor, silence_id)
