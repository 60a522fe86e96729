"""Operations with the tag `embed links`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class EmbedLinksOperations(Calls):
    """Operations with the tag `embed links`."""

    def create_embed_link(
        self,
        body: models.EmbedLinkCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.EmbedLinkCreated:
        """Create a link to one view of a mesh for readers without an account. Only this response contains its token.

        POST /v1/embed-links, role editor. Raises `ApiError` with `conflict`, `embed_link_life_invalid`,
        `embed_links_too_many`, `mesh_unknown`, `vm_unknown`.
        """
        answer: models.EmbedLinkCreated = self._json("POST", "/v1/embed-links", body=body, idempotency_key=idempotency_key)
        return answer

    def list_embed_links(self) -> Iterator[models.EmbedLinkRead]:
        """List embed links, newest first, without their tokens.

        GET /v1/embed-links, role viewer.
        """
        return self._items("/v1/embed-links", {})

    def read_embed(self) -> models.EmbedRead:
        """Return the view that the caller's link shows; for its token `sme_…`, sent like an API key.

        GET /v1/embed, role viewer. Raises `ApiError` with `embed_link_unknown`.
        """
        answer: models.EmbedRead = self._json("GET", "/v1/embed")
        return answer

    def revoke_embed_link(self, link_id: str | UUID) -> None:
        """Revoke an embed link. It is invalid at once.

        DELETE /v1/embed-links/{link_id}, role editor. Raises `ApiError` with `embed_link_unknown`.
        """
        self._json("DELETE", f"/v1/embed-links/{segment(link_id)}")

