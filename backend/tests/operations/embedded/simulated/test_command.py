"""`make demo` when it cannot load anything."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from sinemora.operations.embedded import commands
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.simulated.play import play


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    found = DataFolder(tmp_path)
    (tmp_path / "demo").mkdir()
    monkeypatch.setattr(commands, "data_folder", lambda _: found)
    return found


def test_nothing_is_loaded_while_the_product_does_not_run(folder: DataFolder) -> None:
    done = CliRunner().invoke(commands.app, ["demo"])
    assert done.exit_code == 1
    assert "does not run here" in done.stderr
    assert "make up" in done.stderr


def test_nothing_is_loaded_while_the_product_starts(folder: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DataFolder, "running", lambda _: {"phase": "starting"})
    done = CliRunner().invoke(commands.app, ["demo"])
    assert done.exit_code == 1
    assert "make wait" in done.stderr


def test_two_do_not_load_at_once(folder: DataFolder) -> None:
    from sinemora.operations.embedded.simulated.play import _alone

    with _alone(folder.path / "demo"), pytest.raises(EmbeddedError, match="already"):
        play(folder, "http://127.0.0.1:9", None, fresh=False, once=True)
