"""A wrong setting keeps the product from starting, and never from being looked at or stopped."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sinemora.operations.embedded.commands import app
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.servers.service_user import ServiceUser


@pytest.fixture
def wrong(bare: None, set_to: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Settings of which two are wrong, and the data folder that they name, which another user can reach."""
    with tempfile.TemporaryDirectory() as parent:
        Path(parent).chmod(0o755)
        set_to(port="0", retention_raw_day="30", data_dir=f"{parent}/data")
        monkeypatch.chdir(parent)
        yield Path(parent) / "data"
        monkeypatch.undo()


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


def test_data_are_deleted_where_the_settings_say(wrong: Path, run: Callable[..., str]) -> None:
    DataFolder(wrong).claim(ServiceUser("me", os.geteuid(), os.getegid()))
    run("clean-data", "--yes")
    assert not wrong.exists()


def test_a_start_names_the_wrong_setting(wrong: Path, run: Callable[..., str]) -> None:
    assert "SINEMORA_RETENTION_RAW_DAYS" in run("up", code=1)
    assert not wrong.exists()
