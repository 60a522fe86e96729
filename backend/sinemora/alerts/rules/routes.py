"""HTTP of rules, silences, receivers and routes of notifications."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Body, Query, Request, Response
from sqlalchemy import select

from sinemora.alerts.detection import backtest, evaluator, preview
from sinemora.alerts.models import AlertRule, Delivery, Receiver, Silence
from sinemora.alerts.receivers import service as receivers
from sinemora.alerts.rules import manifest, service
from sinemora.alerts.rules.schemas import (
    BackTestCreate,
    DeliveryRead,
    ReceiverFields,
    ReceiverRead,
    ReceiverUpdate,
    RoutingRead,
    RoutingWrite,
    RuleCreate,
    RulePreview,
    RulePreviewCreate,
    RuleRead,
    RulesBrought,
    RuleUpdate,
    SilenceCreate,
    SilencePreview,
    SilenceRead,
)
from sinemora.jobs import service as jobs
from sinemora.jobs.schemas import JobRead
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.etag import Precondition, tag
from sinemora.kit.http.idempotency import ProductRoute
from sinemora.kit.http.paging import Page, Paging, Slice, paginate
from sinemora.tenants.access import Editor, SignedIn, Viewer

router = APIRouter(
    prefix="/v1", dependencies=[SignedIn], route_class=ProductRoute, tags=["alerts"], responses=responses(401, 403, 429)
)

_YAML = "application/yaml"
_YAML_ANSWER: dict[int | str, dict[str, Any]] = {200: {"content": {_YAML: {"schema": {"type": "string"}}}}}
_YAML_BODY = {"requestBody": {"content": {_YAML: {"schema": {"type": "string"}}}, "required": True}}


@router.get("/alert-rules", response_model=Page[RuleRead], responses=responses(404))
def list_alert_rules(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    mesh_id: Annotated[UUID | None, Query(description="Only of this mesh")] = None,
) -> Slice[RuleRead]:
    """Rules by name."""
    wanted = select(AlertRule)
    if mesh_id is not None:
        evaluator.watch(session, mesh_id)
        wanted = wanted.where(AlertRule.mesh_id == mesh_id)
    found = paginate(session, wanted, page, AlertRule.name, AlertRule.id)
    return Slice([service.rule_read(row) for row in found.items], found.next_cursor)


@router.post("/alert-rules", status_code=201, responses=responses(404, 409, 422))
def create_alert_rule(request: Request, body: RuleCreate, session: SessionDep, actor: Editor) -> RuleRead:
    """Add a rule to a mesh."""
    row = service.create_rule(session, actor, body)
    tag(request, row)
    return service.rule_read(row)


@router.get("/alert-rules/manifest", response_class=Response, responses=_YAML_ANSWER | responses(404))
def export_alert_rules(session: SessionDep, actor: Viewer, mesh_id: UUID) -> Response:
    """Export the rules of a mesh as one YAML document, which `POST /v1/alert-rules/manifest` accepts."""
    return Response(manifest.written(session, mesh_id), media_type=_YAML)


@router.post("/alert-rules/manifest", openapi_extra=_YAML_BODY, responses=responses(404, 409, 413, 422))
def import_alert_rules(
    session: SessionDep, actor: Editor, mesh_id: UUID, body: Annotated[bytes, Body(media_type=_YAML)]
) -> RulesBrought:
    """Make rules of a mesh what a YAML document says: new ones are made, others changed, those it omits stay."""
    return manifest.bring(session, actor, mesh_id, body)


@router.get("/alert-rules/{rule_id}", responses=responses(404))
def read_alert_rule(request: Request, rule_id: UUID, session: SessionDep, actor: Viewer) -> RuleRead:
    """Read one rule."""
    row = service.get_rule(session, rule_id)
    tag(request, row)
    return service.rule_read(row)


@router.patch("/alert-rules/{rule_id}", responses=responses(404, 409, 412, 422, 428))
def update_alert_rule(
    request: Request, rule_id: UUID, body: RuleUpdate, session: SessionDep, actor: Editor, precondition: Precondition
) -> RuleRead:
    """Change a rule."""
    row = service.update_rule(session, actor, rule_id, body, precondition)
    tag(request, row)
    return service.rule_read(row)


@router.delete("/alert-rules/{rule_id}", status_code=204, responses=responses(404, 412))
def delete_alert_rule(rule_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition) -> None:
    """Delete a rule; its incidents stay."""
    service.delete_rule(session, actor, rule_id, precondition)


@router.post("/alert-back-tests", status_code=202, responses=responses(404, 409, 422))
def create_alert_back_test(response: Response, body: BackTestCreate, session: SessionDep, actor: Editor) -> JobRead:
    """Try a rule on what was stored; the job's result lists the incidents it would have made."""
    job = backtest.ask(session, actor, body)
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    return jobs.read(job)


@router.post("/alert-rule-previews", responses=responses(404, 409, 422))
def preview_alert_rule(body: RulePreviewCreate, session: SessionDep, actor: Viewer) -> RulePreview:
    """Evaluate a rule on one path: its values, the limit, and when it would fire. Nothing is saved."""
    return preview.preview(session, body)


@router.get("/silences", response_model=Page[SilenceRead])
def list_silences(session: SessionDep, actor: Viewer, page: Paging) -> Slice[SilenceRead]:
    """Silences, those that end last first; past ones stay."""
    found = paginate(session, select(Silence), page, Silence.ends_at, Silence.id, descending=True)
    return Slice([service.silence_read(row) for row in found.items], found.next_cursor)


@router.post("/silences", status_code=201, responses=responses(422))
def create_silence(body: SilenceCreate, session: SessionDep, actor: Editor) -> SilenceRead:
    """Create a silence: matching incidents are still created, without notifications."""
    return service.silence_read(service.create_silence(session, actor, body))


@router.post("/silence-previews", responses=responses(422))
def preview_silence(body: SilenceCreate, session: SessionDep, actor: Viewer) -> SilencePreview:
    """List the incidents of the last week that a silence would have matched. Nothing is saved."""
    return service.preview_silence(session, body)


@router.get("/silences/{silence_id}", responses=responses(404))
def read_silence(silence_id: UUID, session: SessionDep, actor: Viewer) -> SilenceRead:
    """Read one silence."""
    return service.silence_read(service.get_silence(session, silence_id))


@router.delete("/silences/{silence_id}", status_code=204, responses=responses(404))
def end_silence(silence_id: UUID, session: SessionDep, actor: Editor) -> None:
    """End a silence now."""
    service.end_silence(session, actor, silence_id)


@router.get("/receivers", response_model=Page[ReceiverRead])
def list_receivers(session: SessionDep, actor: Viewer, page: Paging) -> Slice[ReceiverRead]:
    """Receivers by name, without their secrets."""
    found = paginate(session, select(Receiver), page, Receiver.name, Receiver.id)
    return Slice([receivers.receiver_read(row) for row in found.items], found.next_cursor)


@router.post("/receivers", status_code=201, responses=responses(409, 422))
def create_receiver(request: Request, body: ReceiverFields, session: SessionDep, actor: Editor) -> ReceiverRead:
    """Create a receiver; it gets no notifications until a route names it."""
    row = receivers.create_receiver(session, actor, body)
    tag(request, row)
    return receivers.receiver_read(row)


@router.get("/receivers/{receiver_id}", responses=responses(404))
def read_receiver(request: Request, receiver_id: UUID, session: SessionDep, actor: Viewer) -> ReceiverRead:
    """Read one receiver, without its secret."""
    row = receivers.get_receiver(session, receiver_id)
    tag(request, row)
    return receivers.receiver_read(row)


@router.patch("/receivers/{receiver_id}", responses=responses(404, 409, 412, 422, 428))
def update_receiver(
    request: Request,
    receiver_id: UUID,
    body: ReceiverUpdate,
    session: SessionDep,
    actor: Editor,
    precondition: Precondition,
) -> ReceiverRead:
    """Change a receiver; a secret that is left out stays."""
    row = receivers.update_receiver(session, actor, receiver_id, body, precondition)
    tag(request, row)
    return receivers.receiver_read(row)


@router.delete("/receivers/{receiver_id}", status_code=204, responses=responses(404, 412))
def delete_receiver(receiver_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition) -> None:
    """Delete a receiver with its log."""
    receivers.delete_receiver(session, actor, receiver_id, precondition)


@router.post("/receivers/{receiver_id}/tests", status_code=201, responses=responses(404))
def test_receiver(receiver_id: UUID, session: SessionDep, actor: Editor) -> DeliveryRead:
    """Send a test; what came of it is in the log of deliveries."""
    return receivers.test_receiver(session, actor, receiver_id)


@router.get("/alert-routes")
def read_alert_routes(request: Request, session: SessionDep, actor: Viewer) -> RoutingRead:
    """Read the tree of routes to receivers."""
    row, shown = receivers.routing_read(session)
    if row is not None:
        tag(request, row)
    return shown


@router.put("/alert-routes", responses=responses(404, 412, 422))
def write_alert_routes(
    request: Request, body: RoutingWrite, session: SessionDep, actor: Editor, precondition: Precondition
) -> RoutingRead:
    """Replace the tree."""
    tag(request, receivers.write_routing(session, actor, body, precondition))
    return receivers.routing_read(session)[1]


@router.get("/deliveries", response_model=Page[DeliveryRead])
def list_deliveries(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    incident_id: Annotated[UUID | None, Query(description="Only of this incident")] = None,
) -> Slice[DeliveryRead]:
    """Notifications, newest first: what was sent, what waits, what failed and why."""
    wanted = select(Delivery)
    if incident_id is not None:
        wanted = wanted.where(Delivery.incident_id == incident_id)
    found = paginate(session, wanted, page, Delivery.created_at, Delivery.id, descending=True)
    return Slice(receivers.deliveries_read(session, found.items), found.next_cursor)
