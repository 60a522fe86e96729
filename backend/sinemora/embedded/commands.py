"""The commands of the embedded product: up, down, wait, status, logs, clean-data."""

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta

from pydantic import ValidationError

from sinemora.embedded.data_folder import DataFolder, RunningError
from sinemora.embedded.errors import TroubleError
from sinemora.embedded.logs import follow
from sinemora.embedded.service_user import service_user
from sinemora.embedded.services import operator_environment
from sinemora.embedded.up import data_folder, require_port, up
from sinemora.embedded.waiting import wait
from sinemora.kit.config import Settings, explain, settings

_DOWN_PATIENCE_S = 60.0
_NOT_RUNNING = TroubleError("Sinemora does not run here.", "Start it with `make up`.")


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the commands with the command line."""
    command = commands.add_parser("up", help="run everything here in the foreground until Ctrl-C")
    command.set_defaults(run=_command(lambda found, _: up(found)))

    command = commands.add_parser("down", help="stop the running product, from another terminal")
    command.set_defaults(run=_command(_down))

    command = commands.add_parser("wait", help="wait until every planned path of the demonstration mesh is measured")
    command.set_defaults(run=_command(lambda found, _: wait(found, data_folder(found))))

    command = commands.add_parser("status", help="show each process of a running product")
    command.set_defaults(run=_command(_status))

    command = commands.add_parser(
        "check",
        help="check whether it can start: exit code 3 if it runs, 4 if the port is taken, 5 for a wrong setting",
    )
    command.set_defaults(run=_command(_check, invalid=5))

    command = commands.add_parser("logs", help="follow the logs")
    command.add_argument("of", nargs="*", help="processes, for example api worker postgres (default: all)")
    command.add_argument("--no-follow", action="store_true", help="print the end of each log and return")
    command.set_defaults(run=_command(_logs))

    command = commands.add_parser("run", help="run a command with the settings and the database tools of the product")
    command.add_argument("command", nargs=argparse.REMAINDER, help="for example: pg_dump --format custom")
    command.set_defaults(run=_command(_run))

    command = commands.add_parser("clean-data", help="delete the data folder")
    command.add_argument("--yes", action="store_true", help="do not ask for confirmation")
    command.set_defaults(run=_command(_clean_data))


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m sinemora.embedded`: these commands alone, without loading the backend."""
    parser = argparse.ArgumentParser(prog="sinemora", description=__doc__)
    add(parser.add_subparsers(required=True, metavar="COMMAND"))
    options = parser.parse_args(arguments)
    return int(options.run(options) or 0)


def _command(
    action: Callable[[Settings, argparse.Namespace], int], invalid: int = 1
) -> Callable[[argparse.Namespace], int]:
    """Run `action` with the settings; what it cannot do is said on standard error, with the way out.

    `invalid` is the exit code when a setting cannot be.
    """

    def run(options: argparse.Namespace) -> int:
        try:
            return action(settings(), options)
        except RunningError as running:
            print(running)
            return 0
        except TroubleError as trouble:
            print(f"\n{trouble.what}\nWhat to do: {trouble.advice}", file=sys.stderr)
            return 1
        except ValidationError as error:
            print(explain(error), file=sys.stderr)
            return invalid
        except KeyboardInterrupt:
            return 130

    return run


def _down(found: Settings, _: argparse.Namespace) -> int:
    folder = data_folder(found)
    state = folder.running()
    if state is None:
        print("Sinemora does not run here: nothing to stop.")
        return 0
    pid = int(state["pid"])
    print(f"Stopping (process {pid}) …", end=" ", flush=True)
    started = time.monotonic()
    os.kill(pid, signal.SIGTERM)
    while folder.running() is not None:
        if time.monotonic() - started > _DOWN_PATIENCE_S:
            raise TroubleError(
                f"It still runs after {_DOWN_PATIENCE_S:.0f} s.", f"See its logs, or end it at once: kill -9 {pid}"
            )
        time.sleep(0.1)
    print(f"stopped in {time.monotonic() - started:.1f} s")
    return 0


def _check(found: Settings, _: argparse.Namespace) -> int:
    state = data_folder(found).running()
    if state is None:
        try:
            require_port(found)
        except TroubleError as trouble:
            print(f"{trouble.what}\nWhat to do: {trouble.advice}", file=sys.stderr)
            return 4
        return 0
    print(f"Sinemora runs already: {state.get('address', 'starting')} (process {state.get('pid')}).")
    print("`make status` shows its processes, `make down` stops it.")
    return 3


def _status(found: Settings, _: argparse.Namespace) -> int:
    folder = data_folder(found)
    state = folder.running()
    if state is None:
        raise _NOT_RUNNING
    print(f"{state['address']}   {state['phase']}   process {state['pid']}   data in {folder.path}\n")
    print(f"{'':14}{'state':20}{'process':>9}  {'for':>10}  restarts")
    for name, one in state["processes"].items():
        age = timedelta(seconds=max(0, round(time.time() - one["since"])))
        last = f"   last: {one['last_end']}" if one["restarts"] else ""
        print(f"{name:14}{one['state']:20}{one['pid'] or '-':>9}  {age!s:>10}  {one['restarts']}{last}")
    return 0 if all(one["state"] == "up" for one in state["processes"].values()) else 1


def _logs(found: Settings, options: argparse.Namespace) -> int:
    return follow(data_folder(found).logs, options.of, endless=not options.no_follow)


def _run(found: Settings, options: argparse.Namespace) -> int:
    folder = data_folder(found)
    if not folder.is_ours():
        raise TroubleError(f"There is no data folder {folder.path} yet.", "Start the product first: make up")
    if not options.command:
        raise TroubleError("No command was given.", "For example: sinemora run pg_dump --format custom")
    env = operator_environment(found, folder, service_user(found.service_user))
    os.environ["PATH"] = env["PATH"]  # where execvpe looks
    try:
        os.execvpe(options.command[0], options.command, env)
    except OSError as error:
        raise TroubleError(f"{options.command[0]} cannot be run: {error.strerror}.", "Check its name.") from None


def _clean_data(found: Settings, options: argparse.Namespace) -> int:
    folder: DataFolder = data_folder(found)
    if not folder.path.exists():
        print(f"There is no data folder {folder.path}: nothing to delete.")
        return 0
    if folder.running() is not None:
        raise TroubleError("Sinemora runs on this folder.", "Stop it first: make down")
    if not options.yes:
        if not sys.stdin.isatty():
            raise TroubleError(f"This deletes everything in {folder.path}.", "If you mean it: make clean-data YES=1")
        if input(f"Delete everything in {folder.path}? Type yes: ").strip().lower() != "yes":
            print("Nothing was deleted.")
            return 1
    folder.delete()
    print(f"Deleted {folder.path}.")
    return 0
