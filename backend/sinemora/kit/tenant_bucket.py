"""Objects in a bucket that a tenant chose: signed requests, sent by the policy of egress.

Signatures are computed here (obstore). The requests go through `egress_policy`, which refuses networks that the
operator does not allow, follows no redirect and reads a bounded response.
"""

import base64
import hashlib
import re
from collections.abc import Sequence

from sinemora.kit import egress_policy
from sinemora.kit.egress_policy import EgressError, EgressRefused, HttpResponse
from sinemora.kit.object_storage import S3_HINTS, Location, Storage, StorageError
from sinemora.kit.special_networks import Network

_LIMIT_BYTES = 16 << 10
_READ_BYTES = 4 << 20
# Enough for a large part over a slow uplink. Exports read meanwhile: it is less than a transaction may be idle, 60 s.
LIMIT_S = 50.0
"""Time limit of a request, s."""
# Only an error in the form that S3 documents: any other body may be the page of another server.
_CODE = re.compile(rb"<Error>.{0,200}?<Code>([A-Za-z]{1,64})</Code>", re.DOTALL)


class BucketError(Exception):
    """Failed request to the bucket; the message is for the tenant. `retry`: it may succeed later without a change."""

    def __init__(self, message: str, *, retry: bool) -> None:
        super().__init__(message)
        self.retry = retry


class TenantBucket:
    """Client of a bucket at an address that a tenant chose. All methods raise BucketError.

    `limit_s`: time limit of each request, s.
    """

    def __init__(self, location: Location, networks: Sequence[Network], limit_s: float = LIMIT_S) -> None:
        self._name, self._networks, self._ca_file = location.bucket, networks, location.ca_file
        self._limit_s = limit_s
        try:
            self._storage = Storage(location)
        except Exception as error:  # obstore has no class for wrong settings alone
            raise BucketError(f"Invalid bucket: {' '.join(str(error).split())[:200]}", retry=False) from None

    def put(self, key: str, content: bytes) -> None:
        """Store an object, in place of an earlier one. The storage compares its MD5 before it answers."""
        digest = base64.b64encode(hashlib.md5(content, usedforsecurity=False).digest()).decode()
        self._send("PUT", key, content, {"Content-MD5": digest, "Content-Length": str(len(content))})

    def delete(self, key: str) -> None:
        """Delete an object; one that is missing counts as deleted."""
        self._send("DELETE", key, None, {})

    def readable(self, key: str) -> bytes | None:
        """Return an object of at most 4 MiB. None when it is missing, or the key may not read it."""
        response = self._send("GET", key, None, {}, _READ_BYTES)
        return response.body if response.status == 200 else None

    def _send(
        self, method: str, key: str, body: bytes | None, headers: dict[str, str], limit: int = _LIMIT_BYTES
    ) -> HttpResponse:
        response = self._exchange(method, key, body, headers, limit)
        status = response.status
        retry = status >= 500 or status == 429
        if status in (200, 204) or (method == "DELETE" and status == 404 and _code(response.body) == "NoSuchKey"):
            return response
        if method == "GET" and not retry:  # what is wrong with the bucket, the next PUT says
            return response
        raise BucketError(self._reason(method, status, _code(response.body)), retry=retry)

    def _exchange(self, method: str, key: str, body: bytes | None, headers: dict[str, str], limit: int) -> HttpResponse:
        try:
            url = self._storage.signed(method, key)
            return egress_policy.request(
                method, url, self._networks, headers, body, limit, self._limit_s, ca_file=self._ca_file
            )
        except EgressRefused as error:
            raise BucketError(f"Address refused: {error}.", retry=False) from None
        except (EgressError, StorageError) as error:
            raise BucketError(f"Bucket not reached: {error}.", retry=True) from None

    def _reason(self, method: str, status: int, code: str | None) -> str:
        if 300 <= status < 400:
            where = "Check region and endpoint"
            return f"Bucket elsewhere: {self._name} answers {method} with a redirect ({status}). {where}."
        known = f", {S3_HINTS[code]}" if code in S3_HINTS else ""
        return (
            f"Refused by the bucket: {method} in {self._name} answers {status} {code or 'without an S3 error'}{known}."
        )


def _code(body: bytes) -> str | None:
    found = _CODE.search(body)
    return None if found is None else found.group(1).decode()
