"""Checks of a request before it becomes a job: what can only fail is refused at once."""

from collections.abc import Iterator
from datetime import UTC, datetime
from math import ceil
from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.fleet.meshes.service import mesh_state
from sinemora.kit.errors import ProductError, invalid
from sinemora.kit.field_errors import pointer_of
from sinemora.recommendations import bringing, load_instance, queries
from sinemora.recommendations.core.formulate import solvable_stars
from sinemora.recommendations.core.instance import Instance
from sinemora.recommendations.schemas import Policy, RecommendationRequest


def check(session: Session, mesh_id: UUID, request: RecommendationRequest) -> None:
    """Refuse unknown applications and artifacts, options without effect, and a policy that cannot keep limits.

    ProductError `mesh_unknown`, `application_unknown` (404), `artifact_unknown` (404), `request_invalid` (422),
    `policy_unsupported` (422), `incident_unknown` (404), `incident_ended` (409).
    """
    _look_back_to_onset(session, mesh_id, request)
    instance = load_instance.load_placement(session, mesh_state(session, mesh_id), request.applications)
    bringing.artifacts_of(session, mesh_id, instance, request)
    if without_effect := list(_without_effect(instance, request)):
        raise invalid(without_effect)
    if request.policy is not Policy.NOMORA:  # its network knows no limits on machines
        return
    limited = [
        application.name
        for application in (instance.applications[place] for place in solvable_stars(instance))
        if application.allowed is not None
        or application.apart_from
        or (application.per_vm_max, application.per_host_max, application.per_zone_max) != (None, None, None)
    ]
    if limited:
        names = _enumerated(limited)
        message = f"keeps no zones, spread limits or apart_from, which {names} {'has' if len(limited) == 1 else 'have'}"
        raise ProductError(
            "policy_unsupported",
            422,
            f"Unsupported policy: {request.policy} {message}. Use best, select other applications, or remove"
            " the limits.",
            errors=[{"pointer": "#/policy", "message": message}],
        )


def _look_back_to_onset(session: Session, mesh_id: UUID, request: RecommendationRequest) -> None:
    """Let a request for an incident look back to its onset, unless it names its minutes itself."""
    if request.incident_id is None:
        return
    incident = queries.cause(session, request.incident_id)
    if incident is None or incident.mesh_id != mesh_id:
        raise ProductError(
            "incident_unknown",
            404,
            "Unknown incident: this mesh has none with this id.",
            errors=[{"pointer": "#/incident_id", "message": "id of an incident of the mesh"}],
        )
    if incident.ended_at is not None:
        raise ProductError(
            "incident_ended",
            409,
            f"Incident ended: “{incident.title}” ended at {incident.ended_at:%Y-%m-%d %H:%M} UTC, so no moves cure it."
            " Request moves without it.",
        )
    if "minutes" not in request.model_fields_set:
        since_s = (datetime.now(UTC) - incident.onset_at).total_seconds()
        request.minutes = min(max(ceil(since_s / 60), 2), 1440)


def _without_effect(instance: Instance, request: RecommendationRequest) -> Iterator[dict[str, str]]:
    """Yield the options of a request that would change nothing, and what gives them an effect."""
    if request.bringing_cost and not request.artifacts:
        yield {
            "pointer": "#/bringing_cost",
            "message": "Has no effect without `artifacts`. Name the artifact of an application, or omit it.",
        }
    chosen = [application for application in instance.applications if application.chosen]
    for name in request.artifacts:
        if name not in {application.name for application in chosen}:
            message = f"Has no effect: {name} is not among `applications`. Add it there, or omit its artifact."
            yield {"pointer": pointer_of(("artifacts", name)), "message": message}
    if request.risk is not None and chosen and all(application.root is None for application in chosen):
        yield {
            "pointer": "#/risk",
            "message": "Has no effect: no selected application is a star, whose root the paths lead to. Omit it.",
        }


def _enumerated(names: list[str]) -> str:
    """Return names in a sentence, at most five of them."""
    if len(names) > 5:
        return f"{', '.join(names[:5])} and {len(names) - 5} more"
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
