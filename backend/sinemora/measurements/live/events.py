"""Announcements to those who watch a mesh."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class MeshRevision:
    """A mesh as others know it."""

    id: UUID
    revision: int


@dataclass(frozen=True, slots=True)
class WindowSeen:
    """A window of a mesh that has new data; told to those who watch the mesh."""

    mesh: MeshRevision
    started_at_s: int
    window_s: int
