"""One optimiser: stored requests for policies that it replaces ask for it, and only robust ones for a risk measure."""

from collections.abc import Sequence

from alembic import op

revision: str = "0012_one_optimiser"
down_revision: str | Sequence[str] | None = "0011_verdicts"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

TABLES = ("recommendations", "recommendation_schedules")
UP = """
    question || jsonb_build_object(
        'policy', CASE question ->> 'policy' WHEN 'nomora' THEN 'nomora' ELSE 'best' END,
        'risk', CASE question ->> 'policy' WHEN 'robust' THEN question -> 'risk' ELSE 'null' END)
"""
DOWN = """
    question || jsonb_build_object(
        'policy', CASE WHEN question ->> 'policy' = 'nomora' THEN 'nomora'
            WHEN question ->> 'risk' IS NULL THEN 'graph' ELSE 'robust' END,
        'risk', COALESCE(question ->> 'risk', 'cvar'))
"""


def upgrade() -> None:
    """Rewrite stored requests; answers keep the name of the policy that gave them."""
    for table in TABLES:
        _rewrite(table, UP)


def downgrade() -> None:
    """Ask for the policies of before: graph placed all tasks, robust counted a risk."""
    for table in TABLES:
        _rewrite(table, DOWN)


def _rewrite(table: str, question: str) -> None:
    """Change rows of all tenants, which row-level security hides from the owner of the table."""
    op.execute(f"ALTER TABLE {table} NO FORCE ROW LEVEL SECURITY")
    op.execute(f"UPDATE {table} SET question = {question}")
    op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
