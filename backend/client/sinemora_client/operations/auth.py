"""Operations with the tag `auth`.

Generated from the contract by `make gen`; do not edit.
"""


from sinemora_client import models
from sinemora_client.calls import Calls


class AuthOperations(Calls):
    """Operations with the tag `auth`."""

    def read_session(self) -> models.SessionRead:
        """Return the signed-in user. For an API key, `user` is the key and there is no CSRF token.

        GET /v1/auth/session, role viewer.
        """
        answer: models.SessionRead = self._json("GET", "/v1/auth/session")
        return answer

    def sign_out(self, *, idempotency_key: str | None = None) -> None:
        """End this browser session. An API key stays valid.

        POST /v1/auth/sign-out, role viewer. Raises `ApiError` with `conflict`.
        """
        self._json("POST", "/v1/auth/sign-out", idempotency_key=idempotency_key)

