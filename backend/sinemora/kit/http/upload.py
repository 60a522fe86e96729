"""Uploads: bodies too large for memory, stored in a temporary file during a request."""

import hashlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile

from fastapi import Request
from starlette.concurrency import run_in_threadpool

_IN_MEMORY_BYTES = 1 << 20
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class Upload:
    """Body that has been received completely."""

    file: "SpooledTemporaryFile[bytes]"
    size_bytes: int
    sha256: bytes

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes, at most a MiB at a time."""
        self.file.seek(0)
        while piece := self.file.read(_PIECE_BYTES):
            yield piece


async def uploaded(request: Request) -> AsyncIterator[Upload]:
    """Yield the body of a request, for the duration of the request. Declare it before `Idempotency-Key`."""
    digest, size, held = hashlib.sha256(), 0, bytearray()
    with SpooledTemporaryFile(_IN_MEMORY_BYTES) as file:

        def keep(piece: bytes) -> None:
            digest.update(piece)
            file.write(piece)

        # In large pieces and on a thread: other requests have the event loop meanwhile.
        async for part in request.stream():
            size += len(part)
            held += part
            if len(held) >= _PIECE_BYTES:
                await run_in_threadpool(keep, bytes(held))
                held.clear()
        await run_in_threadpool(keep, bytes(held))
        request.state.upload = Upload(file, size, digest.digest())
        yield request.state.upload
