"""Operations with the tag `enrolment`.

Generated from the contract by `make gen`; do not edit.
"""

from collections.abc import Iterator
from uuid import UUID

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class EnrolmentOperations(Calls):
    """Operations with the tag `enrolment`."""

    def create_enrolment_token(
        self,
        body: models.EnrolmentTokenCreate,
        *,
        idempotency_key: str | None = None,
    ) -> models.EnrolmentTokenCreated:
        """Create an enrolment token of a mesh. Only this response contains the token and the command to run on each
        VM.

        POST /v1/enrolment-tokens, role editor. Raises `ApiError` with `conflict`, `mesh_unknown`.
        """
        answer: models.EnrolmentTokenCreated = self._json("POST", "/v1/enrolment-tokens", body=body, idempotency_key=idempotency_key)
        return answer

    def delete_enrolment_token(self, token_id: str | UUID) -> None:
        """Delete an enrolment token. Agents that used it stay.

        DELETE /v1/enrolment-tokens/{token_id}, role editor. Raises `ApiError` with `enrolment_token_unknown`.
        """
        self._json("DELETE", f"/v1/enrolment-tokens/{segment(token_id)}")

    def list_enrolment_tokens(self) -> Iterator[models.EnrolmentTokenRead]:
        """List the tenant's enrolment tokens, newest first.

        GET /v1/enrolment-tokens, role viewer.
        """
        return self._items("/v1/enrolment-tokens", {})

