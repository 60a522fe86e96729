"""Labels of incidents, which silences and routes match."""

import numpy as np

from sinemora.alerts.evaluation.root_cause import OF_ZONES
from sinemora.alerts.models import Incident
from sinemora.alerts.paths import cells_of
from sinemora.fleet.meshes.plan import MeshState


def labels_of(row: Incident, mesh: MeshState) -> dict[str, list[str]]:
    """Return the labels of an incident, for silences and routes: names by `mesh`, `vm` …, ids by `mesh_id` …."""
    size = len(mesh.members)
    cells = cells_of(row.paths, mesh)
    touched = np.unique(np.concatenate((cells // max(size, 1), cells % max(size, 1)))) if cells.size else cells
    members = [mesh.members[at] for at in touched.tolist()]
    culprit = [one for one in (row.culprit.get("at"), row.culprit.get("other")) if one]
    of_zones = row.suspect in [one.value for one in OF_ZONES]
    present = {
        str(one.zone_id if of_zones else one.id): one.zone_name if of_zones else one.name for one in mesh.members
    }
    names = [present.get(one["id"], one["name"]) for one in culprit]
    ids = [one["id"] for one in culprit]
    application = row.evidence.get("application")
    return {
        "mesh": [mesh.name],
        "mesh_id": [str(mesh.id)],
        "severity": [row.severity],
        "suspect": [row.suspect],
        "rule": [one["name"] for one in row.rules],
        "rule_id": [one["id"] for one in row.rules],
        "vm": [] if of_zones else (names or [member.name for member in members]),
        "vm_id": [] if of_zones else (ids or [str(member.id) for member in members]),
        "zone": names if of_zones else sorted({member.zone_name for member in members}),
        "zone_id": ids if of_zones else sorted({str(member.zone_id) for member in members}),
        "application": [application] if application else [one["name"] for one in row.applications],
    }
