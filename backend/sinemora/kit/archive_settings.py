"""Settings of the archive of the database, part of `config.Settings`."""

from typing import Literal

from pydantic import BaseModel, Field, SecretStr


class ArchiveSettings(BaseModel):
    """Archive that the database can be restored from, in the object storage of the settings."""

    archive: Literal["auto", "on", "off"] = "auto"
    archive_base_hours: float = Field(24, ge=0.01)
    archive_keep_days: float = Field(7, ge=0)
    archive_upload_s: float = Field(10, ge=1)
    archive_behind_s: int = Field(60, ge=15)
    database_archive_url: str = ""
    database_archive_password: SecretStr | None = None
