"""No exports to buckets: what an installation still has of them is dropped.

The files in the buckets are their owners' and stay. At once, not one release later: no version with them was released.
"""

from collections.abc import Sequence
from pathlib import Path

from alembic import op

from sinemora.kit.row_policies import own_rows

revision: str = "0066_no_bucket_exports"
down_revision: str | Sequence[str] | None = "0065_traffic_decisions"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

_TABLES = ("exported_days", "bucket_export_progress", "bucket_exports")
_BASELINE = Path(__file__).parents[1] / "baseline" / "object_storage.sql"


def upgrade() -> None:
    """Drop the tables, with the keys to the buckets."""
    for table in _TABLES:
        op.execute(f"DROP TABLE {table}")


def downgrade() -> None:
    """Create the tables as the baseline does, empty."""
    sql = _BASELINE.read_text("utf-8")
    op.execute(sql[sql.index("CREATE TABLE bucket_exports") :])
    for table in _TABLES:
        op.execute(own_rows(table))
