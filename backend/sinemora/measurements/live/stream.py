"""Kept events of a mesh: entries of its Redis stream after a position, as the events of a listener."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from redis.asyncio import Redis

from sinemora.measurements.live.publisher import KEPT_EVENTS, STREAMS

Position = tuple[int, int]
"""Id of an entry of a stream; ids of a stream only grow."""

START: Position = (0, 0)
"""Position before the first entry."""

_ID = re.compile(r"(\d{1,20})-(\d{1,20})")


class StreamEntry(NamedTuple):
    """An entry of a stream: its position and its content."""

    position: Position
    content: dict[str, Any]

    @property
    def started_at_s(self) -> int | None:
        """Return the start of the window it announces; None for other events."""
        return None if "event" in self.content else int(self.content["started_at_s"])

    def event(self) -> "Event":
        if "event" in self.content:
            return Event(self.position, self.content["event"], self.content["data"])
        started_at = datetime.fromtimestamp(self.content["started_at_s"], UTC).isoformat().replace("+00:00", "Z")
        names = ("window_s", "revision")
        data = {"started_at": started_at, **{name: self.content[name] for name in names}}
        return Event(self.position, "window", data)


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream. `position` orders the events of a mesh; None when a listener cannot resume after it."""

    position: Position | None
    name: str
    data: dict[str, object]

    def __str__(self) -> str:
        """Return the event as `text/event-stream`."""
        id_line = "" if self.position is None else f"id: {id_of(self.position)}\n"
        return f"{id_line}event: {self.name}\ndata: {json.dumps(self.data)}\n\n"


def reset(position: Position | None) -> Event:
    """Return the event that asks a listener to read all data again."""
    return Event(position, "reset", {"detail": "Missed events are no longer stored: read all data again."})


async def entries_after(client: Redis, mesh_id: str, after: Position) -> list[StreamEntry] | None:
    """Return the entries after a position, oldest first; None if some of them are no longer stored."""
    rows: Any = await client.xrange(f"{STREAMS}{mesh_id}", id_of(after), "+", count=2 * KEPT_EVENTS)
    entries = [
        StreamEntry(position, json.loads(fields[b"data"])) for at, fields in rows if (position := position_of(at))
    ]
    if after == START:  # nothing had been stored: no entry is missing unless the stream was cut since
        return entries if len(entries) < KEPT_EVENTS else None
    # An entry that has left the stream has perhaps taken its successors with it.
    return entries[1:] if entries and entries[0].position == after else None


async def newest(client: Redis, mesh_id: str) -> Position:
    """Return the position of the newest entry."""
    rows: Any = await client.xrevrange(f"{STREAMS}{mesh_id}", count=1)
    return (position_of(rows[0][0]) if rows else None) or START


def each_window_once(entries: Sequence[StreamEntry]) -> list[Event]:
    """Return entries as events, in their order; of each window only the newest."""
    last = {entry.started_at_s: entry.position for entry in entries}
    return [
        entry.event() for entry in entries if entry.started_at_s is None or last[entry.started_at_s] == entry.position
    ]


def position_of(event_id: str | bytes) -> Position | None:
    """Parse an event id; None when it is malformed."""
    match = _ID.fullmatch(event_id.decode() if isinstance(event_id, bytes) else event_id)
    return (int(match[1]), int(match[2])) if match else None


def id_of(position: Position) -> str:
    """Return a position as an event id."""
    return f"{position[0]}-{position[1]}"
