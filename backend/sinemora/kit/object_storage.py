"""Objects of the installation in storage with the S3 API.

The client is obstore, which is imported only where storage is used: its threads would not survive a fork.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sinemora.kit.config import settings

_LIMIT = timedelta(seconds=60)
_ANSWER_LIMIT = timedelta(seconds=20)
"""Limit of a read that a query waits for: well below the idle time after which the database ends its transaction."""
_CONNECT_LIMIT = timedelta(seconds=3)
_RETRY_LIMIT = timedelta(seconds=15)
_RETRIES = 2
# As rustls prints it: UnknownIssuer, Expired, NotValidForName…
_CERTIFICATE = re.compile(r"InvalidCertificate\(\s*(\w+)")
_CODE = re.compile(r"<Code>([A-Za-z]{1,64})</Code>")
_MISSING = ("NoSuchKey", "NoSuchVersion", "NotFound")
# Meaning of error codes of the S3 API.
_S3_HINTS = {
    "AccessDenied": "the key may not do this",
    "InvalidAccessKeyId": "the access key is unknown",
    "XAdminUserNotFound": "the access key is unknown",  # versitygw
    "SignatureDoesNotMatch": "the secret does not belong to the access key, or the region is wrong",
    "NoSuchBucket": "the bucket does not exist",
    "RequestTimeTooSkewed": "the clocks of this installation and of the storage differ too much",
}


class StorageError(Exception):
    """Failed request to the storage; the message is for operators."""


class ObjectMissing(StorageError):
    """Object that the storage does not have."""


@dataclass(frozen=True, slots=True)
class Location:
    """Bucket of a storage, with the keys for it. Without an endpoint it is that of Amazon S3.

    `ca_file`: a PEM file of authorities to trust, as the system's are trusted.
    """

    endpoint: str
    bucket: str
    region: str
    access_key: str
    secret_key: str
    ca_file: Path | None = None


@dataclass(frozen=True, slots=True)
class StoredObject:
    """Object as a list shows it."""

    key: str
    size: int


class Storage:
    """Client of one bucket. All methods raise StorageError."""

    def __init__(self, location: Location) -> None:
        self.bucket = location.bucket
        self._store = _client(location, _LIMIT)
        self._answering = _client(location, _ANSWER_LIMIT)

    def put(self, key: str, content: bytes | Path) -> None:
        """Store bytes or a file as an object, in place of an earlier one; a large file in parts."""
        self._call("put", key, self._store.put, key, content)

    def get(self, key: str) -> bytes:
        """Return an object. ObjectMissing."""
        return bytes(self._call("get", key, self._store.get, key).bytes())

    def download(self, key: str, target: Path) -> None:
        """Write an object into a file, part by part. ObjectMissing."""

        def copy() -> None:
            with target.open("wb") as file:
                for part in self._store.get(key).stream():
                    file.write(part)

        self._call("get", key, copy)

    def get_ranges(self, key: str, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes [start, end) of an object, as few requests as serve, within 20 s. ObjectMissing."""
        if not ranges:
            return []
        starts, ends = zip(*ranges, strict=True)
        found = self._call("get", key, self._answering.get_ranges, key, starts=list(starts), ends=list(ends))
        return [bytes(one) for one in found]

    def delete(self, key: str) -> None:
        """Delete an object; one that is missing counts as deleted."""
        with suppress(ObjectMissing):
            self._call("delete", key, self._store.delete, key)

    def list(self, prefix: str) -> list[StoredObject]:
        """Return the objects below a prefix, which ends with a whole part of keys."""
        found = self._call("list", prefix, lambda: self._store.list(prefix).collect())
        return [StoredObject(one["path"], one["size"]) for one in found]

    def _call(self, action: str, key: str, function: Any, *arguments: Any, **options: Any) -> Any:
        from obstore.exceptions import BaseError, NotFoundError

        try:
            return function(*arguments, **options)
        except (BaseError, OSError, ValueError) as error:
            code = _CODE.search(str(error))
            if code and code[1] not in _MISSING:  # a missing bucket answers 404, too
                hint = _S3_HINTS.get(code[1])
                raise StorageError(
                    f"cannot {action} {key} in bucket {self.bucket}: {code[1]}{f', {hint}' if hint else ''}"
                ) from None
            if isinstance(error, NotFoundError | FileNotFoundError):
                raise ObjectMissing(f"{key} is missing in bucket {self.bucket}") from None
            # The cause comes last, after the request with its whole URL.
            reason = " ".join(str(error).partition("Debug source")[0].rpartition(" - ")[2].split())[:300]
            if certificate := _CERTIFICATE.search(str(error)):
                reason += f": invalid certificate, {certificate[1]} (SINEMORA_STORAGE_CA_FILE: authorities to trust)"
            raise StorageError(f"cannot {action} {key} in bucket {self.bucket}: {reason}") from None


def _client(location: Location, limit: timedelta) -> Any:
    """Return the client of a bucket whose requests take at most `limit`."""
    from obstore.store import S3Store

    return S3Store(
        location.bucket,
        access_key_id=location.access_key,
        secret_access_key=location.secret_key,
        region=location.region,
        endpoint=location.endpoint or f"https://s3.{location.region}.amazonaws.com",
        client_options={
            "allow_http": urlsplit(location.endpoint).scheme == "http",
            "timeout": limit,
            "connect_timeout": _CONNECT_LIMIT,
            **({} if location.ca_file is None else {"root_certificate": location.ca_file.read_bytes()}),
        },
        retry_config={"max_retries": _RETRIES, "retry_timeout": _RETRY_LIMIT},
    )


_storages: dict[Location, Storage] = {}


def storage_of(location: Location) -> Storage:
    """Return the client of a location; each process keeps one."""
    found = _storages.get(location)
    if found is None:
        found = _storages[location] = Storage(location)
    return found


def installation_storage() -> Storage:
    """Return the storage of the settings. StorageError when none is set."""
    config = settings()
    if not config.storage_bucket or config.storage_secret_key is None:
        raise StorageError("no storage is set: SINEMORA_STORAGE_BUCKET names its bucket")
    return storage_of(
        Location(
            config.storage_endpoint,
            config.storage_bucket,
            config.storage_region,
            config.storage_access_key,
            config.storage_secret_key.get_secret_value(),
            config.storage_ca_file,
        )
    )
