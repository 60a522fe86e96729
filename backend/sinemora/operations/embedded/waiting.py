"""Command `sinemora wait`: waits until every planned path of the demonstration mesh is measured."""

import os
import time
from collections.abc import Callable
from typing import Any

from sinemora.kit.config import Settings
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.services import answers, local_address, use_settings_of

DEFAULT_S = 300.0
_PAUSE_S = 0.5
_SHOWN = 8


def wait(settings: Settings, folder: DataFolder) -> int:
    """Print progress until the mesh is complete. EmbeddedError with the reason after SINEMORA_WAIT_S."""
    limit_s = _limit_s()
    deadline = time.monotonic() + limit_s
    printed = ""
    state: dict[str, Any] = {}

    def until(done: Callable[[], str]) -> None:
        """Repeat `done` until it returns no reason to wait; print each new reason."""
        nonlocal printed
        while reason := done():
            if reason != printed:
                print(f"{reason} …", flush=True)
                printed = reason
            if time.monotonic() > deadline:
                raise EmbeddedError(f"Not complete after {limit_s:.0f} s: {reason}", _advice(state))
            time.sleep(_PAUSE_S)

    def not_up() -> str:
        state.clear()
        state.update(folder.running() or {})
        if not state:
            return "Sinemora does not run yet: waiting for `make up`"
        return "" if state["phase"] == "up" else f"Sinemora is {state['phase']}"

    until(not_up)
    # The product's own: it may have been started with another port than this command.
    api = state.get("local_address") or local_address(settings)
    until(lambda: "" if answers(f"{api}/readyz") else "The API is not ready")
    agents = sum(name.startswith("agent-") for name in state["processes"])
    if agents == 0:
        print("No demonstration is configured; the API is ready.")
        return 0
    use_settings_of(settings, folder)
    until(lambda: _not_measured(agents))
    print(f"The demonstration mesh is complete: {agents * (agents - 1)} paths between {agents} machines.")
    return 0


def _not_measured(agents: int) -> str:
    from sqlalchemy.exc import SQLAlchemyError

    from sinemora.operations.embedded.readiness import coverage  # loads the backend

    try:
        result = coverage()
    except SQLAlchemyError as error:
        return f"The database does not respond ({type(error).__name__})"
    if result.complete(agents):
        return ""
    if result.members < agents:
        return f"{result.members} of {agents} machines are enrolled"
    more = f" and {len(result.missing) - _SHOWN} more" if len(result.missing) > _SHOWN else ""
    measured = result.planned - len(result.missing)
    return f"{measured} of {result.planned} paths are measured; {', '.join(result.missing[:_SHOWN])}{more}"


def _limit_s() -> float:
    text = os.environ.get("SINEMORA_WAIT_S") or str(DEFAULT_S)
    try:
        return float(text)
    except ValueError:
        raise EmbeddedError(f"SINEMORA_WAIT_S is {text!r}, not a number of seconds.", "For example: 120") from None


def _advice(state: dict[str, Any]) -> str:
    if not state:
        return "Start it in another terminal: make up"
    down = [name for name, process in state.get("processes", {}).items() if process["state"] != "up"]
    return f"See make status and {'the logs of ' + ', '.join(down) if down else 'make logs'}."
