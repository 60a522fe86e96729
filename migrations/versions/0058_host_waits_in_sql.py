"""Recommendations end with their incident, with a newer one or with their time; contracts; versions of what two save.

Recommendations: the incident that they are for, until when they can be applied, and three states in which they ended by
themselves. Applications: contracts, moves a day, and the account of each quarter of an hour. Versions: capacities of
VMs, schedules of recommendations, price bases, token buckets. Logins read the waits on their VMs: the view
`sinemora_read.host_waits`, made as those of baseline/sql_views.sql.
"""

from collections.abc import Sequence

from alembic import op

from sinemora.kit.row_policies import own_rows

revision: str = "0058_host_waits_in_sql"
down_revision: str | Sequence[str] | None = "0056_bad_days"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_STATES = "'proposed', 'accepted', 'applied', 'verified', 'undone', 'dismissed'"
_OVER = "'withdrawn', 'superseded', 'expired'"
_QUARTERS = """
    CREATE TABLE application_quarters (
        tenant_id uuid NOT NULL,
        application_id uuid NOT NULL,
        started_at timestamptz NOT NULL,
        measured_s integer NOT NULL,
        kept_s integer NOT NULL,
        CONSTRAINT pk_application_quarters PRIMARY KEY (application_id, started_at),
        CONSTRAINT fk_application_quarters_tenant_id_tenants FOREIGN KEY (tenant_id)
            REFERENCES tenants (id) ON DELETE CASCADE,
        CONSTRAINT fk_application_quarters_tenant_id_application_id_applications FOREIGN KEY (tenant_id, application_id)
            REFERENCES applications (tenant_id, id) ON DELETE CASCADE,
        CONSTRAINT ck_application_quarters_kept_s CHECK (kept_s BETWEEN 0 AND measured_s)
    )
"""
_CONTRACTS = """
    ALTER TABLE applications ADD COLUMN kept_share double precision, ADD COLUMN moves_per_day integer,
        ADD CONSTRAINT ck_applications_kept_share
            CHECK (kept_share IS NULL OR (kept_share > 0 AND kept_share < 1 AND objective IS NOT NULL)),
        ADD CONSTRAINT ck_applications_moves_per_day CHECK (moves_per_day >= 0)
"""
_VERSIONED = (
    "vm_capacities",
    "recommendation_schedules",
    "price_bases",
    "token_buckets",
)
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
    """Add what is kept. Defaults hold for rows that are there. Grants at the next start let logins read the view."""
    op.execute("ALTER TABLE recommendations ADD COLUMN incident_id uuid, ADD COLUMN expires_at timestamptz")
    _allow_states(f"{_STATES}, {_OVER}")
    op.execute(_CONTRACTS)
    op.execute(_QUARTERS)
    op.execute(own_rows("application_quarters"))
    for table in _VERSIONED:
        # Rows that are there have a version; new ones are given theirs.
        op.execute(f"ALTER TABLE {table} ADD COLUMN version integer NOT NULL DEFAULT 1")
    op.execute(_VIEW)


def downgrade() -> None:
    """Drop what was added; recommendations that ended by themselves were dismissed."""
    op.execute("DROP VIEW sinemora_read.host_waits")
    for table in _VERSIONED:
        op.execute(f"ALTER TABLE {table} DROP COLUMN version")
    op.execute("DROP TABLE application_quarters")
    op.execute("ALTER TABLE applications DROP COLUMN kept_share, DROP COLUMN moves_per_day")
    # Row-level security hides the rows of all tenants from the owner of the table.
    op.execute("ALTER TABLE recommendations NO FORCE ROW LEVEL SECURITY")
    op.execute(f"UPDATE recommendations SET state = 'dismissed' WHERE state IN ({_OVER})")
    op.execute("ALTER TABLE recommendations FORCE ROW LEVEL SECURITY")
    _allow_states(_STATES)
    op.execute("ALTER TABLE recommendations DROP COLUMN incident_id, DROP COLUMN expires_at")


def _allow_states(states: str) -> None:
    """Replace the states of recommendations that the table takes."""
    op.execute("ALTER TABLE recommendations DROP CONSTRAINT ck_recommendations_state")
    op.execute(f"ALTER TABLE recommendations ADD CONSTRAINT ck_recommendations_state CHECK (state IN ({states}))")
