"""Operations with the tag `api-keys`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class ApiKeysOperations(Calls):
    """Operations with the tag `api-keys`."""

    def delete_api_key(self, api_key_id: str | UUID) -> None:
        """Delete a key of your own (an administrator: any key). It is invalid at once.

        DELETE /v1/api-keys/{api_key_id}, role viewer. Raises `ApiError` with `api_key_unknown`.
        """
        self._json("DELETE", f"/v1/api-keys/{segment(api_key_id)}")

    def delete_own_api_key(self) -> None:
        """Delete the key that sends this request, as a program does that signs out.

        DELETE /v1/api-keys/self, role viewer. Raises `ApiError` with `api_key_unknown`.
        """
        self._json("DELETE", "/v1/api-keys/self")

    def list_api_keys(self) -> Iterator[models.ApiKeyRead]:
        """List the tenant's API keys by name, without their secrets.

        GET /v1/api-keys, role viewer.
        """
        return self._items("/v1/api-keys", {})

    def rotate_api_key(
        self,
        api_key_id: str | UUID,
        body: models.ApiKeyRotate,
        *,
        idempotency_key: str | None = None,
    ) -> models.ApiKeyCreated:
        """Give a key of your own (an administrator: any key) a new secret; the old one stays valid for `overlap_s`.

        POST /v1/api-keys/{api_key_id}/rotate, role viewer. Raises `ApiError` with `api_key_life_invalid`,
        `api_key_unknown`, `conflict`.
        """
        answer: models.ApiKeyCreated = self._json("POST", f"/v1/api-keys/{segment(api_key_id)}/rotate", body=body, idempotency_key=idempotency_key)
        return answer

