"""`openapi.json` in the repository is what the code says."""

import json
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from sinemora import cli
from sinemora.kit.http.contract import DATA, may_be_null
from tests.recorded_examples import COMMITTED


def test_a_stale_contract_is_told(tmp_path: Path, run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cli, "contract", lambda: "current\n")
    stale = tmp_path / "openapi.json"
    stale.write_text("{}")
    assert "is stale" in run("openapi", "--check", str(stale), code=1)
    run("openapi", "--output", str(stale))
    run("openapi", "--check", str(stale))


def test_every_name_has_words_in_one_place():
    """Those that may be null tell what null means; no words of the file are unused or repeated."""
    contract = json.loads(COMMITTED.read_text())
    described = {
        (schema, name): (one.get("description", ""), may_be_null(one))
        for schema, model in contract["components"]["schemas"].items()
        for name, one in model.get("properties", {}).items()
    }
    assert not [place for place, (words, _) in described.items() if not words]
    assert not [place for place, (words, nullable) in described.items() if nullable and "null" not in words.lower()]

    operations = [operation for item in contract["paths"].values() for operation in item.values()]
    own = [one for operation in operations for one in operation.get("parameters", ()) if "$ref" not in one]
    parameters = {
        (one["name"], one.get("description")) for one in [*own, *contract["components"]["parameters"].values()]
    }
    assert not [name for name, words in parameters if not words]

    table = tomllib.loads((DATA / "properties.toml").read_text())
    only = [(names.split(), one, words) for names, entries in table["only"].items() for one, words in entries.items()]
    shown = {(name, words.partition("; null")[0]) for (_, name), (words, _) in described.items()}
    everywhere = {(name, words.partition("; null")[0]) for name, words in table["any"].items()}
    assert not everywhere - shown
    assert not table["parameters"].items() - parameters
    assert not table["parameters"].items() & everywhere
    for names, one, words in only:
        assert all(words.startswith(described[schema, one][0]) for schema in names), (names, one)
    repeated = Counter([*table["any"].items(), *((name, words) for _, name, words in only)])
    assert not [place for place, times in repeated.items() if times > 1]
