"""The command line: what it lists, imports and refuses."""

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_group

from sinemora.cli import IMPORTED, app


@pytest.mark.parametrize("name", sorted(IMPORTED))
def test_a_listed_command_is_the_one_of_its_module(name: str) -> None:
    module, listed = IMPORTED[name]
    help_text = get_group(import_module(module).app).commands[name].help or ""
    assert help_text.startswith(listed.removesuffix("."))


def test_every_command_of_a_module_is_listed() -> None:
    for module in {module for module, _ in IMPORTED.values()}:
        assert {name for name, (of, _) in IMPORTED.items() if of == module} == set(
            get_group(import_module(module).app).commands
        )


def test_help_imports_no_command_and_no_settings() -> None:
    code = (
        "import sys\nfrom sinemora.cli import main\nassert main(['--help']) == 0\n"
        "loaded = {name.split('.')[0] for name in sys.modules}\n"
        "assert not loaded & {'numpy', 'sqlalchemy', 'fastapi', 'celery', 'pydantic_settings', 'rich'}, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "clean-data" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["applicatons"], "Did you mean 'applications'?"),
        ([], "Missing command"),
        (["recommend", "--mesh", "a", "--policy", "gang"], "'best', 'nomora'"),
        (["export", "weather", "--mesh", "a"], "comparison, distribution, latency-budgets, losses"),
        (["simulate", "--policy", "gang"], "'nomora', 'best', 'best_no_moves'"),
        (["receivers", "add", "a", "--kind", "fax"], "'email', 'webhook', 'slack', 'pagerduty', 'teams'"),
        (["rules", "preview", "Slow"], "--source"),
        (["recommend", "--mesh", "a", "--minutes", "x"], "--minutes"),
        (["receivers", "add", "a", "--colour", "red"], "No such option: --colour"),
    ],
)
def test_a_value_that_is_not_understood_is_named(arguments: list[str], words: str, run) -> None:
    assert words in run(*arguments, code=2)


def commands() -> dict[tuple[str, ...], set[str]]:
    """Return the options of every command by its words."""

    def leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], set[str]]]:
        for name, inner in getattr(command, "commands", {}).items():
            yield from leaves(inner, (*path, name))
        if not getattr(command, "commands", {}):
            yield path, {option for parameter in command.params for option in parameter.opts}

    own = {path: options for path, options in leaves(get_group(app), ()) if path[0] not in IMPORTED}
    modules = [get_group(import_module(module).app) for module in {module for module, _ in IMPORTED.values()}]
    return own | {path: options for module in modules for path, options in leaves(module, ())}


# They run until they are stopped, write a document or a file of their own format, or run another command.
WITHOUT_RESULT = {
    ("serve",),
    ("migrate",),
    ("distribute",),
    ("openapi",),
    ("archive",),
    ("up",),
    ("wait",),
    ("demo",),
    ("gateway",),
    ("logs",),
    ("run",),
    ("advise", "burst-receiver"),
    ("evidence", "verify"),
    ("profile",),
    ("simulate",),
}


def test_every_command_with_a_result_has_json() -> None:
    without = {path for path, options in commands().items() if "--json" not in options}
    assert without == WITHOUT_RESULT


def test_every_command_that_calls_the_api_takes_a_profile_and_answers_in_json() -> None:
    found = {
        path: options
        for path, options in commands().items()
        if {"--url", "--key"} <= options and path != ("evidence", "verify")  # its --key is a public key
    }
    assert len(found) > 50
    assert [path for path, options in found.items() if not {"--json", "--profile"} <= options] == []


@pytest.mark.parametrize(("words", "found"), [("sinemora inci", "incidents"), ("sinemora rules im", "import")])
def test_the_shell_completes_commands(words: str, found: str) -> None:
    env = os.environ | {
        "_SINEMORA_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
        "_TYPER_COMPLETE_ARGS": words,
    }
    code = "import sys\nfrom sinemora.cli import main\nsys.exit(main([]))"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert found in done.stdout.split(), done.stderr


_AWAY = "postgresql://sinemora_app@127.0.0.1:9/none"


@pytest.mark.parametrize(
    "arguments",
    [
        ["migrate"],
        ["owner", "create", "--email", "a@b.example"],
        ["verify"],
    ],
)
def test_a_database_that_is_away_is_said_with_advice(arguments: list[str], tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("SINEMORA_", "PG"))}
    env |= {"SINEMORA_DATABASE_URL": _AWAY, "SINEMORA_DATABASE_SYSTEM_URL": _AWAY, "SINEMORA_DATABASE_OWNER_URL": _AWAY}
    env |= {"SINEMORA_SECRET_KEY": "x" * 32, "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "sinemora.cli", *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1, done
    assert "Traceback" not in done.stderr
    assert "Connection refused" in done.stderr
    assert "What to do: check that PostgreSQL runs" in done.stderr
