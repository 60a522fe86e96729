"""`openapi.json` in the repository is what the code says."""

from pathlib import Path

import pytest

from sinemora import cli
from tests.recorded_examples import COMMITTED


def test_the_committed_contract_is_current(servers):
    assert COMMITTED.read_text() == cli.contract(), "run `make gen` (sinemora openapi --output backend/openapi.json)"


def test_a_stale_contract_is_told(tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cli, "contract", lambda: "current\n")
    stale = tmp_path / "openapi.json"
    stale.write_text("{}")
    assert cli.main(["openapi", "--check", str(stale)]) == 1
    assert "is stale" in capsys.readouterr().err
    assert cli.main(["openapi", "--output", str(stale)]) == 0
    assert cli.main(["openapi", "--check", str(stale)]) == 0
