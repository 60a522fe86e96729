"""Every setting is explained, with the default it has."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from sinemora.kit import config
from sinemora.kit.config import Settings

ROOT = Path(__file__).parents[2]
LINE = re.compile(r"^#SINEMORA_([A-Z0-9_]+)=(.*)$", re.MULTILINE)
# Worked out from other settings when they are empty.
DERIVED = {"public_url", "database_owner_url", "cookie_secure"}


def documented() -> dict[str, str]:
    return dict(LINE.findall((ROOT / ".env.example").read_text()))


def test_every_setting_is_explained():
    assert {name.upper() for name in Settings.model_fields} <= set(documented())


def test_every_variable_of_the_stack_is_explained():
    used = set(re.findall(r"SINEMORA_([A-Z0-9_]+)", (ROOT / "docker-compose.yml").read_text()))
    secrets = {f"{name.upper()}_FILE" for name in config.SECRETS}
    assert used - secrets <= set(documented())


@pytest.mark.parametrize("name", sorted(set(Settings.model_fields) - DERIVED))
def test_defaults_are_the_documented_ones(name: str):
    default = Settings.model_fields[name].default
    assert documented()[name.upper()] == ("" if default is None else str(default))


def test_uncommented_the_example_is_valid(tmp_path: Path, bare: None):
    example = tmp_path / ".env"
    example.write_text(re.sub(r"^#(SINEMORA_)", r"\1", (ROOT / ".env.example").read_text(), flags=re.MULTILINE))
    assert Settings(_env_file=example).port == 8420


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_any_common_database_address_works(scheme: str, bare: None):
    result = Settings(_env_file=None, database_url=f"{scheme}://u@h/d")
    assert result.database_url == result.database_owner_url == "postgresql+psycopg://u@h/d"


@pytest.mark.parametrize(
    ("public_url", "secure"), [("", False), ("https://x.example/", True), ("http://x.example", False)]
)
def test_cookies_follow_the_public_address(public_url: str, secure: bool, bare: None):
    result = Settings(_env_file=None, public_url=public_url)
    assert result.cookie_secure is secure
    assert result.public_url == (public_url.rstrip("/") or "http://127.0.0.1:8420")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", "0"),
        ("port", "x"),
        ("log_level", "loud"),
        ("demo_agents", "-1"),
        ("demo_story", "loud"),
        ("session_hours", "0"),
        ("public_url", "sinemora.example.com"),
        ("public_url", "https://intranet.example/sinemora"),
        ("redis_url", "localhost"),
        ("redis_url", "redis:///0"),
        ("database_url", "mysql://u@h/d"),
        ("database_owner_url", "postgres://u:secret@h:54x2/d"),
    ],
)
def test_a_setting_that_cannot_be_is_named(name: str, value: str, servers, set_to, run):
    with pytest.raises(ValidationError):
        Settings(_env_file=None, **{name: value})
    set_to(**{name: value})
    printed = run("owner", "create", code=1)
    shown = "" if name in {"database_url", "database_owner_url", "redis_url"} else f"={value}"
    assert f"SINEMORA_{name.upper()}{shown}: " in printed
    assert "secret" not in printed


@pytest.mark.parametrize("command", [["serve"], ["migrate"], ["owner", "create"]])
def test_without_a_database_the_commands_say_what_to_set(command: list[str], servers, set_to, run):
    set_to(database_url=None)
    assert "SINEMORA_DATABASE_URL" in run(*command, code=1)
