"""Commands of the terminal: options of commands that call the API, printed results, files."""

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

from typer import Exit, Option, Typer

from sinemora_client import Client, SinemoraError
from sinemora_client.commands.percent import percent
from sinemora_client.profiles import KEY, Profile, ProfileError, key_of_environment, load

if TYPE_CHECKING:
    from sinemora_client.models import JobRead

P = ParamSpec("P")
Command = Callable[..., None]


def profile_names(incomplete: str) -> list[str]:
    """Return the profiles that a shell completes."""
    try:
        return [name for name in sorted(load().by_name) if name.startswith(incomplete)]
    except ProfileError:
        return []


Url = Annotated[str | None, Option(help="Address of the backend.", show_default="of the profile; SINEMORA_PUBLIC_URL")]
Key = Annotated[
    str | None,
    Option(help="API key.", show_default=f"{KEY} or the file {KEY}_FILE, hidden from other users; else the profile"),
]
ProfileName = Annotated[
    str | None,
    Option(
        help="Profile of `sinemora login`.",
        show_default="SINEMORA_PROFILE, else the current one",
        autocompletion=profile_names,
    ),
]
Mesh = Annotated[str | None, Option(help="Name or id of the mesh; not needed where there is one mesh.")]
AsJson = Annotated[bool, Option("--json", help="Print the API's response as JSON.")]
ResultAsJson = Annotated[bool, Option("--json", help="Print the result as JSON.")]
"""Option of commands that call no API."""


class CommandError(SinemoraError):
    """Failure of a command; `code` is stable where programs may care."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


class Terminal(Client):
    """Client of the API that finds things by name and prints results as tables, or as JSON."""

    as_json: bool = False

    def get(self, path: str, **query: Any) -> Any:
        """Return the JSON response to GET. Lists in `query` become repeated parameters; None is left out."""
        return self._json("GET", path, params=query)

    def read(
        self,
        path: str,
        body: Any = None,
        *,
        method: str | None = None,
        media_type: str = "application/json",
        params: Mapping[str, Any] | None = None,
        if_match: str | None = None,
    ) -> Any:
        """Return the JSON response to GET, or to POST (or `method`) with a body; bytes are sent as they are."""
        method = method or ("GET" if body is None else "POST")
        sent = {"content": body, "media_type": media_type} if isinstance(body, bytes) else {"body": body}
        headers = {} if if_match is None else {"If-Match": if_match}
        response = self.request(method, path, params=params, headers=headers, **sent)
        return response.json() if response.content else None

    def save(self, out: IO[bytes], path: str, params: Mapping[str, Any] | None = None) -> int:
        """Write the file that GET returns, at once or once its job is done. Return its size, bytes."""
        with self.stream("GET", path, params=params) as response:
            if response.status_code != 202:
                return sum(out.write(part) for part in response.iter_bytes())
            response.read()
        return self.save(out, str(self.finished(response.json())["result_href"]))

    def named(self, path: str, name: str, what: str) -> Any:
        """Return the item of a list with this name or id. Raises `CommandError`."""
        for item in self.items(path):
            if name in (item["id"], item["name"]):
                return item
        raise CommandError(f"Unknown {what}: {name}.", f"{what}_unknown")

    def mesh_id(self, name: str | None) -> str:
        """Return the id of a mesh by name or id; of the only mesh without a name. Raises `CommandError`."""
        if name is not None:
            return str(self.named("/v1/meshes", name, "mesh")["id"])
        meshes = list(self.list_meshes())
        if len(meshes) != 1:
            names = ", ".join(mesh["name"] for mesh in meshes)
            raise CommandError(f"Which mesh? Name one with --mesh: {names}." if meshes else "There is no mesh yet.")
        return meshes[0]["id"]

    def get_or_wait(self, path: str, **query: Any) -> Any:
        """Return the JSON response to GET, or the output of the job that computes it."""
        response = self.request("GET", path, params=query, headers={"Accept": "application/json"})
        if response.status_code != 202:
            return response.json()
        return self.result(response.json(), on_progress=Progress())

    def finished(self, job: "JobRead") -> "JobRead":
        """Wait for the end of a job and return it; show its progress. Raises `JobFailed` unless it succeeded."""
        return self.wait(job, on_progress=Progress())

    def result_of(self, job: "JobRead") -> dict[str, Any]:
        """Wait for the end of a job and return its `result`; show its progress. Raises `JobFailed`."""
        return self.finished(job)["result"] or {}

    def print_result(self, result: Any, header: Sequence[str] = (), rows: Sequence[Sequence[Any]] = ()) -> None:
        """Print a table, or all of the response as JSON."""
        if self.as_json:
            print_json(result)
        elif rows:
            print(table(header, rows))

    def print_line(self, words: str) -> None:
        """Print a line, unless JSON is asked for."""
        if not self.as_json:
            print(words)


class Progress:
    """Progress of a job on standard error: one line that changes on a terminal, else a line for each change."""

    def __init__(self) -> None:
        self._printed = ""

    def __call__(self, job: "JobRead") -> None:
        """Show the state of the job, unless it is shown already."""
        over = job["state"] in ("succeeded", "failed", "cancelled")
        share = "" if job["progress"] is None else f" {percent(job['progress'], 0)}"
        line = f"{job['title']}: {job['state']}{share} {job['note']}".rstrip()
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K" + ("" if over else f"{_bar(job['progress'])} {line}"[: _columns()]))
            sys.stderr.flush()
        elif line != self._printed and not over:
            print(line, file=sys.stderr)
        self._printed = line


def _bar(share: float | None) -> str:
    full = round(20 * (share or 0.0))
    return f"[{'#' * full}{'.' * (20 - full)}]"


def _columns() -> int:
    return max(20, os.get_terminal_size(sys.stderr.fileno()).columns - 1)


@contextmanager
def terminal(url: str | None, key: str | None, as_json: bool = False, profile: str | None = None) -> Iterator[Terminal]:
    """Yield a client of the API. Exit with 1 when the API refuses a request, with 2 without a key."""
    try:
        entry = _access(url, key, profile)
    except ProfileError as error:
        print(error, file=sys.stderr)
        raise Exit(2) from None
    try:
        with Terminal(entry.url, entry.key) as client:
            client.as_json = as_json
            yield client
    except SinemoraError as error:
        print(error, file=sys.stderr)
        raise Exit(1) from None


def _access(url: str | None, key: str | None, profile: str | None) -> Profile:
    """Return address and key: those given, else of the profile named, of the environment, of the current profile.

    Raises `ProfileError`.
    """
    key = key or ("" if profile else key_of_environment())
    if key:
        return Profile(url or public_url(), key)
    stored = load()
    if profile is None and stored.name() not in stored.by_name:
        raise ProfileError(
            f"Not signed in, and neither {KEY} nor {KEY}_FILE is set. Run `sinemora login --url https://…`, or create a"
            " key on the page API keys."
        )
    entry = stored.profile(profile)
    if url is not None and url.rstrip("/") != entry.url:
        raise ProfileError(f"The key of profile {stored.name(profile)} is for {entry.url}, not for {url}: give --key.")
    return entry


def public_url() -> str:
    """Return the address of an installation without a profile: SINEMORA_PUBLIC_URL, else that of `make up` here."""
    return os.environ.get("SINEMORA_PUBLIC_URL") or "http://127.0.0.1:8420"


def print_json(result: Any) -> None:
    """Print a result as JSON; times and paths as text."""
    print(json.dumps(result, indent=2, ensure_ascii=False, default=str))


def _with_client(action: Callable[Concatenate[Terminal, P], None]) -> Command:
    """Return `action` as a command with a client; adds the options --url, --key, --profile and --json."""

    def command(
        *, url: Url = None, key: Key = None, profile: ProfileName = None, as_json: AsJson = False, **options: Any
    ) -> None:
        with terminal(url, key, as_json, profile) as client:
            action(client, **options)  # type: ignore[call-arg]

    own = list(inspect.signature(action, eval_str=True).parameters.values())[1:]
    shared = list(inspect.signature(command).parameters.values())[:-1]
    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in (*own, *shared)]
    command.__name__, command.__doc__ = action.__name__, action.__doc__
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command


def api_command(app: Typer, name: str | None = None) -> Callable[[Callable[Concatenate[Terminal, P], None]], Command]:
    """Return the decorator that adds a command with a client to `app`, by default under the name of its function."""
    return lambda action: app.command(name)(_with_client(action))


def moment_of(text: str) -> datetime:
    """Return a time of the command line; one without a time zone is UTC. ValueError."""
    at = datetime.fromisoformat(text)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return rows under their header, in columns."""
    cells = [[str(cell) for cell in row] for row in (header, *rows)]
    width = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(cell.ljust(width[at]) for at, cell in enumerate(row)).rstrip() for row in cells)


def bytes_of(file: Path) -> bytes:
    """Return the content of a file; `-` is standard input. Raises `CommandError`."""
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}") from error


def utf8_of(file: Path) -> str:
    """Return the text of a UTF-8 file; `-` is standard input. Raises `CommandError`."""
    try:
        return bytes_of(file).decode()
    except UnicodeDecodeError as error:
        hint = "save it as UTF-8 (in a spreadsheet: CSV UTF-8)"
        raise CommandError(f"{file} is not UTF-8 text at byte {error.start}: {hint}.") from error


def yaml_of(file: Path) -> dict[str, Any]:
    """Read the YAML document of a file as JSON values (dates become text). `-` is standard input.

    Raises `CommandError`.
    """
    import yaml  # few commands read a file

    try:
        document = yaml.load(bytes_of(file), yaml.CSafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise CommandError(f"{file}: Not YAML: {error}") from error
    if not isinstance(document, dict):
        raise CommandError(f"{file} must be one YAML document with keys and values.")
    plain: dict[str, Any] = json.loads(json.dumps(document, default=str))
    return plain


def write_text(text: str, file: Path | None) -> None:
    """Write a document into a file, or to standard output without one. Raises `CommandError`."""
    if file is None:
        sys.stdout.write(text)
        return
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}") from error


def check_writable(file: Path | None) -> None:
    """Check that a result can be written into a file, before the work for it. Raises `CommandError`."""
    if file is None:
        return
    is_new = not file.exists()
    try:
        with file.open("a", encoding="utf-8"):
            pass
        if is_new:
            file.unlink()
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}") from error
