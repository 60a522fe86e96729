"""Checks of a request before it becomes a job: what can only fail is refused at once."""

from uuid import UUID

from sqlalchemy.orm import Session

from sinemora.kit.errors import ProductError
from sinemora.meshes.service import mesh_state
from sinemora.recommendations import load_instance
from sinemora.recommendations.core.formulate import solvable_stars
from sinemora.recommendations.schemas import Policy, RecommendationRequest

_WITHOUT_SPREAD = (Policy.GANG, Policy.PACK, Policy.NOMORA)
"""Policies whose solver has no spread limits."""


def check(session: Session, mesh_id: UUID, request: RecommendationRequest) -> None:
    """Refuse unknown applications, and a policy that cannot keep their limits.

    ProductError `mesh_unknown`, `application_unknown` (422), `policy_unsupported` (422).
    """
    instance = load_instance.load_placement(session, mesh_state(session, mesh_id), request.applications)
    if request.policy not in _WITHOUT_SPREAD:
        return
    spread = [
        application.name
        for application in (instance.applications[place] for place in solvable_stars(instance))
        if (application.per_vm_max, application.per_host_max, application.per_zone_max) != (None, None, None)
    ]
    if spread:
        names = ", ".join(spread[:5]) + (f" and {len(spread) - 5} more" if len(spread) > 5 else "")
        message = f"keeps no spread limits, which {names} {'has' if len(spread) == 1 else 'have'}"
        raise ProductError(
            "policy_unsupported",
            422,
            f"Unsupported policy: {request.policy} {message}. Use exact or graph, select other applications, or remove"
            " the limits.",
            errors=[{"pointer": "#/policy", "message": message}],
        )
