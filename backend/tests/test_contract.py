"""`openapi.json` in the repository is what the code says."""

from pathlib import Path

from sinemora.cli import contract, main

COMMITTED = Path(__file__).parents[1] / "openapi.json"


def test_the_committed_contract_is_current(servers):
    assert COMMITTED.read_text() == contract(), "run `make gen` (sinemora openapi --output backend/openapi.json)"


def test_a_stale_contract_is_told(servers, tmp_path: Path, capsys):
    stale = tmp_path / "openapi.json"
    stale.write_text("{}")
    assert main(["openapi", "--check", str(stale)]) == 1
    assert "is stale" in capsys.readouterr().err
    assert main(["openapi", "--output", str(stale)]) == 0
    assert main(["openapi", "--check", str(stale)]) == 0
