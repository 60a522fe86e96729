"""Settings that say where the data folder is, part of `config.Settings`."""

from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict


class FolderSettings(BaseSettings):
    """Place of the data folder, and the user who runs the servers in it.

    Commands that only look at a running product, or stop it, read nothing else: a mistake in another setting must not
    keep it from being stopped.
    """

    model_config = SettingsConfigDict(
        env_prefix="SINEMORA_",
        env_file=".env",
        extra="ignore",
        env_ignore_empty=True,
        # A traceback of a process that does not start ends in a log.
        hide_input_in_errors=True,
    )

    data_dir: Path = Path(".data")
    service_user: str = "sinemora"
