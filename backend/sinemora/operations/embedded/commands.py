"""The commands of the embedded product: up, down, wait, demo, status, check, logs, replace, run, clean-data."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from pydantic import ValidationError
from typer import Argument, Exit, Option, Typer

from sinemora.kit.config import explain, settings
from sinemora.kit.folder_settings import FolderSettings
from sinemora.operations.embedded.data_folder import DataFolder, RunningError
from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.logs import follow
from sinemora.operations.embedded.replacing import SCHEMA
from sinemora.operations.embedded.replacing import replace as replace_programs
from sinemora.operations.embedded.servers.service_user import service_user
from sinemora.operations.embedded.services import local_address, operator_environment, use_settings_of
from sinemora.operations.embedded.up import data_folder, require_port
from sinemora.operations.embedded.up import up as run_product
from sinemora.operations.embedded.waiting import wait as wait_for_paths
from sinemora_client.commands import ResultAsJson, print_json

_DOWN_PATIENCE_S = 60.0
_NOT_RUNNING = EmbeddedError("Sinemora does not run here.", "Start it with `make up`.")

app = Typer(
    help="Run the embedded product.",
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
    pretty_exceptions_enable=False,
)


@contextmanager
def _reported(invalid: int = 1) -> Iterator[None]:
    """Print errors with the way out on standard error, then exit.

    `invalid` is the exit code when a setting is not valid.
    """
    try:
        yield
    except RunningError as running:
        print(running)
    except EmbeddedError as error:
        print(f"\n{error.what}\nWhat to do: {error.advice}", file=sys.stderr)
        raise Exit(1) from None
    except ValidationError as error:
        print(explain(error), file=sys.stderr)
        raise Exit(invalid) from None


@app.command()
@_reported()
def up() -> None:
    """Run everything here in the foreground until Ctrl-C."""
    raise Exit(run_product(settings()))


@app.command()
@_reported()
def down(as_json: ResultAsJson = False) -> None:
    """Stop the running product, from another terminal."""
    folder = data_folder(FolderSettings())
    state = folder.running()
    if state is None:
        if as_json:
            print_json({"stopped": False, "pid": None, "seconds": None})
        else:
            print("Sinemora does not run here: nothing to stop.")
        return
    pid = int(state["pid"])
    if not as_json:
        print(f"Stopping (process {pid}) …", end=" ", flush=True)
    started = time.monotonic()
    os.kill(pid, signal.SIGTERM)
    while folder.running() is not None:
        if time.monotonic() - started > _DOWN_PATIENCE_S:
            raise EmbeddedError(
                f"It still runs after {_DOWN_PATIENCE_S:.0f} s.", f"See its logs, or end it at once: kill -9 {pid}"
            )
        time.sleep(0.1)
    taken_s = time.monotonic() - started
    if as_json:
        print_json({"stopped": True, "pid": pid, "seconds": round(taken_s, 1)})
    else:
        print(f"stopped in {taken_s:.1f} s")


@app.command()
@_reported()
def wait() -> None:
    """Wait until every planned path of the demonstration mesh is measured."""
    raise Exit(wait_for_paths(settings(), data_folder(settings())))


@app.command()
@_reported()
def demo(
    seed: Annotated[int | None, Option(help="Seed of the network and its faults.", min=0, show_default="1")] = None,
    fresh: Annotated[bool, Option("--fresh", help="Delete the simulated tenant first, and load it again.")] = False,
    once: Annotated[bool, Option("--once", help="Return after loading.")] = False,
) -> None:
    """Load a simulated tenant of 100 VMs and 30 days, then send new windows until Ctrl-C."""
    folder = data_folder(settings())
    api = _running_api(folder)
    use_settings_of(settings(), folder)
    from sinemora.operations.embedded.simulated.play import play  # loads the backend

    try:
        raise Exit(play(folder, api, seed, fresh=fresh, once=once))
    except KeyboardInterrupt:
        print("\nStopped. What was loaded stays; make demo continues.", file=sys.stderr)
        raise Exit(130) from None


def _running_api(folder: DataFolder) -> str:
    """Return the URL of the API on this machine; raise EmbeddedError unless the product is up."""
    state = folder.running()
    if state is None:
        raise _NOT_RUNNING
    if state.get("phase") != "up":
        raise EmbeddedError(f"Sinemora is {state.get('phase', 'starting')}.", "Wait until it runs: make wait")
    return str(state.get("local_address") or local_address(settings()))


@app.command()
@_reported()
def replace(as_json: ResultAsJson = False) -> None:
    """Migrate the database, then replace API and workers by new starts of their programs.

    No connection is refused, and a worker finishes its task.
    """
    folder = data_folder(settings())
    api = _running_api(folder)

    def report(name: str, seconds: float) -> None:
        if not as_json:
            done = "migrated" if name == SCHEMA else "replaced"
            print(f"{name:10} {done} in {seconds:.1f} s", flush=True)

    env = operator_environment(settings(), folder, service_user(settings().service_user))
    taken = replace_programs(folder, api, env, report)
    if as_json:
        print_json({"replaced": taken})


@app.command()
@_reported()
def status(as_json: ResultAsJson = False) -> None:
    """Show each process of the running product. Exit code 1 unless all are up."""
    folder = data_folder(FolderSettings())
    state = folder.running()
    if state is None:
        raise _NOT_RUNNING
    if as_json:
        print_json(state | {"data_folder": folder.path})
    else:
        _print_processes(state, folder.path)
    if any(process["state"] != "up" for process in state["processes"].values()):
        raise Exit(1)


def _print_processes(state: dict[str, Any], path: Path) -> None:
    print(f"{state['address']}   {state['phase']}   process {state['pid']}   data in {path}\n")
    print(f"{'':14}{'state':20}{'process':>9}  {'for':>10}  restarts")
    for name, process in state["processes"].items():
        since = process["since"]
        age = "-" if since is None else timedelta(seconds=max(0, round(time.time() - since)))
        last = f"   last: {process['last_end']}" if process["restarts"] else ""
        print(f"{name:14}{process['state']:20}{process['pid'] or '-':>9}  {age!s:>10}  {process['restarts']}{last}")


@app.command()
@_reported(invalid=5)
def check(as_json: ResultAsJson = False) -> None:
    """Check whether the product can start: exit code 3 if it runs, 4 if the port is taken, 5 for a wrong setting."""
    state = data_folder(settings()).running()
    if state is None:
        try:
            require_port(settings())
        except EmbeddedError as error:
            print(f"{error.what}\nWhat to do: {error.advice}", file=sys.stderr)
            if as_json:
                print_json({"can_start": False, "reason": error.what})
            raise Exit(4) from None
        if as_json:
            print_json({"can_start": True, "reason": None})
        return
    if as_json:
        print_json({"can_start": False, "reason": f"It runs already: process {state.get('pid')}."})
        raise Exit(3)
    print(f"Sinemora runs already: {state.get('address', 'starting')} (process {state.get('pid')}).")
    print("`make status` shows its processes, `make down` stops it.")
    raise Exit(3)


@app.command()
@_reported()
def logs(
    of: Annotated[
        list[str] | None, Argument(help="Processes, for example api worker postgres.", show_default="all")
    ] = None,
    no_follow: Annotated[bool, Option("--no-follow", help="Print the end of each log and return.")] = False,
) -> None:
    """Follow the logs."""
    raise Exit(follow(data_folder(FolderSettings()).logs, of or [], endless=not no_follow))


@app.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@_reported()
def run(
    command: Annotated[list[str] | None, Argument(help="For example: pg_dump --format custom.")] = None,
) -> None:
    """Run a command with the settings and the database tools of the product."""
    folder = data_folder(settings())
    if not folder.is_ours():
        raise EmbeddedError(f"There is no data folder {folder.path} yet.", "Start the product first: make up")
    if not command:
        raise EmbeddedError("No command was given.", "For example: sinemora run pg_dump --format custom")
    env = operator_environment(settings(), folder, service_user(settings().service_user))
    os.environ["PATH"] = env["PATH"]  # where execvpe looks
    try:
        os.execvpe(command[0], command, env)
    except OSError as error:
        raise EmbeddedError(f"{command[0]} cannot be run: {error.strerror}.", "Check its name.") from None


@app.command()
@_reported()
def clean_data(
    yes: Annotated[bool, Option("--yes", help="Do not ask for confirmation.")] = False, as_json: ResultAsJson = False
) -> None:
    """Delete the data folder."""
    folder = data_folder(FolderSettings())
    if not folder.path.exists():
        if as_json:
            print_json({"deleted": False, "data_folder": folder.path})
        else:
            print(f"There is no data folder {folder.path}: nothing to delete.")
        return
    if folder.running() is not None:
        raise EmbeddedError("Sinemora runs on this folder.", "Stop it first: make down")
    if not yes:
        if not sys.stdin.isatty():
            raise EmbeddedError(f"This deletes everything in {folder.path}.", "If you mean it: make clean-data YES=1")
        if input(f"Delete everything in {folder.path}? Type yes: ").strip().lower() != "yes":
            print("Nothing was deleted.")
            raise Exit(1)
    folder.delete()
    if as_json:
        print_json({"deleted": True, "data_folder": folder.path})
    else:
        print(f"Deleted {folder.path}.")
