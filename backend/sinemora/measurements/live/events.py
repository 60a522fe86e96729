"""Values announced to the listeners of a mesh."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class MeshRevision:
    """Id and revision of a mesh."""

    id: UUID
    revision: int


@dataclass(frozen=True, slots=True)
class WindowSeen:
    """A window of a mesh with new data."""

    mesh: MeshRevision
    started_at_s: int
    window_s: int
