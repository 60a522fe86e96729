"""Rules of a mesh as YAML: what a tenant keeps in its own repository, and brings back.

One document, `rules:` a list of what `RuleCreate` takes without the mesh. Bringing it back makes what is new by name
and changes what differs; rules the document does not name are left alone.
"""

from typing import Any
from uuid import UUID

import yaml
from sqlalchemy.orm import Session

from sinemora.alerts.models import AlertRule
from sinemora.alerts.rules import queries, service
from sinemora.alerts.rules.schemas import RuleCreate, RuleFields, RulesBrought, RuleUpdate
from sinemora.kit.http.etag import IfMatch
from sinemora.kit.manifest import declared
from sinemora.tenants.access import Actor


def written(session: Session, mesh_id: UUID) -> str:
    """Return the rules of a mesh as YAML, without defaults. ProductError `mesh_unknown`."""
    service.watch(session, mesh_id)
    rules = [_declared(row) for row in queries.rules_of(session, mesh_id)]
    text: str = yaml.safe_dump({"rules": rules}, sort_keys=False, allow_unicode=True)
    return text


def bring(session: Session, actor: Actor, mesh_id: UUID, text: bytes) -> RulesBrought:
    """Make rules of a mesh what a document says, all or nothing. ProductError `manifest_invalid`, `mesh_unknown`."""
    bodies = declared(text, "rules", RuleFields, "name and condition")
    service.watch(session, mesh_id)
    done = RulesBrought(created=[], changed=[], unchanged=[])
    for body in bodies:
        row = queries.rule_named(session, mesh_id, body.name)
        if row is None:
            service.create_rule(session, actor, RuleCreate(mesh_id=mesh_id, **body.model_dump()))
            done.created.append(body.name)
        elif RuleFields.model_validate(_said(row)) == body:
            done.unchanged.append(body.name)
        else:
            change = RuleUpdate.model_validate(body.model_dump())
            service.update_rule(session, actor, row.id, change, IfMatch("*", required=True))
            done.changed.append(body.name)
    return done


def _said(row: AlertRule) -> dict[str, Any]:
    return {name: getattr(row, name) for name in RuleFields.model_fields}


def _declared(row: AlertRule) -> dict[str, Any]:
    """Return the YAML that an owner would write for this rule."""
    body = RuleFields.model_validate(_said(row)).model_dump(mode="json", exclude_defaults=True)
    return {**body, "condition": {"kind": row.condition["kind"], **body["condition"]}}
