"""HTTP of alert rules."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import Body, Query, Response
from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.alerts.models import AlertRule
from sinemora.alerts.rules import manifest, service
from sinemora.alerts.rules.schemas import RuleCreate, RuleRead, RulesImported, RuleUpdate
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.etag import Precondition
from sinemora.kit.http.paging import Page, Paging, Slice, paginate

router = signed_in_router("/v1", "alerts")

_YAML = "application/yaml"
_YAML_RESPONSE: dict[int | str, dict[str, Any]] = {200: {"content": {_YAML: {"schema": {"type": "string"}}}}}
_YAML_BODY = {"requestBody": {"content": {_YAML: {"schema": {"type": "string"}}}, "required": True}}


@router.get("/alert-rules", response_model=Page[RuleRead], responses=responses(404))
def list_alert_rules(
    session: SessionDep,
    actor: Viewer,
    page: Paging,
    mesh_id: Annotated[UUID | None, Query(description="Only rules of this mesh")] = None,
) -> Slice[RuleRead]:
    """List rules by name."""
    query = select(AlertRule)
    if mesh_id is not None:
        service.create_default_rules(session, mesh_id)
        query = query.where(AlertRule.mesh_id == mesh_id)
    return paginate(session, query, page, AlertRule.name, AlertRule.id).mapped(service.rule_read)


@router.post("/alert-rules", status_code=201, responses=responses(404, 409, 422))
def create_alert_rule(body: RuleCreate, session: SessionDep, actor: Editor) -> RuleRead:
    """Add a rule to a mesh."""
    row = service.create_rule(session, actor, body)
    return service.rule_read(row)


@router.get("/alert-rules/manifest", response_class=Response, responses=_YAML_RESPONSE | responses(404))
def export_alert_rules(session: SessionDep, actor: Viewer, mesh_id: UUID) -> Response:
    """Export the rules of a mesh as one YAML document, which `POST /v1/alert-rules/manifest` accepts."""
    return Response(manifest.export_rules(session, mesh_id), media_type=_YAML)


@router.post("/alert-rules/manifest", openapi_extra=_YAML_BODY, responses=responses(404, 409, 413, 422))
def import_alert_rules(
    session: SessionDep, actor: Editor, mesh_id: UUID, body: Annotated[bytes, Body(media_type=_YAML)]
) -> RulesImported:
    """Import rules of a mesh from a YAML document: new ones are created, others changed, omitted ones stay."""
    return manifest.import_rules(session, actor, mesh_id, body)


@router.get("/alert-rules/{rule_id}", responses=responses(404))
def read_alert_rule(rule_id: UUID, session: SessionDep, actor: Viewer) -> RuleRead:
    """Read one rule."""
    row = service.get_rule(session, rule_id)
    return service.rule_read(row)


@router.patch("/alert-rules/{rule_id}", responses=responses(404, 409, 412, 422, 428))
def update_alert_rule(
    rule_id: UUID, body: RuleUpdate, session: SessionDep, actor: Editor, precondition: Precondition
) -> RuleRead:
    """Change a rule."""
    row = service.update_rule(session, actor, rule_id, body, precondition)
    return service.rule_read(row)


@router.delete("/alert-rules/{rule_id}", status_code=204, responses=responses(404, 412))
def delete_alert_rule(rule_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition) -> None:
    """Delete a rule; its incidents stay."""
    service.delete_rule(session, actor, rule_id, precondition)
