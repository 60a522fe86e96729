"""Verdicts on applied moves that can fail: recommendations that were undone, and the application of a metric source."""

from collections.abc import Sequence

from alembic import op

revision: str = "0011_verdicts"
down_revision: str | Sequence[str] | None = "0010_alert_shapes"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# Earlier outcomes were computed by the curve of the prediction, against the performance before the moves.
OUTCOME_UP = """
    jsonb_build_object(
        'verdict', 'cannot_tell',
        'reason', 'Verified by an earlier version, which had no control group.',
        'judged_by', 'delays',
        'promised', jsonb_build_object(
            'mean', outcome -> 'gain_predicted',
            'low', (outcome -> 'predicted' ->> 'low')::float8 - {before},
            'high', (outcome -> 'predicted' ->> 'high')::float8 - {before}),
        'observed', jsonb_build_object(
            'mean', outcome -> 'gain_observed',
            'low', (outcome -> 'observed' ->> 'low')::float8 - {before},
            'high', (outcome -> 'observed' ->> 'high')::float8 - {before}),
        'window', outcome -> 'window',
        'applications', '[]'::jsonb)
""".format(before="((outcome -> 'observed' ->> 'mean')::float8 - (outcome ->> 'gain_observed')::float8)")
# Without the performance before the moves, gains are all that is left.
OUTCOME_DOWN = """
    jsonb_build_object(
        'observed', COALESCE(NULLIF(outcome -> 'observed', 'null'), outcome -> 'promised') || '{"windows": 0}',
        'predicted', outcome -> 'promised' || '{"windows": 0}',
        'gain_observed', COALESCE(NULLIF(outcome -> 'observed', 'null'), outcome -> 'promised') -> 'mean',
        'gain_predicted', outcome -> 'promised' -> 'mean',
        'held', outcome ->> 'verdict' = 'held',
        'window', outcome -> 'window')
"""


def upgrade() -> None:
    """Add the state and the reference, and rewrite stored outcomes: none of them is a verdict any more."""
    _states("'proposed', 'accepted', 'applied', 'verified', 'undone', 'dismissed'", "'applied', 'verified', 'undone'")
    _rewrite(f"UPDATE recommendations SET outcome = {OUTCOME_UP} WHERE outcome IS NOT NULL")
    op.execute("ALTER TABLE metric_sources ADD COLUMN application_id uuid")
    op.execute(
        "ALTER TABLE metric_sources ADD CONSTRAINT fk_metric_sources_tenant_id_application_id_applications"
        " FOREIGN KEY (tenant_id, application_id) REFERENCES applications (tenant_id, id)"
        " ON DELETE SET NULL (application_id)"
    )
    op.execute("CREATE INDEX ix_metric_sources_tenant_id_application_id ON metric_sources (tenant_id, application_id)")


def downgrade() -> None:
    """Remove both; undone recommendations are dismissed ones, with their reason."""
    op.execute("ALTER TABLE metric_sources DROP COLUMN application_id")
    _rewrite(f"UPDATE recommendations SET outcome = {OUTCOME_DOWN} WHERE outcome IS NOT NULL")
    _rewrite("UPDATE recommendations SET state = 'dismissed' WHERE state = 'undone'")
    _states("'proposed', 'accepted', 'applied', 'verified', 'dismissed'", "'applied', 'verified'")


def _rewrite(statement: str) -> None:
    """Change rows of all tenants, which row-level security hides from the owner of the table."""
    op.execute("ALTER TABLE recommendations NO FORCE ROW LEVEL SECURITY")
    op.execute(statement)
    op.execute("ALTER TABLE recommendations FORCE ROW LEVEL SECURITY")


def _states(states: str, applied: str) -> None:
    for name, condition in (
        ("state", f"state IN ({states})"),
        ("applied", f"state NOT IN ({applied}) OR applied_at IS NOT NULL"),
    ):
        op.execute(f"ALTER TABLE recommendations DROP CONSTRAINT ck_recommendations_{name}")
        op.execute(f"ALTER TABLE recommendations ADD CONSTRAINT ck_recommendations_{name} CHECK ({condition})")
