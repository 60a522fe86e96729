"""`make demo` when it cannot load anything."""

from collections.abc import Callable
from pathlib import Path

import pytest

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


def test_nothing_is_loaded_until_the_product_runs(
    folder: DataFolder, run: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = run("demo", code=1)
    assert "does not run here" in said
    assert "make up" in said
    monkeypatch.setattr(DataFolder, "running", lambda _: {"phase": "starting"})
    assert "make wait" in run("demo", code=1)


def test_two_do_not_load_at_once(folder: DataFolder) -> None:
    from sinemora.operations.embedded.simulated.play import _alone

    with _alone(folder.path / "demo"), pytest.raises(EmbeddedError, match="already"):
        play(folder, "http://127.0.0.1:9", None, fresh=False, once=True)
