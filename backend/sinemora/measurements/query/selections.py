"""Selections of paths: `mesh`, `path:A:B`, `from:A`, `to:A` (ids of VMs) or `zones:A:B` (ids of zones)."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from sinemora.fleet.meshes.plan import MeshState
from sinemora.fleet.meshes.service import zone_runs
from sinemora.kit.errors import NotFound, ProductError
from sinemora.measurements.aggregate.matrix import Flags

WHOLE = "mesh"
_FORM = (
    "Selections are `mesh`, `path:SOURCE_VM_ID:TARGET_VM_ID`, `zones:SOURCE_ZONE_ID:TARGET_ZONE_ID`, `from:VM_ID` or"
    " `to:VM_ID`."
)
_ENDS = {"path": 2, "zones": 2, "from": 1, "to": 1}


@dataclass(frozen=True, slots=True, eq=False)
class SelectedPaths:
    """Paths from every VM in `rows` to every one in `columns` (flags in the order of the roster)."""

    selection: str
    title: str
    rows: Flags
    columns: Flags

    @property
    def vms(self) -> Flags:
        """Flags of the VMs at either end."""
        return self.rows | self.columns


def paths_of(mesh: MeshState, selections: Sequence[str]) -> list[SelectedPaths]:
    """Resolve the paths of each selection. ProductError `selection_invalid`, `selection_repeated`, `path_unknown`."""
    seen: set[tuple[str, ...]] = set()
    for selection in selections:
        key = _key(selection)
        if key in seen:  # each would be merged again, from the same windows
            raise ProductError(
                "selection_repeated", 422, f"Repeated selection: {selection[:100]!r}. Request each selection once."
            )
        seen.add(key)
    return [_paths(mesh, selection) for selection in selections]


def _key(selection: str) -> tuple[str, ...]:
    """Return a key that is equal for all spellings of a selection: ids may have capitals, or no hyphens."""
    kind, *ids = selection.split(":")
    return (kind, *(part.replace("-", "").lower() for part in ids))


def vm_keys_of(mesh: MeshState, selected: Sequence[SelectedPaths]) -> list[int] | None:
    """Return the keys of the VMs at the ends of these paths; None for most of the mesh."""
    ends = np.zeros(len(mesh.members), bool)
    for paths in selected:
        ends |= paths.vms
    if ends.sum() * 2 > ends.size:
        return None
    return [mesh.members[at].key for at in np.flatnonzero(ends)]


def _paths(mesh: MeshState, selection: str) -> SelectedPaths:
    size = len(mesh.members)
    if selection == WHOLE:
        return SelectedPaths(selection, "Whole mesh", np.ones(size, bool), np.ones(size, bool))
    kind, _, rest = selection.partition(":")
    try:
        ids = [UUID(part) for part in rest.split(":")]
        if len(ids) != _ENDS.get(kind):
            raise ValueError
    except ValueError:
        raise ProductError("selection_invalid", 422, f"Invalid selection: {selection[:100]!r}. {_FORM}") from None
    at = {member.id: place for place, member in enumerate(mesh.members)}
    if kind in ("from", "to"):
        return _paths_of_vm(mesh, selection, kind, at.get(ids[0]))
    source, target = ids
    if kind == "path":
        if source == target or source not in at or target not in at:
            raise NotFound("path")
        rows, columns = np.zeros(size, bool), np.zeros(size, bool)
        rows[at[source]] = columns[at[target]] = True
        names = [mesh.members[at[end]].name for end in (source, target)]
    else:
        runs = {run.id: run for run in zone_runs(mesh)}
        if source not in runs or target not in runs:
            raise NotFound("path")
        place = np.arange(size)
        rows, columns = ((place >= run.first) & (place < run.first + run.count) for run in (runs[source], runs[target]))
        names = [runs[source].name, runs[target].name]
    return SelectedPaths(selection, f"{names[0]} → {names[1]}", rows, columns)


def _paths_of_vm(mesh: MeshState, selection: str, kind: str, place: int | None) -> SelectedPaths:
    if place is None:
        raise NotFound("vm")
    one = np.arange(len(mesh.members)) == place
    name = mesh.members[place].name
    if kind == "from":
        return SelectedPaths(selection, f"from {name}", one, ~one)
    return SelectedPaths(selection, f"to {name}", ~one, one)
