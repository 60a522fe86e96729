"""Names of objects in the bucket, and the manifest of a day. Pure.

    PREFIX/mesh=ID/table=zones_1m/day=2026-11-20/r0001-0001.parquet     first part of the first revision
    PREFIX/mesh=ID/table=zones_1m/day=2026-11-20/manifest.json          the parts that are valid
    PREFIX/last-run.json                                                time and result of the newest whole run

A day that has changed is written again as a new revision; then its manifest names the new parts, then the old parts are
deleted. A reader that follows the manifest sees each row once at any time.
"""

import json
from dataclasses import asdict, dataclass
from datetime import date, datetime
from uuid import UUID

MANIFEST = "manifest.json"
LAST_RUN = "last-run.json"


@dataclass(frozen=True, slots=True)
class Part:
    """Object with some rows of a day; `name` is relative to the folder of the day."""

    name: str
    rows: int
    bytes: int
    sha256: str


def under(prefix: str, name: str) -> str:
    """Return the name of an object below the prefix."""
    return f"{prefix}/{name}" if prefix else name


def folder(prefix: str, mesh_id: UUID, table: str, day: date) -> str:
    """Return the folder of a day; partitions are named as Hive does, which most engines read."""
    return under(prefix, f"mesh={mesh_id}/table={table}/day={day.isoformat()}")


def part_name(revision: int, number: int) -> str:
    """Return the name of a part in the folder of its day; `number` counts from 1."""
    return f"r{revision:04}-{number:04}.parquet"


def manifest(
    mesh_id: UUID, mesh_name: str, table: str, day: date, revision: int, written_at: datetime, parts: list[Part]
) -> bytes:
    content = {
        "format": 1,
        "mesh_id": str(mesh_id),
        "mesh": mesh_name,
        "table": table,
        "day": day.isoformat(),
        "revision": revision,
        "written_at": _rfc3339(written_at),
        "rows": sum(part.rows for part in parts),
        "parts": [asdict(part) for part in parts],
    }
    return json.dumps(content, indent=2, ensure_ascii=False).encode() + b"\n"


def revision_of(content: bytes, mesh_id: UUID, table: str, day: date) -> tuple[int, int]:
    """Return the revision of a manifest and the number of its parts; zeros when it is not the manifest of this day."""
    try:
        found = json.loads(content)
        of = found["mesh_id"], found["table"], found["day"]
        revision, names = int(found["revision"]), [part["name"] for part in found["parts"]]
    except (ValueError, TypeError, KeyError):
        return 0, 0
    expected = [part_name(revision, number) for number in range(1, len(names) + 1)]
    is_ours = of == (str(mesh_id), table, day.isoformat()) and revision > 0 and names == expected
    return (revision, len(names)) if is_ours else (0, 0)


def last_run(finished_at: datetime, totals: dict[str, int]) -> bytes:
    """Return the object that shows how fresh the bucket is."""
    return json.dumps({"format": 1, "finished_at": _rfc3339(finished_at), **totals}, indent=2).encode() + b"\n"


def _rfc3339(at: datetime) -> str:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")
