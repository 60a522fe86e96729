"""Brings the schema to the newest version."""

from pathlib import Path

from alembic import command
from alembic.config import Config

MIGRATIONS = Path(__file__).resolve().parents[2] / "migrations"


def configuration() -> Config:
    """Alembic's configuration, the one `alembic` finds in pyproject.toml."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


def upgrade(revision: str = "head") -> None:
    """Migrate up to `revision`, as the role of SINEMORA_DATABASE_OWNER_URL."""
    command.upgrade(configuration(), revision)
