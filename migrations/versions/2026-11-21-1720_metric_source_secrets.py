"""Metric sources sign in: how, and the sealed secret of it."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0015"
down_revision: str | Sequence[str] | None = "0014"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    """Columns without a value need no rewrite of the table."""
    op.add_column("metric_sources", sa.Column("authentication", sa.String(), nullable=True))
    op.add_column("metric_sources", sa.Column("secret", sa.LargeBinary(), nullable=True))
    op.create_check_constraint(
        op.f("ck_metric_sources_authentication"),
        "metric_sources",
        "authentication IN ('bearer', 'basic', 'header')",
    )
    op.create_check_constraint(
        op.f("ck_metric_sources_secret"), "metric_sources", "(authentication IS NULL) = (secret IS NULL)"
    )


def downgrade() -> None:
    """Secrets are forgotten."""
    op.drop_constraint(op.f("ck_metric_sources_secret"), "metric_sources")
    op.drop_constraint(op.f("ck_metric_sources_authentication"), "metric_sources")
    op.drop_column("metric_sources", "secret")
    op.drop_column("metric_sources", "authentication")
