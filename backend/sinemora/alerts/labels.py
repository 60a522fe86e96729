"""Labels of incidents, which silences and routes match."""

import numpy as np

from sinemora.alerts.evaluation.root_cause import OF_ZONES
from sinemora.alerts.models import Incident
from sinemora.alerts.paths import cells_of
from sinemora.fleet.meshes.plan import MeshState


def labels_of(row: Incident, mesh: MeshState) -> dict[str, list[str]]:
    """Return the labels of an incident, for silences and routes."""
    size = len(mesh.members)
    cells = cells_of(row.paths, mesh)
    touched = np.unique(np.concatenate((cells // max(size, 1), cells % max(size, 1)))) if cells.size else cells
    members = [mesh.members[at] for at in touched.tolist()]
    culprit = [one for one in (row.culprit.get("at"), row.culprit.get("other")) if one]
    of_zones = row.suspect in [one.value for one in OF_ZONES]
    names = [one["name"] for one in culprit]
    application = row.evidence.get("application")
    return {
        "mesh": [mesh.name],
        "severity": [row.severity],
        "suspect": [row.suspect],
        "rule": [one["name"] for one in row.rules],
        "vm": [] if of_zones else (names or [member.name for member in members]),
        "zone": names if of_zones else sorted({member.zone_name for member in members}),
        "application": [application] if application else [one["name"] for one in row.applications],
    }
