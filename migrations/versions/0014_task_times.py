"""Tasks know since when they run on their VM, or wait for one: the published policy counts both times."""

from collections.abc import Sequence

from alembic import op

revision: str = "0014_task_times"
down_revision: str | Sequence[str] | None = "0013_system_role"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None

# A trigger, since a VM that is deleted sets its tasks waiting too. A restored row keeps its times.
SCHEMA = """
ALTER TABLE tasks ADD COLUMN placed_at timestamptz, ADD COLUMN waiting_since timestamptz;

CREATE FUNCTION task_placed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' AND (NEW.placed_at IS NOT NULL OR NEW.waiting_since IS NOT NULL) THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'INSERT' OR NEW.vm_id IS DISTINCT FROM OLD.vm_id THEN
        NEW.placed_at := CASE WHEN NEW.vm_id IS NOT NULL THEN now() END;
        NEW.waiting_since := CASE WHEN NEW.vm_id IS NULL THEN now() END;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER placed BEFORE INSERT OR UPDATE OF vm_id ON tasks FOR EACH ROW EXECUTE FUNCTION task_placed();
"""


def upgrade() -> None:
    """Add the times; they are unknown for tasks of before."""
    op.execute(SCHEMA)


def downgrade() -> None:
    """Drop the times."""
    op.execute("DROP TRIGGER placed ON tasks")
    op.execute("DROP FUNCTION task_placed")
    op.execute("ALTER TABLE tasks DROP COLUMN placed_at, DROP COLUMN waiting_since")
