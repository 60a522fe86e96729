"""Commands of the terminal: options of commands that call the API, printed results, files."""

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Concatenate, ParamSpec

from typer import Exit, Option

from sinemora.kit import yaml_text
from sinemora.kit.client import KEY, Client, RequestRefused
from sinemora.kit.config import settings

P = ParamSpec("P")
Url = Annotated[str | None, Option(help="Address of the backend.", show_default="SINEMORA_PUBLIC_URL")]
Key = Annotated[str | None, Option(help="API key.", show_default=f"{KEY}, hidden from other users")]
Mesh = Annotated[str | None, Option(help="Name or id of the mesh; not needed where there is one mesh.")]
AsJson = Annotated[bool, Option("--json", help="Print the API's response as JSON.")]


class Terminal(Client):
    """Client of the API that prints results as tables, or as JSON."""

    def __init__(self, url: str, key: str, as_json: bool = False) -> None:
        super().__init__(url, key)
        self.as_json = as_json

    def print_result(self, result: Any, header: Sequence[str] = (), rows: Sequence[Sequence[Any]] = ()) -> None:
        """Print a table, or all of the response as JSON."""
        if self.as_json:
            print(json.dumps(result, indent=2, ensure_ascii=False))
        elif rows:
            print(table(header, rows))

    def print_line(self, words: str) -> None:
        """Print a line, unless JSON is asked for."""
        if not self.as_json:
            print(words)


@contextmanager
def terminal(url: str | None, key: str | None, as_json: bool = False) -> Iterator[Terminal]:
    """Yield a client of the API. Exit with 1 when the API refuses a request, with 2 without a key."""
    key = key or os.environ.get(KEY, "")
    if not key:
        print(f"{KEY} is empty. An owner creates keys on the page API keys.", file=sys.stderr)
        raise Exit(2)
    try:
        yield Terminal(url or settings().public_url, key, as_json)
    except RequestRefused as error:
        print(error, file=sys.stderr)
        raise Exit(1) from None


def calls_api(action: Callable[Concatenate[Terminal, P], None]) -> Callable[..., None]:
    """Return `action` as a command with a client; adds the options --url, --key and --json."""

    def command(*, url: Url = None, key: Key = None, as_json: AsJson = False, **options: Any) -> None:
        with terminal(url, key, as_json) as client:
            action(client, **options)  # type: ignore[call-arg]

    own = list(inspect.signature(action, eval_str=True).parameters.values())[1:]
    shared = list(inspect.signature(command).parameters.values())[:-1]
    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (*own, *shared)]
    command.__name__, command.__doc__ = action.__name__, action.__doc__
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def require_database() -> None:
    """Exit with 1 unless the settings name a database. The address of the embedded one is known only inside it."""
    if not settings().database_url:
        print(
            "SINEMORA_DATABASE_URL is empty. Set it, or use the embedded database: `make up` runs everything,"
            " `sinemora run COMMAND` runs one command against it.",
            file=sys.stderr,
        )
        raise Exit(1)


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return rows under their header, in columns."""
    cells = [[str(cell) for cell in row] for row in (header, *rows)]
    width = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(cell.ljust(width[at]) for at, cell in enumerate(row)).rstrip() for row in cells)


def bytes_of(file: Path) -> bytes:
    """Return the content of a file; `-` is standard input. Raises `RequestRefused`."""
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise RequestRefused(f"{file} cannot be read: {error.strerror}") from error


def yaml_of(file: Path) -> dict[str, Any]:
    """Read the YAML document of a file as JSON values (dates become text). `-` is standard input.

    Raises `RequestRefused`.
    """
    try:
        document = yaml_text.load(bytes_of(file))
    except yaml_text.YamlError as error:
        raise RequestRefused(f"{file}: {error}") from error
    if not isinstance(document, dict):
        raise RequestRefused(f"{file} must be one YAML document with keys and values.")
    plain: dict[str, Any] = json.loads(json.dumps(document, default=str))
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
