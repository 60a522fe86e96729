"""Operations with the tag `pins`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class PinsOperations(Calls):
    """Operations with the tag `pins`."""

    def create_pin(self, body: models.PinCreate, *, idempotency_key: str | None = None) -> models.PinRead:
        """Create a pin: retention does not delete the measurements of its range.

        POST /v1/pins, role editor. Raises `ApiError` with `conflict`, `mesh_unknown`, `pin_too_long`,
        `pins_too_many`, `range_invalid`.
        """
        answer: models.PinRead = self._json("POST", "/v1/pins", body=body, idempotency_key=idempotency_key)
        return answer

    def delete_pin(self, pin_id: str | UUID) -> None:
        """Delete a pin. The next sweep of retention deletes its range.

        DELETE /v1/pins/{pin_id}, role editor. Raises `ApiError` with `pin_unknown`.
        """
        self._json("DELETE", f"/v1/pins/{segment(pin_id)}")

    def list_pins(self, *, mesh_id: str | UUID | None = None) -> Iterator[models.PinRead]:
        """List the pins, latest range first.

        GET /v1/pins, role viewer. Raises `ApiError` with `mesh_unknown`.
        """
        return self._items("/v1/pins", {"mesh_id": mesh_id})

    def read_pin(self, pin_id: str | UUID) -> models.PinRead:
        """Return a pin.

        GET /v1/pins/{pin_id}, role viewer. Raises `ApiError` with `pin_unknown`.
        """
        answer: models.PinRead = self._json("GET", f"/v1/pins/{segment(pin_id)}")
        return answer

