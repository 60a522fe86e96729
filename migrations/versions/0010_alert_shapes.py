"""Spike threshold and loss deadline per mesh; default rules for loss over an hour and for strong spikes."""

from collections.abc import Sequence

from alembic import op

revision: str = "0010_alert_shapes"
down_revision: str | Sequence[str] | None = "0009_embed_links"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

SETTINGS = """
ALTER TABLE meshes
    ADD COLUMN spike_threshold_ns integer NOT NULL DEFAULT 500000,
    ADD COLUMN loss_deadline_ms integer NOT NULL DEFAULT 1000,
    ADD CONSTRAINT ck_meshes_spike_threshold_ns CHECK (spike_threshold_ns BETWEEN 10000 AND 1000000000),
    ADD CONSTRAINT ck_meshes_loss_deadline_ms CHECK (loss_deadline_ms BETWEEN 100 AND 2000);
"""
TRIGGER = """
DROP TRIGGER settings_changed ON meshes;
CREATE TRIGGER settings_changed BEFORE UPDATE ON meshes FOR EACH ROW
    WHEN (({old}) IS DISTINCT FROM ({new}))
    EXECUTE FUNCTION mesh_settings_changed();
"""
COLUMNS = ("name", "window_s", "rate_hz", "flows")
NEW_COLUMNS = ("spike_threshold_ns", "loss_deadline_ms")
# Origin, name, severity, condition, X and Y, VMs, time to keep firing.
RULES = [
    (
        "far",
        "One path far above its baseline",
        "info",
        '{"kind": "baseline", "metric": "one_way_delay", "statistic": "p90", "above": 0.0, "deviations": 12.0,'
        ' "rise_ns": 500000.0, "timescale": "short", "over_s": 0}',
        (1, 1, 1, 0),
    ),
    (
        "lasting-loss",
        "Loss over an hour",
        "warning",
        '{"kind": "loss", "metric": "loss", "statistic": "mean", "above": 0.002, "deviations": 6.0,'
        ' "rise_ns": 0.0, "timescale": "short", "over_s": 3600}',
        (2, 2, 1, 60),
    ),
    (
        "strong-spike",
        "Strong delay spike",
        "warning",
        '{"kind": "spike", "metric": "one_way_delay", "statistic": "p50", "above": 0.0, "deviations": 20.0,'
        ' "rise_ns": 500000.0, "timescale": "short", "over_s": 0}',
        (1, 1, 2, 0),
    ),
]


def upgrade() -> None:
    """Add the settings, and the new rules to meshes that have default rules. No rule is changed."""
    op.execute(SETTINGS)
    _trigger(COLUMNS + NEW_COLUMNS)
    for origin, name, severity, condition, (x, y, sources_min, keep_firing_s) in RULES:
        _rewrite(
            f"""
            INSERT INTO alert_rules (id, tenant_id, mesh_id, version, name, enabled, severity, condition, scope,
                windows_x, windows_y, sources_min, hold_s, keep_firing_s, origin)
            SELECT gen_random_uuid(), tenant_id, mesh_id, 1, '{name}', true, '{severity}',
                $json${condition}$json$::jsonb, '{{}}', {x}, {y}, {sources_min}, 0, {keep_firing_s}, '{origin}'
            FROM alert_rules WHERE origin IS NOT NULL GROUP BY tenant_id, mesh_id
            ON CONFLICT (tenant_id, mesh_id, name) DO NOTHING
            """
        )


def downgrade() -> None:
    """Drop the settings and the new rules; conditions of a new kind are unreadable before."""
    _rewrite(
        "DELETE FROM alert_rules WHERE origin IN ('far', 'lasting-loss', 'strong-spike')"
        " OR condition ->> 'kind' = 'loss'"
    )
    _trigger(COLUMNS)
    op.execute("ALTER TABLE meshes DROP COLUMN spike_threshold_ns, DROP COLUMN loss_deadline_ms")


def _trigger(columns: Sequence[str]) -> None:
    """Raise the revision of a mesh with a change of these columns."""
    old, new = (", ".join(f"{row}.{column}" for column in columns) for row in ("OLD", "NEW"))
    op.execute(TRIGGER.format(old=old, new=new))


def _rewrite(statement: str) -> None:
    """Change rules of all tenants, which row-level security hides from the owner of the table."""
    op.execute("ALTER TABLE alert_rules NO FORCE ROW LEVEL SECURITY")
    # As it is: SQLAlchemy would read the colons in JSON as parameters.
    op.get_bind().exec_driver_sql(statement)
    op.execute("ALTER TABLE alert_rules FORCE ROW LEVEL SECURITY")
