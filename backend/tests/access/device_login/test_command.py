"""`sinemora login`, `profiles` and `logout` against the API over a socket."""

import io
import json
import re
import threading
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from sinemora.cli import main
from sinemora_client import Client, profiles
from tests.api_clients import Member
from tests.waits import WAIT_MOST_S, until


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of profiles, which does not exist yet."""
    for name in ("SINEMORA_API_KEY", "SINEMORA_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SINEMORA_CONFIG", str(tmp_path / "profiles.json"))
    return tmp_path / "profiles.json"


@pytest.fixture
def client(connected: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A client of an API that listens on loopback; devices ask without a wait."""
    monkeypatch.setattr("sinemora.access.device_login.service.INTERVAL_S", 0)
    return connected


def sign_in(url: str, person: Member, *options: str, decision: str = "approve") -> tuple[int, str, str]:
    """Run `sinemora login`, decide as a person on the code that it prints, and return exit code and output.

    The output is read while the command prints it, which `capsys` cannot do: reading it empties it.
    """
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(main(["login", "--url", url, "--no-browser", *options])))
    out, err = io.StringIO(), io.StringIO()

    def printed() -> re.Match[str] | None:
        return re.search(r"confirm the code ([A-Z]{4}-[A-Z]{4})", err.getvalue())

    with redirect_stdout(out), redirect_stderr(err):
        thread.start()
        until(lambda: printed() or not thread.is_alive(), err.getvalue)
        code = printed()
        assert code is not None, err.getvalue()
        assert person.post(f"/v1/device-logins/{decision}", json={"user_code": code[1]}).status_code == 200
        thread.join(WAIT_MOST_S)
    return codes[0], out.getvalue(), err.getvalue()


def test_a_person_signs_in_uses_commands_and_signs_out(client: Client, owner: Member, run, file: Path):
    assert "sinemora login" in run("annotate", "deploy", code=2)
    code, out, err = sign_in(client.url, owner)
    assert code == 0, err
    assert f"Signed in as {owner.email} to Tenant" in out
    assert "/device?code=" in err
    assert file.stat().st_mode & 0o777 == 0o600

    assert json.loads(run("annotate", "deploy", "--json"))["text"] == "deploy"
    with Client.from_profile() as mine:
        assert [one["text"] for one in mine.list_annotations()] == ["deploy"]
    secret = profiles.load().profile().key

    assert json.loads(run("logout", "--json")) == {"profile": "default", "key_deleted": True}
    assert profiles.load().by_name == {}
    assert owner.get("/v1/auth/session", headers={"Authorization": f"Bearer {secret}"}).status_code == 401


def test_profiles_are_listed_chosen_and_renewed(client: Client, owner: Member, run):
    assert "No profiles yet" in run("profiles", errors=True)
    for name in ("one", "two"):
        assert sign_in(client.url, owner, "--profile", name, "--read-only")[0] == 0
    text = run("profiles", "--json")
    assert [(row["profile"], row["current"]) for row in json.loads(text)] == [("one", False), ("two", True)]
    assert "sm_" not in text
    run("profiles", "use", "one")
    assert "There are one, two." in run("profiles", "use", "three", code=1)
    before = profiles.load().profile("one").key
    assert sign_in(client.url, owner, "--profile", "one")[0] == 0
    assert profiles.load().profile("one").key != before
    names = [key["name"] for key in owner.get("/v1/api-keys").json()["items"]]
    assert len(names) == 3, names  # of the fixture, one, two: the key before is deleted

    assert "403" in run("annotate", "x", "--profile", "two", code=1)
    assert "is for http://127.0.0.1" in run("annotate", "x", "--profile", "two", "--url", "http://127.0.0.1:1", code=2)


def test_a_refused_login_stores_nothing(client: Client, owner: Member):
    code, _, err = sign_in(client.url, owner, decision="deny")
    assert code == 1
    assert "Login refused" in err
    assert profiles.load().by_name == {}


def test_what_cannot_be_reached_is_said(run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sinemora_client.retries.Retries.attempts", 1)
    assert "http://127.0.0.1:1 cannot be reached" in run("login", "--url", "http://127.0.0.1:1", code=1)
