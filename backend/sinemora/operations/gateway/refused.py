"""Reports that the backend refused for ever, kept in a folder with the reason for people to look at."""

import os
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import structlog

from sinemora.operations.gateway import metrics
from sinemora.operations.gateway.disk_queue import Queued

log = structlog.get_logger(__name__)

_REPORTS_MAX = 10_000
_BYTES_MAX = 256 << 20


class RefusedReports:
    """Folder of refused reports: `NAME.report` is the body as the agent sent it, `NAME.why` the reason.

    The oldest are deleted beyond 10,000 reports or 256 MiB, except the newest one.
    """

    def __init__(self, folder: Path, reports_max: int = _REPORTS_MAX, bytes_max: int = _BYTES_MAX) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        self._folder = folder
        self._reports_max = reports_max
        self._bytes_max = bytes_max
        self._lock = threading.Lock()

    def keep(self, report: Queued, why: str) -> Path:
        """Store a report and its reason; return once both are on the disk. Raises OSError."""
        queued = datetime.fromtimestamp(report.queued_at, UTC).isoformat(timespec="milliseconds")
        now = time.time()
        refused = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
        reason = (
            f"{why}\ncredential: {report.prefix}…\nqueued: {queued}\nrefused: {refused}\n"
            f"Content-Type: {report.body.media_type}\nContent-Encoding: {report.body.encoding}\n"
        )
        with self._lock:
            path = self._folder / f"{int(now * 1000):013}-{report.id}.report"
            _write(path.with_suffix(".why"), reason.encode())
            _write(path, report.body.content)
            _synchronise(self._folder)
            self._shorten()
        return path

    def _shorten(self) -> None:
        kept, size, deleted = 0, 0, 0
        for path in sorted(self._folder.glob("*.report"), reverse=True):
            kept, size = kept + 1, size + path.stat().st_size
            if kept > 1 and (kept > self._reports_max or size > self._bytes_max):
                path.unlink()
                path.with_suffix(".why").unlink(missing_ok=True)
                deleted += 1
        if deleted:
            metrics.REFUSED_DELETED.inc(deleted)
            log.warning(
                "the oldest refused reports are deleted: the folder is full",
                deleted=deleted,
                folder=str(self._folder),
                reports_max=self._reports_max,
                bytes_max=self._bytes_max,
            )


def _write(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _synchronise(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
