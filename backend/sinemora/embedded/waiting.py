"""`make wait`: returns when every planned path of the demonstration mesh has been measured."""

import os
import time
from collections.abc import Callable
from typing import Any

from sinemora.embedded.data_folder import DataFolder
from sinemora.embedded.errors import TroubleError
from sinemora.embedded.service_user import service_user
from sinemora.embedded.services import Engines, answers, environment, local_address
from sinemora.kit import config
from sinemora.kit.config import Settings

DEFAULT_S = 300.0
_PAUSE_S = 0.5
_SHOWN = 8


def wait(settings: Settings, folder: DataFolder) -> int:
    """Print progress until the mesh is complete; TroubleError with the reason when SINEMORA_WAIT_S have passed."""
    limit_s = _limit_s()
    deadline = time.monotonic() + limit_s
    said = ""
    state: dict[str, Any] = {}

    def until(done: Callable[[], str]) -> None:
        """Ask until the answer is empty; a new answer is printed."""
        nonlocal said
        while reason := done():
            if reason != said:
                print(f"{reason} …", flush=True)
                said = reason
            if time.monotonic() > deadline:
                raise TroubleError(f"Not complete after {limit_s:.0f} s: {reason}", _advice(state))
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
        print("There is no demonstration here; the API is ready.")
        return 0
    _use_settings_of(settings, folder)
    until(lambda: _not_measured(agents))
    print(f"The demonstration mesh is complete: {agents * (agents - 1)} paths between {agents} machines.")
    return 0


def _not_measured(agents: int) -> str:
    from sqlalchemy.exc import SQLAlchemyError

    from sinemora.embedded.readiness import coverage  # loads the backend

    try:
        found = coverage()
    except SQLAlchemyError as error:
        return f"The database does not answer ({type(error).__name__})"
    if found.complete(agents):
        return ""
    if found.members < agents:
        return f"{found.members} of {agents} machines are enrolled"
    rest = f" and {len(found.missing) - _SHOWN} more" if len(found.missing) > _SHOWN else ""
    measured = found.planned - len(found.missing)
    return f"{measured} of {found.planned} paths are measured; {', '.join(found.missing[:_SHOWN])}{rest}"


def _use_settings_of(settings: Settings, folder: DataFolder) -> None:
    """Let this process see the database the product uses."""
    user = service_user(settings.service_user)
    os.environ.update(environment(settings, folder, Engines.of(settings, folder, user)))
    config.settings.cache_clear()


def _limit_s() -> float:
    text = os.environ.get("SINEMORA_WAIT_S") or str(DEFAULT_S)
    try:
        return float(text)
    except ValueError:
        raise TroubleError(f"SINEMORA_WAIT_S is {text!r}, not a number of seconds.", "For example: 120") from None


def _advice(state: dict[str, Any]) -> str:
    if not state:
        return "Start it in another terminal: make up"
    down = [name for name, one in state.get("processes", {}).items() if one["state"] != "up"]
    return f"See make status and {'the logs of ' + ', '.join(down) if down else 'make logs'}."
