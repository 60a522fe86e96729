"""What is kept for bad days, contracts of applications, versions of what two save, and waits on VMs for SQL logins.

Evaluation of alerts: when the newest window of a block was received; for each mesh the newest reported window, the
lateness of its reports, the ranges of late windows that still have to be evaluated, and windows left out.
Agents: when they stopped in order, and when they last started; meshes: after how long a VM that is gone is removed.
Traffic: waits on the VM are columns of its windows; a VM whose traffic nobody counts has windows of waits alone.
Notifications: until when an attempt is under way, and what a notice tells whose incident was deleted with its mesh;
receivers of heartbeats, with the newest one and its result, of alerts of Alertmanager and of Opsgenie.
Windows: what agents note about their peers (marks, residence times).
Applications: whether tasks may leave their region, and move for the gain of other applications; contracts, moves a day,
and the account of each quarter of an hour.
Recommendations: the incident that they are for, until when they can be applied, and three states in which they ended by
themselves.
Versions: capacities of VMs, schedules of recommendations, price bases, token buckets.
Rules: two more default rules about one path, for meshes that have the default rule about one path.
One name each for what is asked and what it gives: `question` becomes `request`, `answer` becomes `result`. Renamed at
once, not added and copied: no version with the old names was released.
The view `sinemora_read.host_waits` is made as those of baseline/sql_views.sql.
"""

from collections.abc import Sequence

from alembic import op

from sinemora.kit.row_policies import own_rows

revision: str = "0058_host_waits_in_sql"
down_revision: str | Sequence[str] | None = "0054_pins_as_values"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_RENAMED = (
    ("recommendations", "question", "request"),
    ("recommendations", "answer", "result"),
    ("recommendation_schedules", "question", "request"),
    ("scenarios", "question", "request"),
    ("bulk_orders", "question", "request"),
)
_ALERT_STATES = (
    ("reported_until", "timestamptz"),
    ("lateness_s", "real NOT NULL DEFAULT 0"),
    ("late_ranges", "jsonb NOT NULL DEFAULT '[]'"),
    ("windows_skipped", "bigint NOT NULL DEFAULT 0"),
)
_TRAFFIC = ("bytes_sent", "packets_sent", "bytes_received", "packets_received", "interface")
_WAITS = (
    ("host_elapsed_ms", "integer"),
    *(
        (f"{wait}_{name}", "integer")
        for wait in ("wake", "receive", "send", "queue")
        for name in ("count", "p50_us", "p99_us", "max_us")
    ),
    ("stalled_us", "bigint"),
    ("stall_at_us", "bigint[]"),
    ("stall_us", "integer[]"),
    ("processors", "integer"),
    *((name, "bigint") for name in ("steal_ms", "pressure_us", "throttled_us", "softirq_squeezed", "receive_drops")),
)

_CONSENTS, _NO = ("leaves_region", "moves_for_others"), "boolean NOT NULL DEFAULT false"
_KINDS = "'email', 'webhook', 'slack', 'pagerduty', 'teams'"
_NEW_KINDS = "'heartbeat', 'alertmanager', 'opsgenie'"
_ONE_PATH = """
    INSERT INTO alert_rules (id, tenant_id, mesh_id, version, name, enabled, severity, condition, scope,
                             windows_x, windows_y, sources_min, hold_s, keep_firing_s, origin)
    SELECT gen_random_uuid(), tenant_id, mesh_id, 1, {name}, true, {severity}, condition || {condition}, '{{}}',
           {x}, {y}, 1, 0, {keep_firing_s}, {origin}
    FROM alert_rules WHERE origin = 'path' ON CONFLICT DO NOTHING
"""
_RULES = (
    {
        "name": "'One path above its long-term baseline'",
        "severity": "'warning'",
        "condition": """'{"timescale": "long", "deviations": 5.0, "rise_ns": 15000}'::jsonb""",
        "x": 12,
        "y": 16,
        "keep_firing_s": 60,
        "origin": "'path-drift'",
    },
    {
        "name": "'One path above its baseline again and again'",
        "severity": "'info'",
        "condition": """'{"timescale": "short", "deviations": 6.0, "rise_ns": 20000, "over_s": 3600}'::jsonb""",
        "x": 1,
        "y": 1,
        "keep_firing_s": 0,
        "origin": "'recurring'",
    },
)
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
    """Rename, and add what is kept. Defaults hold for rows that are there. Grants at the next start open the view."""
    for table, before, after in _RENAMED:
        op.alter_column(table, before, new_column_name=after)
    _rename_parameter("question", "request")
    op.execute("ALTER TABLE path_latest ADD COLUMN received_at timestamptz NOT NULL DEFAULT now()")
    for name, type_ in _ALERT_STATES:
        op.execute(f"ALTER TABLE alert_states ADD COLUMN {name} {type_}")
    op.execute("ALTER TABLE probe_frames ADD COLUMN peer_notes integer[]")
    op.execute("ALTER TABLE deliveries ADD COLUMN tried_until timestamptz, ADD COLUMN content jsonb")
    op.execute("ALTER TABLE receivers ADD COLUMN heartbeat_at timestamptz, ADD COLUMN heartbeat_answer varchar")
    _allow_kinds(f"{_KINDS}, {_NEW_KINDS}")
    op.execute(f"ALTER TABLE applications {', '.join(f'ADD COLUMN {name} {_NO}' for name in _CONSENTS)}")
    op.execute("ALTER TABLE agents ADD COLUMN stopped_at timestamptz, ADD COLUMN started_at timestamptz")
    op.execute(
        "ALTER TABLE meshes ADD COLUMN remove_gone_after_s integer"
        " CONSTRAINT ck_meshes_remove_gone_after_s CHECK (remove_gone_after_s BETWEEN 300 AND 2592000)"
    )
    op.execute(f"ALTER TABLE vm_traffic {', '.join(f'ALTER COLUMN {name} DROP NOT NULL' for name in _TRAFFIC)}")
    op.execute(f"ALTER TABLE vm_traffic {', '.join(f'ADD COLUMN {name} {kind}' for name, kind in _WAITS)}")
    # Row-level security hides the rows of all tenants from the owner of the table.
    op.execute("ALTER TABLE alert_rules NO FORCE ROW LEVEL SECURITY")
    for rule in _RULES:
        op.execute(_ONE_PATH.format(**rule))
    op.execute("ALTER TABLE alert_rules FORCE ROW LEVEL SECURITY")
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
    """Drop what was added, and windows of waits alone; give back the old names and states."""
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
    for table, before, after in _RENAMED:
        op.alter_column(table, after, new_column_name=before)
    _rename_parameter("request", "question")
    # Row-level security hides the rows of all tenants from the owner of the table.
    op.execute("ALTER TABLE alert_rules NO FORCE ROW LEVEL SECURITY")
    op.execute("DELETE FROM alert_rules WHERE origin IN ('path-drift', 'recurring')")
    op.execute("ALTER TABLE alert_rules FORCE ROW LEVEL SECURITY")
    op.execute("ALTER TABLE vm_traffic NO FORCE ROW LEVEL SECURITY")
    op.execute("DELETE FROM vm_traffic WHERE interface IS NULL")
    op.execute("ALTER TABLE vm_traffic FORCE ROW LEVEL SECURITY")
    op.execute(f"ALTER TABLE vm_traffic {', '.join(f'DROP COLUMN {name}' for name, _ in reversed(_WAITS))}")
    op.execute(f"ALTER TABLE vm_traffic {', '.join(f'ALTER COLUMN {name} SET NOT NULL' for name in _TRAFFIC)}")
    op.execute("ALTER TABLE meshes DROP COLUMN remove_gone_after_s")
    op.execute(f"ALTER TABLE applications {', '.join(f'DROP COLUMN {name}' for name in _CONSENTS)}")
    op.execute("ALTER TABLE agents DROP COLUMN stopped_at, DROP COLUMN started_at")
    op.execute("ALTER TABLE deliveries DROP COLUMN tried_until, DROP COLUMN content")
    op.execute("ALTER TABLE receivers NO FORCE ROW LEVEL SECURITY")
    op.execute(f"DELETE FROM receivers WHERE kind IN ({_NEW_KINDS})")
    op.execute("ALTER TABLE receivers FORCE ROW LEVEL SECURITY")
    _allow_kinds(_KINDS)
    op.execute("ALTER TABLE receivers DROP COLUMN heartbeat_at, DROP COLUMN heartbeat_answer")
    for name, _ in reversed(_ALERT_STATES):
        op.execute(f"ALTER TABLE alert_states DROP COLUMN {name}")
    op.execute("ALTER TABLE probe_frames DROP COLUMN peer_notes")
    op.execute("ALTER TABLE path_latest DROP COLUMN received_at")


def _allow_kinds(kinds: str) -> None:
    """Replace the kinds of receivers that the table takes."""
    op.execute("ALTER TABLE receivers DROP CONSTRAINT ck_receivers_kind")
    op.execute(f"ALTER TABLE receivers ADD CONSTRAINT ck_receivers_kind CHECK (kind IN ({kinds}))")


def _rename_parameter(before: str, after: str) -> None:
    """Rename a parameter of the jobs of all tenants, which row-level security hides from the owner of the table."""
    op.execute("ALTER TABLE jobs NO FORCE ROW LEVEL SECURITY")
    op.execute(
        f"UPDATE jobs SET params = params - '{before}' || jsonb_build_object('{after}', params -> '{before}')"
        f" WHERE jsonb_exists(params, '{before}')"
    )
    op.execute("ALTER TABLE jobs FORCE ROW LEVEL SECURITY")


def _allow_states(states: str) -> None:
    """Replace the states of recommendations that the table takes."""
    op.execute("ALTER TABLE recommendations DROP CONSTRAINT ck_recommendations_state")
    op.execute(f"ALTER TABLE recommendations ADD CONSTRAINT ck_recommendations_state CHECK (state IN ({states}))")
