"""JSON schemas of embed links."""

from datetime import datetime
from typing import Annotated, Self
from uuid import UUID

from pydantic import AwareDatetime, Field, model_validator

from sinemora.kit.names import Name
from sinemora.kit.schemas import Read, Write
from sinemora.overview.embeds.models import EmbeddedView
from sinemora.overview.schemas import AlertTimeliness


class EmbedLinkCreate(Write):
    """Link to create. A path has both VMs, other views have none."""

    name: Annotated[Name, Field(description="One line")]
    view: EmbeddedView
    mesh_id: UUID
    source_vm_id: UUID | None = None
    target_vm_id: UUID | None = None
    expires_at: AwareDatetime | None = None

    @model_validator(mode="after")
    def _ends(self) -> Self:
        is_path = self.view is EmbeddedView.PATH
        if (self.source_vm_id is not None, self.target_vm_id is not None) != (is_path, is_path):
            raise ValueError("a path has source_vm_id and target_vm_id, other views have neither")
        if is_path and self.source_vm_id == self.target_vm_id:
            raise ValueError("a path has two VMs")
        return self


class EmbeddedMesh(Read):
    """Mesh of a link."""

    id: UUID
    name: str
    window_s: int


class EmbedRead(Read):
    """The view that a link shows, for the page that shows it."""

    name: str
    view: EmbeddedView
    mesh: EmbeddedMesh
    source_vm_id: UUID | None
    target_vm_id: UUID | None
    expires_at: datetime


class EmbedShown(EmbedRead):
    """The view that a link shows, and whether the alerts of its mesh are in time; null while nobody knows."""

    alerts: AlertTimeliness | None


class EmbedLinkRead(EmbedRead):
    """Link without its token. `last_used_at` is exact to a minute."""

    id: UUID
    prefix: str
    created_by: str
    created_at: datetime
    last_used_at: datetime | None


class EmbedLinkCreated(EmbedLinkRead):
    """New link. `token` is shown only once; the page is `/embed#token`."""

    token: str
