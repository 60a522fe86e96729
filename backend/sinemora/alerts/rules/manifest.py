"""Export and import the rules of a mesh as YAML, for a tenant's own repository.

One document; `rules:` is a list of the fields of `RuleCreate` without the mesh. An import creates rules with new names
and changes those that differ; rules that the document does not name stay.
"""

from typing import Any
from uuid import UUID

import yaml
from sqlalchemy.orm import Session

from sinemora.access.tenants.access import Actor
from sinemora.alerts.models import AlertRule
from sinemora.alerts.rules import queries, service
from sinemora.alerts.rules.schemas import RuleCreate, RuleFields, RulesImported, RuleUpdate, effective_fields
from sinemora.kit.http.etag import IfMatch
from sinemora.kit.manifest import declared


def export_rules(session: Session, mesh_id: UUID) -> str:
    """Return the rules of a mesh as YAML, without defaults. ProductError `mesh_unknown`."""
    service.create_default_rules(session, mesh_id)
    rules = [_declared(row) for row in queries.rules_of(session, mesh_id)]
    text: str = yaml.safe_dump({"rules": rules}, sort_keys=False, allow_unicode=True)
    return text


def import_rules(session: Session, actor: Actor, mesh_id: UUID, text: bytes) -> RulesImported:
    """Create and change rules from a document, all or nothing. ProductError `manifest_invalid`, `mesh_unknown`."""
    bodies = declared(text, "rules", RuleFields, "name and condition")
    service.create_default_rules(session, mesh_id)
    result = RulesImported(created=[], changed=[], unchanged=[])
    # In one order, whatever that of the document: two imports at once wait for one another's rows.
    for body in sorted(bodies, key=lambda body: body.name):
        row = queries.rule_named(session, mesh_id, body.name)
        if row is None:
            service.create_rule(session, actor, RuleCreate(mesh_id=mesh_id, **body.model_dump()))
            result.created.append(body.name)
        elif RuleFields.model_validate(_fields(row)) == body:
            result.unchanged.append(body.name)
        else:
            change = RuleUpdate.model_validate(body.model_dump())
            service.update_rule(session, actor, row.id, change, IfMatch("*", required=True))
            result.changed.append(body.name)
    return result


def _fields(row: AlertRule) -> dict[str, Any]:
    """Return the fields of a row, without those of its condition that have no effect: older versions accepted them."""
    fields = {name: getattr(row, name) for name in RuleFields.model_fields}
    return fields | {"condition": effective_fields(row.condition)}


def _declared(row: AlertRule) -> dict[str, Any]:
    """Return a rule as YAML fields, without defaults."""
    body = RuleFields.model_validate(_fields(row)).model_dump(mode="json", exclude_defaults=True)
    return {**body, "condition": {"kind": row.condition["kind"], **body["condition"]}}
