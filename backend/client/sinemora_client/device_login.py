"""Login of a device without a browser (RFC 8628): a person confirms a code, and the device gets an API key."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sinemora_client.client import Client
from sinemora_client.errors import ApiError, SinemoraError, Unreachable
from sinemora_client.profiles import Profile

_GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"
_SLOWER_S = 5


class LoginRefused(SinemoraError):
    """Login that a person refused, or that nobody confirmed in time. `code` is that of the API's problem."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Login:
    """Login that waits for a person: show them `user_code` and `verification_uri`, then `wait_for_key`."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str
    expires_in_s: int
    interval_s: int


def begin(url: str, device_name: str, scope: str = "write") -> Login:
    """Begin a login at an installation; `scope` is `read` or `write`. Raises `ApiError`, `Unreachable`."""
    with Client(url, "") as client:
        body = {"device_name": device_name, "scope": scope}
        answer: dict[str, Any] = client.request("POST", "/v1/device-logins", body=body).json()
    return Login(
        device_code=answer["device_code"],
        user_code=answer["user_code"],
        verification_uri=answer["verification_uri"],
        verification_uri_complete=answer["verification_uri_complete"],
        expires_in_s=answer["expires_in"],
        interval_s=answer["interval"],
    )


def wait_for_key(url: str, login: Login, sleep: Callable[[float], None] = time.sleep) -> Profile:
    """Ask every `interval_s` until a person has decided; return the profile with the key. Raises `LoginRefused`."""
    interval_s = login.interval_s
    left_s = float(login.expires_in_s)
    body = {"grant_type": _GRANT_TYPE, "device_code": login.device_code}
    with Client(url, "") as client:
        while left_s > 0:
            sleep(interval_s)
            left_s -= interval_s
            try:
                answer: dict[str, Any] = client.request("POST", "/v1/device-logins/tokens", body=body).json()
            except Unreachable:
                interval_s *= 2  # RFC 8628, 3.5
            except ApiError as error:
                if error.code == "slow_down":
                    interval_s += _SLOWER_S
                elif error.code in ("access_denied", "expired_token"):
                    raise LoginRefused(error.code, error.detail) from None
                elif error.code != "authorization_pending":
                    raise
            else:
                return Profile(
                    url=client.url,
                    key=answer["access_token"],
                    person=answer["email"],
                    tenant=answer["tenant_name"],
                    expires_at=answer["expires_at"],
                )
    raise LoginRefused("expired_token", "Login expired: nobody confirmed the code in time.")
