"""Errors in the logs of a product, by kind, each with the time when it was read."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.soak.outages import Injected, fault_at

_BEGINS = "Traceback (most recent call last):"
_CHAINED = ("During handling of the above exception", "The above exception was the direct cause")
_NAME = re.compile(r"^([A-Za-z_][\w.]*)(?::|$)")
_LEVEL = re.compile(
    r"(?:\[(error|critical)\s*\]|: (ERROR|CRITICAL)/|\b(ERROR|FATAL|PANIC):  |\"level\": ?\"(error|critical)\")"
)
_CONNECTION = {
    *("OperationalError", "InterfaceError", "AdminShutdown", "CrashShutdown", "CannotConnectNow", "ConnectionFailure"),
    *("ConnectionError", "ConnectionRefusedError", "ConnectionResetError", "BrokenPipeError", "BusyLoadingError"),
    *("TimeoutError", "ConnectionTimeout", "ServerDisconnectedError", "PoolTimeout", "URLError"),
    *("StorageUnavailable", "ClientConnectorError", "EndpointConnectionError"),
}
_TAIL_LINES = 40


@dataclass(frozen=True)
class LogError:
    """A traceback (`text`: its lines) or a line of an error (`text`: the line) in the log of a process."""

    at: float
    process: str
    kind: str
    text: str
    is_traceback: bool


@dataclass
class LogReader:
    """Reader of all logs in some folders; `read` returns the errors that were written since the call before."""

    folders: Sequence[Path]
    _read_to: dict[Path, int] = field(default_factory=dict)

    def read(self, at: float) -> list[LogError]:
        """Return the new errors; `at` is the time now."""
        found = []
        for folder in self.folders:
            for path in sorted(folder.glob("*.log")):
                found += errors_of(self._fresh(path), at, path.stem)
        return found

    def _fresh(self, path: Path) -> list[str]:
        """Return the complete lines since the last call. A rotated log begins again, and its end is in the copy."""
        read_to, size = self._read_to.get(path, 0), path.stat().st_size
        rest = b""
        if size < read_to:
            rest = path.with_name(f"{path.name}.1").read_bytes()[read_to:]
            read_to = 0
        with path.open("rb") as log:
            log.seek(read_to)
            fresh = log.read()
        # The lines of a traceback are written together; one that is not complete yet waits for the next call.
        complete = fresh.rfind(b"\n") + 1
        self._read_to[path] = read_to + complete
        return (rest + fresh[:complete]).decode(errors="replace").splitlines()


def errors_of(lines: Sequence[str], at: float, process: str) -> list[LogError]:
    """Return the errors in lines of a log. Chained tracebacks are one, of the kind of the last exception."""
    return list(_errors(lines, at, process))


def _errors(lines: Sequence[str], at: float, process: str) -> Iterator[LogError]:
    number = 0
    while number < len(lines):
        line = lines[number]
        if line.strip().endswith(_BEGINS):
            number, kind, text = _traceback(lines, number)
            yield LogError(at, process, kind, text, is_traceback=True)
        elif level := _LEVEL.search(line):
            yield LogError(at, process, next(filter(None, level.groups())).upper(), line, is_traceback=False)
            number += 1
        else:
            number += 1


def _traceback(lines: Sequence[str], begin: int) -> tuple[int, str, str]:
    """Return where a traceback (with those chained to it) ends, the last exception's name, and its last lines."""
    number, kind, prefix = begin + 1, "unknown", len(lines[begin]) - len(lines[begin].lstrip())
    while number < len(lines):
        line = lines[number][prefix:]
        if line.startswith(" ") or not line.strip():
            number += 1  # a frame, or an empty line between chained ones
            continue
        if named := _NAME.match(line):
            kind = named[1].rsplit(".", 1)[-1]
            number += 1
        rest = number
        while rest < len(lines) and not lines[rest].strip():
            rest += 1
        if rest < len(lines) and lines[rest].strip().startswith(_CHAINED):
            number = next((i for i in range(rest, len(lines)) if lines[i].strip().endswith(_BEGINS)), rest) + 1
            continue
        break
    return number, kind, "\n".join(lines[begin:number][-_TAIL_LINES:])


def unexplained(errors: Sequence[LogError], injected: Sequence[Injected]) -> list[LogError]:
    """Return the tracebacks that no fault explains: a fault explains failed connections while it lasts."""
    return [
        one
        for one in errors
        if one.is_traceback and (one.kind not in _CONNECTION or fault_at(one.at, injected) is None)
    ]


def by_kind(errors: Sequence[LogError], injected: Sequence[Injected]) -> dict[str, int]:
    """Return the number of errors by process, kind and fault."""
    names = (f"{one.process} {one.kind} ({fault_at(one.at, injected) or 'no fault'})" for one in errors)
    return dict(Counter(names).most_common())
