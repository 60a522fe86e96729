"""The default rule about uneven flows of a path, for meshes that still have default rules."""

from collections.abc import Sequence

from alembic import op

revision: str = "0049_fairness_rule"
down_revision: str | Sequence[str] | None = "0048_aged_objects"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

ADD_RULE = """
INSERT INTO alert_rules (id, tenant_id, mesh_id, version, name, enabled, severity, condition, scope,
    windows_x, windows_y, sources_min, hold_s, keep_firing_s, origin)
SELECT gen_random_uuid(), tenant_id, mesh_id, 1, 'Uneven flows of a path', true, 'warning',
    '{"kind": "fairness", "metric": "one_way_delay", "statistic": "p50", "above": 0.0, "deviations": 6.0,
      "rise_ns": 0.0, "timescale": "short", "over_s": 0, "within_s": 0, "among": "flows", "below": 0.883}'::jsonb,
    '{}', 3, 3, 1, 0, 60, 'fairness'
FROM alert_rules WHERE origin IS NOT NULL GROUP BY tenant_id, mesh_id
ON CONFLICT (tenant_id, mesh_id, name) DO NOTHING
"""


def upgrade() -> None:
    """Add the rule."""
    _rewrite(ADD_RULE)


def downgrade() -> None:
    """Delete rules about fairness, which earlier versions do not know."""
    _rewrite("DELETE FROM alert_rules WHERE condition ->> 'kind' = 'fairness'")


def _rewrite(statement: str) -> None:
    """Change rules of all tenants, which row-level security hides from the owner of the table."""
    op.execute("ALTER TABLE alert_rules NO FORCE ROW LEVEL SECURITY")
    # As it is: SQLAlchemy would read the colons in JSON as parameters.
    op.get_bind().exec_driver_sql(statement)
    op.execute("ALTER TABLE alert_rules FORCE ROW LEVEL SECURITY")
