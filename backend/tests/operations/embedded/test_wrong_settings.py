"""A wrong setting keeps the product from starting, and never from being looked at or stopped."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sinemora.kit import config
from sinemora.operations.embedded.commands import app
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.servers.service_user import ServiceUser

WRONG = {"SINEMORA_PORT": "0", "SINEMORA_RETENTION_RAW_DAY": "30"}


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Settings of which two are wrong, and the data folder that they name, which another user can reach."""
    for name in [name for name in os.environ if name.startswith("SINEMORA_")]:
        monkeypatch.delenv(name)
    with tempfile.TemporaryDirectory() as parent:
        Path(parent).chmod(0o755)
        for name, value in {**WRONG, "SINEMORA_DATA_DIR": f"{parent}/data"}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(parent)
        config.settings.cache_clear()
        yield Path(parent) / "data"
        monkeypatch.undo()
        config.settings.cache_clear()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["down"], "nothing to stop"),
        (["status"], "does not run here"),
        (["clean-data", "--yes"], "nothing to delete"),
        (["logs", "--no-follow"], "log"),
    ],
)
def test_commands_of_a_running_product_need_no_right_settings(wrong: Path, command: list[str], expected: str) -> None:
    ended = CliRunner().invoke(app, command)
    assert expected in ended.output
    assert "SINEMORA_" not in ended.output


def test_data_are_deleted_where_the_settings_say(wrong: Path) -> None:
    DataFolder(wrong).claim(ServiceUser("me", os.geteuid(), os.getegid()))
    ended = CliRunner().invoke(app, ["clean-data", "--yes"])
    assert ended.exit_code == 0, ended.output
    assert not wrong.exists()


def test_a_start_names_the_wrong_setting(wrong: Path) -> None:
    ended = CliRunner().invoke(app, ["up"])
    assert ended.exit_code == 1
    assert "SINEMORA_RETENTION_RAW_DAYS" in ended.output
    assert not wrong.exists()
