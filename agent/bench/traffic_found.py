"""Applications that a product finds in the traffic of real programs, and how soon one follows a client that moves."""

import time
from datetime import datetime, timedelta
from typing import Any

from lab.benchmarks import figures

import traffic_world
from laboratory import wait_until
from traffic_world import ADMIN, APPLICATIONS, NAMES, Application, World

_SEEN = timedelta(minutes=2)
_SEEN_S = 600.0
_FOLLOWED_S = 180.0
_ALIKE = 0.8
"""Least Jaccard index of the VMs of a proposal and of what runs."""


def run() -> None:
    """Compare proposals with what runs, then move clients of an accepted one."""
    with traffic_world.running() as world:
        proposals = f"/v1/meshes/{world.mesh_id}/traffic-proposals"
        wait_until("traffic of every VM", lambda: _is_seen(_get(world, proposals)), _SEEN_S)
        found = [one for one in _get(world, proposals)["items"] if one["state"] == "open"]
        for one in found:
            figures.comment(f"{one['name']}: {sorted(_roles(one).items())}")
        pairs = [(one, _found_as(one, found)) for one in APPLICATIONS]
        right = [_roles(proposal).get(vm) == role for one, proposal in pairs for vm, role in _truth(one).items()]
        hits = sum(proposal is not None for _, proposal in pairs)
        figures.report("traffic_application_precision", hits / len(found), proposals=len(found))
        figures.report("traffic_application_recall", hits / len(pairs), applications=len(pairs), vms=len(NAMES))
        figures.report("traffic_roles_right_percent", 100 * sum(right) / len(right), roles=len(right))
        took_s = [_follow(world, proposals, one, proposal) for one, proposal in pairs if proposal]
        figures.report("traffic_follow_s", max(took_s), moves=len(took_s))


def _is_seen(answer: dict[str, Any]) -> bool:
    """Return true once all VMs have reported, and each port of what runs for two minutes."""
    at = {one["port"]: [datetime.fromisoformat(one[end]) for end in ("first_at", "last_at")] for one in answer["items"]}
    is_long = all(one.port in at and at[one.port][1] - at[one.port][0] >= _SEEN for one in APPLICATIONS)
    return answer["vms_counted"] == len(NAMES) and is_long


def _truth(application: Application) -> dict[str, str]:
    return dict.fromkeys(application.servers, "server") | dict.fromkeys(application.clients, "client")


def _roles(proposal: dict[str, Any] | None) -> dict[str, str]:
    if proposal is None:
        return {}
    return {vm["name"]: kind for kind in ("server", "client") for vm in proposal[f"{kind}s"]}


def _found_as(application: Application, found: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the proposal of an application's port with most of its VMs and few others."""
    true = set(_truth(application))

    def jaccard(proposal: dict[str, Any]) -> float:
        return len(true & set(_roles(proposal))) / len(true | set(_roles(proposal)))

    of_port = [one for one in found if one["port"] == application.port and jaccard(one) >= _ALIKE]
    return max(of_port, key=jaccard, default=None)


def _follow(world: World, proposals: str, application: Application, proposal: dict[str, Any]) -> float:
    """Accept a proposal and move a client; return the time until the application has a task where it went, s."""
    body = {"proposals": [proposal["key"]], "name": application.name, "curve": proposal["curve"] or "dns"}
    accepted = world.person.http.post(proposals, json=body).raise_for_status().json()
    world.stop_client(application, application.clients[0])
    world.start_client(application, ADMIN)
    began = time.monotonic()

    def follows() -> bool:
        tasks = _get(world, f"/v1/applications/{accepted['id']}")["tasks"]
        return any(task["vm"] and task["vm"]["name"] == ADMIN for task in tasks)

    wait_until(f"{application.name} to follow", follows, _FOLLOWED_S)
    return time.monotonic() - began


def _get(world: World, path: str) -> Any:
    return world.person.http.get(path).raise_for_status().json()
