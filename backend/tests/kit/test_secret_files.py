"""Secrets of the settings in files: each can be, a file that has none is named, and nothing shows a secret."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from sinemora.kit.config import SECRETS, Settings, explain
from sinemora.kit.secret_files import SecretFileError, read

pytestmark = pytest.mark.usefixtures("bare")

ROOT = Path(__file__).parents[3]
NOBODY = 65534
SECRET = "geheim/@: =#"
# Addresses are checked, and passwords of addresses go into them.
EXAMPLES = {
    "database_archive_url": "postgresql+psycopg://archive@h/d",
    "database_url": "postgresql+psycopg://app@h/d",
    "database_owner_url": "postgresql+psycopg://owner@h/d",
    "database_system_url": "postgresql+psycopg://system@h/d",
    "redis_url": "redis://h:6379/0",
    "traces_url": "http://collector:4318/v1/traces",
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with a secret, as `echo` writes it."""
    path = tmp_path / "secret"
    path.write_text(SECRET + "\n")
    return path


@pytest.mark.parametrize("name", sorted(SECRETS))
def test_each_secret_can_be_in_a_file(name: str, file: Path, monkeypatch: pytest.MonkeyPatch):
    expected = EXAMPLES.get(name, SECRET)
    file.write_text(expected + "\n")
    monkeypatch.setenv(f"SINEMORA_{name.upper()}_FILE", str(file))
    value = getattr(Settings(_env_file=None), name)
    assert (value if isinstance(value, str) else value.get_secret_value()) == expected


@pytest.mark.parametrize("name", sorted(SECRETS))
def test_the_example_says_which_settings_can_be_in_a_file(name: str):
    comments: list[str] = []
    before = ""
    for line in (ROOT / ".env.example").read_text().splitlines():
        if not line.startswith("#SINEMORA_"):
            comments = [*comments, line] if before.startswith("# ") else [line]
        elif line.startswith(f"#SINEMORA_{name.upper()}="):
            assert "…_FILE" in " ".join(comments)
            return
        before = line
    pytest.fail("not in .env.example")


@pytest.mark.parametrize(
    ("address", "password", "url", "expected"),
    [
        (
            "database_url",
            "database_password",
            "postgresql://u@h:5432/d",
            "postgresql+psycopg://u:p%2F%40%3A%20w@h:5432/d",
        ),
        ("database_url", "database_password", "postgresql://u@/d?host=/run", "postgresql+psycopg://u@/d?host=/run"),
        ("redis_url", "redis_password", "redis://h:6379/0", "redis://:p%2F%40%3A%20w@h:6379/0"),
        ("redis_url", "redis_password", "unix:///run/r?db=0", "unix:///run/r?db=0"),
    ],
)
def test_an_address_with_a_host_gets_its_password(address: str, password: str, url: str, expected: str):
    assert getattr(Settings(_env_file=None, **{address: url, password: "p/@: w"}), address) == expected


def test_a_password_in_the_address_and_one_of_its_own_are_refused(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(ValidationError) as refused:
        Settings(_env_file=None, redis_url="redis://:hidden@h/0", redis_password="hidden")
    assert explain(refused.value).startswith("SINEMORA_REDIS_URL has a password, and SINEMORA_REDIS_PASSWORD is set")
    assert "hidden" not in explain(refused.value) + str(refused.value)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot be read by the user"),
        (b"", "is empty"),
        (b"\n", "is empty"),
        (b"  \n", "is empty"),
        (b"hidden\nhidden", "several lines"),
        (b"hidden\0", "zero byte"),
        (b"\xff\xfehidden", "not text"),
        (b"hidden" * 20_000, "longer than"),
        ("folder", "is a folder"),
    ],
)
def test_a_file_without_a_usable_secret_is_named_at_the_start(
    content: bytes | str | None, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run
):
    path = tmp_path / "secret"
    if content == "folder":
        path.mkdir()
    elif isinstance(content, bytes):
        path.write_bytes(content)
    monkeypatch.setenv("SINEMORA_SECRET_KEY_FILE", str(path))
    monkeypatch.chdir(tmp_path)
    shown = run("serve", code=1)
    assert f"SINEMORA_SECRET_KEY_FILE={path}: " in shown
    assert reason in shown
    assert "hidden" not in shown


def test_a_file_that_others_own_is_named_with_the_user(file: Path):
    file.chmod(0)
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        with pytest.raises(SecretFileError, match=r"cannot be read by the user \S+: Permission denied"):
            read(file)
    finally:
        if root:
            os.seteuid(0)


def test_a_secret_and_a_file_of_it_are_refused(file: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SINEMORA_SECRET_KEY_FILE", str(file))
    monkeypatch.setenv("SINEMORA_SECRET_KEY", SECRET)
    with pytest.raises(ValidationError) as refused:
        Settings(_env_file=None)
    assert "SINEMORA_SECRET_KEY is set too; set only one of the two" in explain(refused.value)
    assert SECRET not in explain(refused.value)


def test_the_environment_wins_over_the_file_with_settings(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    example = tmp_path / ".env"
    example.write_text(f"SINEMORA_SECRET_KEY=of .env\nSINEMORA_SMTP_URL_FILE={file}\n")
    monkeypatch.setenv("SINEMORA_SECRET_KEY_FILE", str(file))
    monkeypatch.setenv("SINEMORA_SMTP_URL", "smtp://h")
    result = Settings(_env_file=example)
    assert result.secret_key is not None
    assert result.smtp_url is not None
    assert result.secret_key.get_secret_value() == SECRET
    assert result.smtp_url.get_secret_value() == "smtp://h"


def test_a_file_of_a_setting_that_is_no_secret_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SINEMORA_PORT_FILE", str(file))
    with pytest.raises(ValidationError, match="SINEMORA_PORT is not read from a file"):
        Settings(_env_file=None)


def test_all_problems_are_shown_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("SECRET_KEY", "SMTP_URL"):
        monkeypatch.setenv(f"SINEMORA_{name}_FILE", str(tmp_path / name))
    with pytest.raises(ValidationError) as refused:
        Settings(_env_file=None)
    assert explain(refused.value).count("cannot be read") == 2


def test_a_traceback_shows_no_value(file: Path):
    with pytest.raises(ValidationError) as refused:
        Settings(_env_file=None, database_url=f"mysql://u:{SECRET}@h/d")
    assert SECRET not in str(refused.value)


def test_workers_say_what_is_wrong_and_end(tmp_path: Path):
    given = os.environ | {"SINEMORA_SECRET_KEY_FILE": str(tmp_path / "missing")}
    command = [sys.executable, "-m", "celery", "--app", "sinemora.worker", "worker"]
    done = subprocess.run(command, env=given, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 1
    assert "SINEMORA_SECRET_KEY_FILE=" in done.stderr
    assert "Traceback" not in done.stderr
