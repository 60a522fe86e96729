"""Logins read the waits on their VMs: the view `sinemora_read.host_waits`, made as those of baseline/sql_views.sql."""

from collections.abc import Sequence

from alembic import op

revision: str = "0058_host_waits_in_sql"
down_revision: str | Sequence[str] | None = "0057_contracts"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_VIEW = """
    CREATE VIEW sinemora_read.host_waits WITH (security_barrier) AS
    SELECT w.started_at AS time,
           v.name AS vm,
           z.name AS zone,
           w.window_s,
           w.host_elapsed_ms AS elapsed_ms,
           w.processors,
           w.wake_count, w.wake_p50_us, w.wake_p99_us, w.wake_max_us,
           w.receive_count, w.receive_p50_us, w.receive_p99_us, w.receive_max_us,
           w.send_count, w.send_p50_us, w.send_p99_us, w.send_max_us,
           w.queue_count, w.queue_p50_us, w.queue_p99_us, w.queue_max_us,
           w.stalled_us,
           w.steal_ms,
           w.pressure_us,
           w.throttled_us,
           w.softirq_squeezed,
           w.receive_drops,
           v.id AS vm_id,
           z.id AS zone_id
    FROM public.vm_traffic w
    JOIN public.vms v ON v.key = w.vm_key
    JOIN public.zones z ON z.id = v.zone_id
    WHERE w.host_elapsed_ms IS NOT NULL
        AND w.tenant_key = (
            SELECT t.key FROM public.tenants t JOIN public.sql_logins l ON l.tenant_id = t.id
            WHERE l.role = session_user::text)
        AND (v.tenant_id, z.tenant_id) = (
            SELECT l.tenant_id, l.tenant_id FROM public.sql_logins l WHERE l.role = session_user::text)
"""


def upgrade() -> None:
    """Add the view. Grants at the next start let logins read it."""
    op.execute(_VIEW)


def downgrade() -> None:
    """Drop the view."""
    op.execute("DROP VIEW sinemora_read.host_waits")
