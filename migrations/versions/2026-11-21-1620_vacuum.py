"""Autovacuum by how each table lives: rewritten every window, filled and emptied, or added to until it is dropped."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0012"
down_revision: str | Sequence[str] | None = "0011"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# The newest windows: every row and what it keeps out of line is replaced once a window, so each vacuum has much to
# free, and what is not freed in time stays as bloat. It works without pauses, and gives no pages back to the disk: the
# table needs them again within seconds, and cutting them off takes a lock that stops all who write reports. Nothing is
# planned by their statistics, for they are read by key.
REWRITTEN = {
    "autovacuum_vacuum_scale_factor": "0.05",
    "toast.autovacuum_vacuum_scale_factor": "0.05",
    "autovacuum_vacuum_cost_delay": "0",
    "toast.autovacuum_vacuum_cost_delay": "0",
    "vacuum_truncate": "false",
    "toast.vacuum_truncate": "false",
    "autovacuum_analyze_scale_factor": "10",
}
BEFORE = {"autovacuum_vacuum_scale_factor": "0.1", "toast.autovacuum_vacuum_scale_factor": "0.1"}
# Marks come with each frame and go every 20 s: nearly all the table ever holds is dead.
QUEUE = {
    "autovacuum_vacuum_scale_factor": "0",
    "autovacuum_vacuum_threshold": "1000",
    "autovacuum_vacuum_cost_delay": "0",
    "vacuum_truncate": "false",
}
# Windows and short tiers are only added, and dropped after days. What they keep out of line, nearly all of their bytes,
# need not be visited because it was added: it is never read by index alone, and never grows old enough to be frozen.
# The rows themselves still are, so that they can be counted by index alone.
ADDED = ("probe_frames", "probe_frames_1m", "probe_frames_15m", "zone_frames_1m", "spikes")
OPTION = "toast.autovacuum_vacuum_insert_threshold"

# A partitioned table takes no such settings, and a partition none from another: they are set when it is there, whoever
# made it. The lock is one that neither readers nor writers wait for. Chunks of a hypertable take those of their table.
TUNE = f"""
CREATE FUNCTION tune_measurement_partitions() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    part regclass;
    tuned integer := 0;
BEGIN
    FOR part IN SELECT c.oid::regclass FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                JOIN pg_class p ON p.oid = i.inhparent JOIN pg_class t ON t.oid = c.reltoastrelid
                WHERE p.relname = ANY(ARRAY[{", ".join(f"'{name}'" for name in ADDED)}]) AND p.relkind = 'p'
                AND p.relnamespace = 'public'::regnamespace AND t.reloptions IS NULL ORDER BY 1 LOOP
        EXECUTE format('ALTER TABLE %s SET ({OPTION} = -1)', part);
        tuned := tuned + 1;
    END LOOP;
    RETURN tuned;
END $$;
"""


def upgrade() -> None:
    """Set them; a lock that lets everybody read and write is enough."""
    for table in ("path_latest", "clocks_latest"):
        _set(table, REWRITTEN)
    _set("rollup_marks", QUEUE)
    if _hypertables():
        for table in ADDED:
            _set(table, {OPTION: "-1"})
    op.execute(TUNE)
    op.execute("SELECT tune_measurement_partitions()")


def downgrade() -> None:
    """Back to what was set before; partitions keep what they have until they are dropped."""
    op.execute("DROP FUNCTION tune_measurement_partitions()")
    if _hypertables():
        for table in ADDED:
            _reset(table, {OPTION: "-1"})
    _reset("rollup_marks", QUEUE)
    for table in ("path_latest", "clocks_latest"):
        _reset(table, REWRITTEN)
        _set(table, BEFORE)


def _hypertables() -> bool:
    return bool(
        op.get_bind().scalar(sa.text("SELECT relkind = 'r' FROM pg_class WHERE oid = 'probe_frames'::regclass"))
    )


def _set(table: str, options: dict[str, str]) -> None:
    op.execute(f"ALTER TABLE {table} SET ({', '.join(f'{name} = {value}' for name, value in options.items())})")


def _reset(table: str, options: dict[str, str]) -> None:
    op.execute(f"ALTER TABLE {table} RESET ({', '.join(options)})")
