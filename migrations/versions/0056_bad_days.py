"""What is kept for bad days.

Evaluation of alerts: when the newest window of a block was received; for each mesh the newest reported window, the
lateness of its reports, the ranges of late windows that still have to be evaluated, and windows left out.
Agents: when they stopped in order, and when they last started; meshes: after how long a VM that is gone is removed.
Traffic: waits on the VM are columns of its windows; a VM whose traffic nobody counts has windows of waits alone.
Notifications: until when an attempt is under way, and what a notice tells whose incident was deleted with its mesh;
receivers of heartbeats, with the newest one and its result, of alerts of Alertmanager and of Opsgenie.
Windows: what agents note about their peers (marks, residence times).
Applications: whether tasks may leave their region, and move for the gain of other applications.
Rules: two more default rules about one path, for meshes that have the default rule about one path.
One name each for what is asked and what it gives: `question` becomes `request`, `answer` becomes `result`. Renamed at
once, not added and copied: no version with the old names was released.
"""

from collections.abc import Sequence

from alembic import op

revision: str = "0056_bad_days"
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


def upgrade() -> None:
    """Rename, and add what is kept. Defaults hold for rows that are there."""
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


def downgrade() -> None:
    """Drop what was added, and windows of waits alone; give back the old names."""
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
