"""A variable that is almost a setting is refused by name; those of other programs are not."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from sinemora.kit.config import Settings, explain

pytestmark = pytest.mark.usefixtures("bare")

ROOT = Path(__file__).parents[3]
# Files with variables of every program of the product, and of those that build and replace it.
WITH_VARIABLES = (".env.example", "docker-compose.yml", "Makefile", "docs", "agent/agent/src", "infra")


def refusal() -> str:
    with pytest.raises(ValidationError) as caught:
        Settings(_env_file=None)
    return explain(caught.value)


@pytest.mark.parametrize(
    ("misspelt", "right"),
    [
        ("RETENTION_RAW_DAY", "RETENTION_RAW_DAYS"),
        ("RETENTION_RAW", "RETENTION_RAW_DAYS"),
        ("AGED_AFTER_DAY", "AGED_AFTER_DAYS"),
        ("STORAGE_BUCKETS", "STORAGE_BUCKET"),
        ("TRUSTED_PROXY", "TRUSTED_PROXIES"),
        ("OWNER_PASWORD", "OWNER_PASSWORD"),
        ("DATABASE_PASSWORD_FILES", "DATABASE_PASSWORD_FILE"),
    ],
)
def test_a_name_near_a_setting_is_refused_with_that_setting(misspelt: str, right: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(f"SINEMORA_{misspelt}", "geheim")
    said = refusal()
    assert f"SINEMORA_{misspelt} is not a setting; did you mean SINEMORA_{right}?" in said
    assert "geheim" not in said


def test_every_misspelt_name_is_refused_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SINEMORA_RETENTION_RAW_DAY", "30")
    monkeypatch.setenv("SINEMORA_PUBLIC_URLS", "https://a.example")
    assert refusal().count("is not a setting") == 2


def test_a_misspelt_name_in_the_file_of_settings_is_refused(tmp_path: Path):
    file = tmp_path / ".env"
    file.write_text("SINEMORA_RETENTION_RAW_DAY=30\n")
    with pytest.raises(ValidationError, match="SINEMORA_RETENTION_RAW_DAYS"):
        Settings(_env_file=file)


def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SINEMORA_RETENTION_RAW_DAY", "")
    assert Settings(_env_file=None).retention_raw_days == 3


def test_no_variable_of_another_program_of_the_product_is_refused(monkeypatch: pytest.MonkeyPatch):
    """All names that files of the product have, apart from the settings themselves, and some of a company's scripts."""
    texts = [
        file.read_text("utf-8", errors="ignore")
        for part in WITH_VARIABLES
        for file in ([ROOT / part] if (ROOT / part).is_file() else sorted((ROOT / part).rglob("*")))
        if file.is_file() and ROOT / "infra/test" not in file.parents  # the tests of the chart misspell some
    ]
    names = {name for text in texts for name in re.findall(r"\bSINEMORA_[A-Z0-9_]*[A-Z0-9]\b", text)}
    settings = {f"SINEMORA_{name.upper()}{suffix}" for name in Settings.model_fields for suffix in ("", "_FILE")}
    scripts = {"SINEMORA_TOKEN", "SINEMORA_TEST_DATABASE_URL", "SINEMORA_TEAM", "SINEMORA_ENV"}
    others = (names | scripts) - settings
    assert len(others) > 60
    for name in others:
        monkeypatch.setenv(name, "1")
    Settings(_env_file=None)


def test_a_command_says_it_in_a_line_without_a_traceback(monkeypatch: pytest.MonkeyPatch, run):
    monkeypatch.setenv("SINEMORA_RETENTION_RAW_DAY", "30")
    printed = run("migrate", code=1)
    assert "did you mean SINEMORA_RETENTION_RAW_DAYS?" in printed
    assert "Traceback" not in printed
