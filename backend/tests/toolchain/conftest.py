"""The scripts of `infra` are run as files: their folders are the path."""

import sys
from pathlib import Path

import pytest

INFRA = Path(__file__).resolve().parents[3] / "infra"
sys.path += [str(INFRA / folder) for folder in ("toolchain", "test", "packages", "supply_chain")]


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the logs of suites."""
    monkeypatch.setattr("running.LOGS", tmp_path / "logs")
    return tmp_path / "logs"
