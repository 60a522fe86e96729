"""Replacement of programs: the schema is migrated first, and nothing is replaced when that fails."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sinemora import migrate
from sinemora.operations.embedded import replacing
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.errors import EmbeddedError
from tests.test_migrations import NEWEST, Schema, schema

__all__ = ["schema"]


@pytest.fixture
def api(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process in place of the API, which would end at SIGHUP."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def folder_of(tmp_path: Path, api: subprocess.Popen[bytes]) -> DataFolder:
    (tmp_path / "run").mkdir()
    folder = DataFolder(tmp_path)
    others = {name: {"pid": None, "state": ""} for name in replacing.WORKERS}
    folder.write_state({"processes": {"api": {"pid": api.pid, "state": "up"}, **others}})
    return folder


def test_the_schema_is_migrated_before_the_api_is_replaced(
    schema: Schema, tmp_path: Path, api: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str | None] = []
    monkeypatch.setattr(replacing, "_send", lambda *_: seen.append(schema.version()))
    monkeypatch.setattr(replacing, "_until", lambda *_: None)
    steps: list[str] = []
    replacing.replace(
        folder_of(tmp_path, api), "http://127.0.0.1:9", dict(os.environ), lambda name, _: steps.append(name)
    )
    assert seen == [NEWEST] * (1 + len(replacing.WORKERS))
    assert steps == ["schema", "api", *replacing.WORKERS]


def test_nothing_is_replaced_when_the_schema_cannot_be_migrated(
    schema: Schema, tmp_path: Path, api: subprocess.Popen[bytes]
) -> None:
    migrate.upgrade()
    schema.set_version("9999_later")
    with pytest.raises(EmbeddedError, match="nothing was replaced"):
        replacing.replace(folder_of(tmp_path, api), "http://127.0.0.1:9", dict(os.environ), lambda *_: None)
    assert api.poll() is None
