"""The client against the API over a socket."""

import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from generator.files import CLIENT
from sinemora_client import (
    Client,
    InvalidRequest,
    JobTimeout,
    NotAllowed,
    NotSignedIn,
    Retries,
    SinemoraError,
    Unreachable,
    VersionChanged,
)
from tests.api_clients import Member, key_of
from tests.terminal import run_jobs_at_once

README = CLIENT.parent / "README.md"


def test_the_examples_of_the_readme_run(connected: Client, monkeypatch: pytest.MonkeyPatch, capsys: Any):
    monkeypatch.setenv("SINEMORA_URL", connected.url)
    monkeypatch.setenv("SINEMORA_API_KEY", connected.key)
    run_jobs_at_once(monkeypatch)
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 7
    exec(compile("\n".join(blocks), str(README), "exec"), {})
    printed = capsys.readouterr().out
    assert "#/rate_hz" in printed
    assert "aws eu-west-1 eu-west-1a" in printed
    assert "'exchanges': 100" in printed
    assert "web from web-2 to web-3 0." in printed


def test_a_list_is_read_page_by_page(connected: Client, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sinemora_client.calls._PAGE", 2)
    for number in range(5):
        connected.create_zone({"provider": "p", "region": "r", "name": f"z{number}"})
    assert [zone["name"] for zone in connected.list_zones()] == [f"z{number}" for number in range(5)]


def test_an_error_has_its_code_its_fields_and_the_request(connected: Client):
    with pytest.raises(InvalidRequest) as refused:
        connected.create_mesh({"name": "", "rate_hz": 3})
    error = refused.value
    assert (error.status, error.code) == (422, "request_invalid")
    assert [field.pointer for field in error.fields] == ["#/name", "#/rate_hz"]
    assert error.request_id
    assert "#/rate_hz" in str(error)
    mesh = connected.create_mesh({"name": "m"})
    connected.update_mesh(mesh["id"], {"rate_hz": 16}, version=mesh["version"])
    with pytest.raises(VersionChanged):
        connected.update_mesh(mesh["id"], {"rate_hz": 8}, version=mesh["version"])


def test_a_key_without_the_scope_and_an_unknown_key(connected: Client, owner: Member):
    reader = key_of(owner, "read", name="reader").headers["Authorization"].split()[1]
    with Client(connected.url, reader) as reading, pytest.raises(NotAllowed) as refused:
        reading.create_mesh({"name": "m"})
    assert refused.value.code in ("not_allowed", "scope_missing")
    with Client(connected.url, "sm_unknown") as unknown, pytest.raises(NotSignedIn):
        unknown.read_session()


def test_a_job_that_does_not_end_in_time_continues(connected: Client):
    running: Any = {"id": str(uuid4()), "state": "running", "title": "Search", "progress": 0.5, "note": ""}
    with pytest.raises(JobTimeout, match="continues as job"):
        connected.wait(running, timeout_s=0)


def test_addresses_are_checked():
    with pytest.raises(SinemoraError, match="It begins with https"):
        Client("sinemora.example", "sm_x")
    with Client("http://127.0.0.1:1", "sm_x", retries=Retries(attempts=1)) as away, pytest.raises(Unreachable):
        away.read_session()


def test_a_file_is_streamed(connected: Client, tmp_path: Path):
    assert connected.export_applications() == "applications: []\n"
    with connected.stream("GET", "/v1/applications/manifest") as response:
        assert b"".join(response.iter_bytes()) == b"applications: []\n"
