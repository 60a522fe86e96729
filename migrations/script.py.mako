"""${message}

The previous version serves requests while this runs, until the new version is up. So:

- Add, do not change: new columns are nullable or have a default; a rename is add, copy, and remove one release later.
- Wait for a lock at most 4 s and for a statement at most 60 s (set in env.py). A migration that needs more says so
  with `op.execute("SET LOCAL statement_timeout = …")` and why.
- Indexes on tables that are written to: `postgresql_concurrently=True` inside `op.get_context().autocommit_block()`.
- A tenant's table gets `op.execute(own_rows("…"))`, from `sinemora.kit.row_policies`: row-level security, also for its
  owner. Import nothing else of the product, and read no setting: code changes after a migration was written.
- `downgrade` undoes exactly this; tests go up, down and up again.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
${imports if imports else ""}
revision: str = ${repr(up_revision)}
down_revision: str | Sequence[str] | None = ${repr(down_revision)}
branch_labels: str | Sequence[str] | None = ${repr(branch_labels)}
depends_on: str | Sequence[str] | None = ${repr(depends_on)}


def upgrade() -> None:
    """${message}"""
    ${upgrades if upgrades else "pass"}


def downgrade() -> None:
    """Undo it."""
    ${downgrades if downgrades else "pass"}
