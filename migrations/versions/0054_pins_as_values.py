"""Retention compares measurements with pins by value: measurements may be on other servers than the inventory."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0054_pins_as_values"
down_revision: str | Sequence[str] | None = "0053_zone_minutes"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

FORGET = "forget_measurements_before(text, date)"
# Each part of the definition before and after, and how often it is there. A cluster of Citus would store the kept rows
# by COPY, which row-level security refuses, except for ON CONFLICT; and it reads no subquery without columns.
CHANGES = (
    (
        "'EXISTS (SELECT FROM pins p JOIN meshes m ON m.id = p.mesh_id'\n"
        "                 ' WHERE m.key = f.mesh_key AND",
        "'EXISTS (SELECT 1 FROM unnest($4, $5, $6) AS p(mesh_key, started_at, ended_at)'\n"
        "                 ' WHERE p.mesh_key = f.mesh_key AND",
        1,
    ),
    (
        "    part record;\n",
        "    pinned_meshes integer[];\n    pin_starts timestamptz[];\n    pin_ends timestamptz[];\n    part record;\n",
        1,
    ),
    (
        "    IF chunked THEN\n        chunked :=",
        "    SELECT coalesce(array_agg(m.key), '{}'), coalesce(array_agg(p.started_at), '{}'),\n"
        "           coalesce(array_agg(p.ended_at), '{}') INTO pinned_meshes, pin_starts, pin_ends\n"
        "        FROM pins p JOIN meshes m ON m.id = p.mesh_id WHERE p.started_at < day;\n"
        "    IF chunked THEN\n        chunked :=",
        1,
    ),
    ("part.first, part.last, step", "part.first, part.last, step, pinned_meshes, pin_starts, pin_ends", 5),
    ("SELECT * FROM kept_rows'", "SELECT * FROM kept_rows ON CONFLICT DO NOTHING'", 1),
    ("SELECT EXISTS (SELECT FROM %I", "SELECT EXISTS (SELECT 1 FROM %I", 3),
)


def upgrade() -> None:
    """Read the pins once and pass them to each statement."""
    _change(CHANGES)


def downgrade() -> None:
    """Join the pins again."""
    _change(tuple((after, before, times) for before, after, times in CHANGES))


def _change(changes: Sequence[tuple[str, str, int]]) -> None:
    """Replace parts of the function's definition; its owner and its grants stay."""
    read = sa.text("SELECT pg_get_functiondef(CAST(:name AS regprocedure))")
    definition = str(op.get_bind().scalar(read, {"name": FORGET}))
    for before, after, times in changes:
        if definition.count(before) != times:
            raise RuntimeError(f"{FORGET} has {definition.count(before)} times {before!r}, {times} are expected")
        definition = definition.replace(before, after)
    # By the driver itself: SQLAlchemy would read the percent signs in it as parameters.
    with op.get_bind().connection.cursor() as cursor:
        cursor.execute(definition)
