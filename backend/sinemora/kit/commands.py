"""Commands that ask the API: groups of them, and what they print."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from sinemora.kit.client import Client, RequestRefused, add_address, run

Action = Callable[[Client, argparse.Namespace], int | None]


def add_group(commands: Any, name: str, about: str) -> Any:
    """Add a command that only has commands of its own."""
    return commands.add_parser(name, help=about).add_subparsers(required=True, metavar="COMMAND")


def add_command(commands: Any, name: str, about: str, action: Action) -> argparse.ArgumentParser:
    """Add a command that asks the API."""
    command: argparse.ArgumentParser = commands.add_parser(name, help=about)
    add_address(command)
    command.add_argument("--json", action="store_true", help="print the API's response as JSON")
    command.set_defaults(run=lambda options: run(action, options))
    return command


def print_result(options: argparse.Namespace, found: Any, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table, or all of the answer as JSON."""
    if options.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return
    if not rows:
        return
    table = [[str(cell) for cell in row] for row in (header, *rows)]
    width = [max(len(row[at]) for row in table) for at in range(len(header))]
    for row in table:
        print("  ".join(cell.ljust(width[at]) for at, cell in enumerate(row)).rstrip())


def print_line(options: argparse.Namespace, words: str) -> None:
    """A line, unless JSON is asked for."""
    if not options.json:
        print(words)


def percent(value: float | None) -> str:
    """Return a ratio as a percentage."""
    return "-" if value is None else f"{value:.1%}"


def signed_percent(value: float | None) -> str:
    """Return a difference of ratios, with its sign."""
    return "-" if value is None else f"{value:+.1%}"


def bytes_of(file: Path) -> bytes:
    """What a file holds; `-` is standard input. Raises `RequestRefused`."""
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise RequestRefused(f"{file} cannot be read: {error.strerror}") from error


def yaml_of(file: Path) -> dict[str, Any]:
    """Read the YAML document of a file as JSON values (dates become text). `-` is standard input.

    Raises `RequestRefused`.
    """
    try:
        found = yaml.safe_load(bytes_of(file))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise RequestRefused(f"{file} is no YAML: {error}") from error
    if not isinstance(found, dict):
        raise RequestRefused(f"{file} should be one document with names and values.")
    plain: dict[str, Any] = json.loads(json.dumps(found, default=str))
    return plain


def write_text(text: str, file: Path | None) -> None:
    """Write a document into a file, or to standard output without one. Raises `RequestRefused`."""
    if file is None:
        sys.stdout.write(text)
        return
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise RequestRefused(f"{file} cannot be written: {error.strerror}") from error
