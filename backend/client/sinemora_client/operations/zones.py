"""Operations with the tag `zones`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID
from typing import Literal

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class ZonesOperations(Calls):
    """Operations with the tag `zones`."""

    def create_zone(self, body: models.ZoneCreate, *, idempotency_key: str | None = None) -> models.ZoneRead:
        """Create a zone.

        POST /v1/zones, role editor. Raises `ApiError` with `conflict`, `zone_name_taken`.
        """
        answer: models.ZoneRead = self._json("POST", "/v1/zones", body=body, idempotency_key=idempotency_key)
        return answer

    def delete_zone(self, zone_id: str | UUID, *, version: int | Literal["*"] | None = None) -> None:
        """Delete a zone without VMs.

        DELETE /v1/zones/{zone_id}, role editor. Raises `ApiError` with `conflict`, `if_match_weak`,
        `version_changed`, `zone_in_use`, `zone_unknown`.
        """
        self._json("DELETE", f"/v1/zones/{segment(zone_id)}", version=version)

    def list_zones(self) -> Iterator[models.ZoneRead]:
        """List the tenant's zones by name.

        GET /v1/zones, role viewer.
        """
        return self._items("/v1/zones", {})

    def read_zone(self, zone_id: str | UUID) -> models.ZoneRead:
        """Return a zone.

        GET /v1/zones/{zone_id}, role viewer. Raises `ApiError` with `zone_unknown`.
        """
        answer: models.ZoneRead = self._json("GET", f"/v1/zones/{segment(zone_id)}")
        return answer

    def update_zone(
        self,
        zone_id: str | UUID,
        body: models.ZoneUpdate,
        *,
        version: int | Literal["*"],
    ) -> models.ZoneRead:
        """Change a zone.

        PATCH /v1/zones/{zone_id}, role editor. Raises `ApiError` with `conflict`, `if_match_required`,
        `if_match_weak`, `version_changed`, `zone_name_taken`, `zone_unknown`.
        """
        answer: models.ZoneRead = self._json("PATCH", f"/v1/zones/{segment(zone_id)}", body=body, version=version)
        return answer

