"""`sinemora plan-followers`: the agents that follow the newest plan of a mesh, and the wait until all live ones do."""

import time
from typing import Annotated, Any

from typer import Option, Typer

from sinemora_client.commands import CommandError, Mesh, Terminal, api_command

app = Typer(rich_markup_mode=None)

_POLL_S = 1.0


@api_command(app, "plan-followers")
def plan_followers(
    client: Terminal,
    mesh: Mesh = None,
    wait: Annotated[
        float, Option(min=0, help="Wait until the plan is active everywhere, at most this long, s; else exit with 1.")
    ] = 0,
) -> None:
    """Show which agents follow the newest plan of a mesh, wait until all do (API key)."""
    path = f"/v1/meshes/{client.mesh_id(mesh)}/plan-followers"
    until = time.monotonic() + wait
    while True:
        found = client.get(path)
        left_s = until - time.monotonic()
        if found["active_everywhere"] or left_s <= 0:
            break
        time.sleep(min(_POLL_S, left_s))
    client.print_result(found)
    for line in _lines(found):
        client.print_line(line)
    if wait and not found["active_everywhere"]:
        raise CommandError(f"Revision {found['revision']} is not active everywhere after {wait:g} s.")


def _lines(found: dict[str, Any]) -> list[str]:
    waited_for = found["live"] - found["following"]
    lines = [f"Revision {found['revision']}: {found['following']} of {found['live']} live agents follow."]
    if found["active_since"]:
        lines.append(f"Active everywhere since {found['active_since'][:19]}Z.")
    if waited_for:
        lines.append(f"Waiting for {_some(found['first_waited_for'], waited_for)}.")
    if absent := found["agents"] - found["live"]:
        lines.append(f"Not live, not waited for: {_some(found['first_not_live'], absent)}.")
    return lines


def _some(names: list[str], count: int) -> str:
    more = count - len(names)
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")
