"""Operations with the tag `saved views`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class SavedViewsOperations(Calls):
    """Operations with the tag `saved views`."""

    def create_saved_view(
        self,
        body: models.SavedViewCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.SavedViewRead:
        """Save a page of the console under a name, for everyone of the tenant.

        POST /v1/saved-views, role editor. Raises `ApiError` with `conflict`, `saved_view_exists`,
        `saved_views_too_many`.
        """
        answer: models.SavedViewRead = self._json("POST", "/v1/saved-views", body=body, idempotency_key=idempotency_key)
        return answer

    def delete_saved_view(self, view_id: str | UUID) -> None:
        """Delete a saved view.

        DELETE /v1/saved-views/{view_id}, role editor. Raises `ApiError` with `saved_view_unknown`.
        """
        self._json("DELETE", f"/v1/saved-views/{segment(view_id)}")

    def list_saved_views(self) -> Iterator[models.SavedViewRead]:
        """List saved views by name.

        GET /v1/saved-views, role viewer.
        """
        return self._items("/v1/saved-views", {})

