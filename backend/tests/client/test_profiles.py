"""Keys of callers: the file of profiles, only for its user, whole or as before; and the environment."""

import json
import stat
from pathlib import Path

import pytest

from sinemora_client import Client, profiles
from sinemora_client.profiles import KEY, Profile, ProfileError, Profiles, key_of_environment


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of the file, which does not exist."""
    monkeypatch.delenv("SINEMORA_PROFILE", raising=False)
    monkeypatch.setenv("SINEMORA_CONFIG", str(tmp_path / "config" / "profiles.json"))
    return tmp_path / "config" / "profiles.json"


def test_only_its_user_reads_the_file(file: Path):
    profiles.save(Profiles().stored("default", Profile("https://one.example", "sm_1")))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert profiles.load().profile().key == "sm_1"
    file.chmod(0o644)
    with pytest.raises(ProfileError, match="chmod 600"):
        profiles.load()


def test_the_one_asked_for_then_the_environment_then_the_current(monkeypatch: pytest.MonkeyPatch):
    stored = Profiles().stored("a", Profile("https://a.example", "1")).stored("b", Profile("https://b.example", "2"))
    profiles.save(stored)
    assert Client.from_profile().key == "2"
    monkeypatch.setenv("SINEMORA_PROFILE", "a")
    assert Client.from_profile().key == "1"
    assert Client.from_profile("b").key == "2"
    with pytest.raises(ProfileError, match=r"Unknown profile: c. There are a, b. .sinemora login --profile c."):
        Client.from_profile("c")


def test_removing_the_current_one_leaves_another(file: Path):
    stored = Profiles().stored("a", Profile("https://a.example", "1")).stored("b", Profile("https://b.example", "2"))
    assert stored.without("b").current == "a"
    assert stored.without("a").current == "b"
    assert stored.without("a").without("b") == Profiles()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"current": "a", "profiles": {"a": {"url": 1}}}'])
def test_a_file_that_is_none_is_left_alone(file: Path, text: str):
    file.parent.mkdir()
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(ProfileError, match="is no file of profiles"):
        profiles.load()
    assert file.read_text() == text


def test_there_is_none_yet():
    assert profiles.load() == Profiles()
    with pytest.raises(ProfileError, match="There is none yet"):
        profiles.load().profile()


def test_names_are_kept_as_they_are(file: Path):
    profiles.save(
        Profiles().stored("Zürich 1", Profile("https://z.example", "k", "a@b.c", "T", "2027-01-01T00:00:00Z"))
    )
    assert profiles.load().profile("Zürich 1").tenant == "T"
    assert set(json.loads(file.read_text())) == {"current", "profiles"}


def test_a_key_is_the_variable_or_the_content_of_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv(KEY, raising=False)
    assert key_of_environment() == ""
    (tmp_path / "key").write_text("sm_in_a_file\n")
    monkeypatch.setenv(f"{KEY}_FILE", str(tmp_path / "key"))
    assert key_of_environment() == "sm_in_a_file"
    monkeypatch.setenv(KEY, "sm_in_the_environment")
    with pytest.raises(ProfileError, match="set only one"):
        key_of_environment()
    monkeypatch.delenv(f"{KEY}_FILE")
    assert key_of_environment() == "sm_in_the_environment"


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "cannot be read"), (b"", "one API key"), (b"sm_a\nsm_b\n", "one API key"), (b"\xff\xfe", "not text")],
)
def test_a_file_without_a_key_is_refused_by_name(
    content: bytes | None, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.delenv(KEY, raising=False)
    monkeypatch.setenv(f"{KEY}_FILE", str(file))
    with pytest.raises(ProfileError, match=words) as refused:
        key_of_environment()
    assert str(file) in str(refused.value)
