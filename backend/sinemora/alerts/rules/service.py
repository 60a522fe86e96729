"""Use cases of alert rules."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

from sqlalchemy import insert
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.alerts.evaluation.rule import defaults
from sinemora.alerts.models import AlertRule, AlertState
from sinemora.alerts.rules import queries
from sinemora.alerts.rules.load import condition_json
from sinemora.alerts.rules.schemas import RuleCreate, RuleRead, RuleUpdate
from sinemora.fleet.meshes.service import get_mesh
from sinemora.kit.errors import ProductError, existing
from sinemora.kit.http.etag import IfMatch
from sinemora.kit.renames import renamed


def get_rule(session: Session, rule_id: UUID) -> AlertRule:
    """Return the tenant's rule. ProductError `alert_rule_unknown`."""
    return existing(session.get(AlertRule, rule_id), "alert rule")


def create_rule(session: Session, actor: Actor, body: RuleCreate) -> AlertRule:
    """Create a rule. ProductError `mesh_unknown`, `alert_rule_name_taken`."""
    create_default_rules(session, body.mesh_id)
    _rule_name_free(session, body.mesh_id, body.name)
    row = AlertRule(**body.model_dump(mode="json", exclude={"mesh_id"}), mesh_id=body.mesh_id)
    audit.created(session, actor, "alert_rule", row)
    return row


def update_rule(session: Session, actor: Actor, rule_id: UUID, body: RuleUpdate, precondition: IfMatch) -> AlertRule:
    """Change a rule. ProductError `alert_rule_unknown`, `alert_rule_name_taken`, `rule_windows_invalid`."""
    row = get_rule(session, rule_id)
    precondition.check(row)
    changes = body.model_dump(mode="json", exclude_unset=True)
    before = row.name
    for field, value in changes.items():
        if field == "name" and value != row.name:
            _rule_name_free(session, row.mesh_id, value)
        setattr(row, field, value)
    if row.windows_x > row.windows_y:
        raise ProductError("rule_windows_invalid", 422, "Invalid windows: `windows_x` cannot be more than `windows_y`.")
    row.updated_at = datetime.now(UTC)
    renamed(session, "rule", before, row.name)
    audit.updated(session, actor, "alert_rule", row, changes)
    return row


def delete_rule(session: Session, actor: Actor, rule_id: UUID, precondition: IfMatch) -> None:
    """Delete a rule; its incidents stay. ProductError `alert_rule_unknown`."""
    row = get_rule(session, rule_id)
    precondition.check(row)
    audit.deleted(session, actor, "alert_rule", row)


def rule_read(row: AlertRule) -> RuleRead:
    return RuleRead.model_validate(row)


def _rule_name_free(session: Session, mesh_id: UUID, name: str) -> None:
    if queries.rule_named(session, mesh_id, name):
        raise ProductError("alert_rule_name_taken", 409, f"Name taken: the mesh already has a rule named {name}.")


def create_default_rules(session: Session, mesh_id: UUID) -> None:
    """Create the default rules of a mesh, once. ProductError `mesh_unknown`."""
    mesh = get_mesh(session, mesh_id)
    if session.get(AlertState, mesh_id) is not None:
        return
    tenant_id = session.info["tenant_id"]
    # Several may read the rules of a new mesh at once: the first one creates them, the others wait for its commit.
    begun = upsert(AlertState).values(tenant_id=tenant_id, mesh_id=mesh_id).on_conflict_do_nothing()
    if session.execute(begun.returning(AlertState.mesh_id)).first() is None:
        return
    session.execute(
        insert(AlertRule),
        [
            {
                "id": uuid4(),
                "tenant_id": tenant_id,
                "mesh_id": mesh_id,
                "version": 1,
                "name": rule.name,
                "enabled": True,
                "severity": rule.severity,
                "condition": condition_json(rule.condition),
                "scope": {},
                "windows_x": rule.x,
                "windows_y": rule.y,
                "sources_min": rule.sources_min,
                "hold_s": rule.hold_s,
                "keep_firing_s": rule.keep_firing_s,
                "origin": rule.id,
            }
            for rule in defaults(mesh.window_s)
        ],
    )
