"""The examples of docs/api run, in order, against a live API, and answer what is printed there."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from sqlalchemy import Engine

from sinemora.access.tenants.service import create_owner
from tests.api_clients import PASSWORD
from tests.terminal import api, run_jobs_at_once, serving
from tests.test_every_route import operations
from tests.test_unknown_fields import resolved

DOCS = Path(__file__).parents[2] / "docs" / "api" / "README.md"
SIGNING_IN = DOCS.read_text().split("A device without a browser")[0]
FENCE = re.compile(r"^```(sh|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "----- end of example -----"


@pytest.fixture
def address(database: Engine, redis: Redis) -> Iterator[str]:
    """Yield the address of a live API on a separate port."""
    with serving(api()) as (host, port):
        yield f"http://{host}:{port}"


def shape(value: Any) -> Any:
    """Return the names of a JSON value without its values; a list is its first item."""
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items()}
    if isinstance(value, list):
        return [shape(item) for item in value[:1]]
    return type(value).__name__ if value is not None else None


def test_examples_run_and_answer_what_is_printed(address: str, tmp_path: Path):
    compare(DOCS.read_text(), address, tmp_path)


@pytest.mark.parametrize("page", ["moves", "alerts"])
def test_five_calls(page: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    run_jobs_at_once(monkeypatch)
    # The key of the page before has this name already.
    signing_in = SIGNING_IN.replace("nightly", page)
    compare(signing_in + DOCS.with_name(f"{page}.md").read_text(), address, tmp_path)


def compare(text: str, address: str, tmp_path: Path) -> None:
    """Run the examples of a page, and expect the answers that it prints."""
    assert shutil.which("curl"), "the examples need curl: `make test` brings it, or says how to install it"
    create_owner("Docs", "owner@sinemora.example", PASSWORD)
    blocks = FENCE.findall(text)
    script = "set -eu\n" + "".join(f"{code}\nprintf '\\n%s\\n' '{MARK}'\n" for kind, code in blocks if kind == "sh")
    done = subprocess.run(
        ["bash", "-c", script],
        env={
            "PATH": os.environ["PATH"],
            "TMPDIR": str(tmp_path),
            "SINEMORA": address,
            "SINEMORA_OWNER_PASSWORD": PASSWORD,
            "NO_PROXY": "*",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    answers = iter(done.stdout.split(MARK))
    printed = ""
    compared = 0
    for kind, code in blocks:
        if kind == "sh":
            printed = next(answers)
        else:
            assert shape(json.loads(printed)) == shape(json.loads(code)), code
            compared += 1
    assert compared >= 4


def test_the_codes_it_names_are_those_of_the_code():
    source = "".join(path.read_text() for path in (Path(__file__).parents[1] / "sinemora").rglob("*.py"))
    table = DOCS.read_text().split("## Errors")[1].split("## Limits")[0]
    named = re.findall(
        r"`([a-z_]+)`", "".join(line.split("|")[2] for line in table.splitlines() if line.startswith("| "))
    )
    assert len(named) > 15
    unknown = {"mesh_unknown", "vm_unknown"}  # made from the thing's name
    assert [code for code in named if f'"{code}"' not in source and code not in unknown] == []


def test_the_lists_it_names_as_whole_are_those_without_pages():
    section = DOCS.read_text().split("come whole:\n")[1].split("\n\n")[0]
    whole = set()
    for method, path, operation in operations():
        media = operation["responses"].get("200", {}).get("content", {}).get("application/json")
        if method == "get" and media:
            for schema in resolved(media["schema"]):
                fields = schema.get("properties", {})
                if schema.get("type") == "array" or ("items" in fields and "next_cursor" not in fields):
                    whole.add(path)
    assert set(re.findall(r"`([^`]+)`", section)) == whole


def test_what_is_saved_without_if_match_is_named():
    section = DOCS.read_text().split("the last writer is right:")[1].split("\n")[0]
    shows = {path for method, path, one in operations() if method == "get" and "ETag" in str(one["responses"])}
    saved = {
        path
        for method, path, operation in operations()
        if method in ("patch", "put") or (method == "delete" and path in shows)
        if "if-match" not in str(operation.get("parameters", ())).lower()
    }
    assert set(re.findall(r"`([^`]+)`", section)) == saved
