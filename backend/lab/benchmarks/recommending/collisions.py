"""Two owners at once: applied moves, decisions, changes and deletions of what they rely on, in pairs.

Each pair has applications, a VM and a recommendation of its own on one mesh. Both requests leave at the same moment.
What both report as done must be there afterwards: else a change was lost.
"""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from threading import Barrier
from typing import Any
from uuid import UUID

import numpy as np

from lab.benchmarks.alerting.locks import deadlocks
from sinemora.kit.db import tenant_session
from sinemora.recommendations.models import Recommendation, RecommendationState, Trigger

Call = Callable[..., tuple[int, Any]]
"""Sends method, path, body and If-Match; returns status and JSON."""
_CURVE = "memcached-server"
_SLOTS = 7
_EXAMPLES = json.loads(files("sinemora.contract").joinpath("examples/recommendations.json").read_text("utf-8"))
_RECORDED = _EXAMPLES["accept_recommendation"]["responses"]["200"]["application/json"]
"""A recommendation with moves, as the API answers."""


@dataclass(frozen=True)
class Found:
    """Deadlocks of the database, responses with a server error, and lost changes in words."""

    deadlocks: int
    failed: list[str]
    lost: list[str]


@dataclass(frozen=True)
class Pair:
    """What two requests collide at: two applications, a VM to which a task of the first moves, and the moves."""

    mesh_id: str
    first: dict[str, Any]
    second: dict[str, Any]
    vm: dict[str, Any]
    other_vm: dict[str, Any]
    moves: str

    def actions(self) -> dict[str, tuple[Any, ...]]:
        """Return the requests by name. Tasks are changed from the version that was read, the rest from any."""
        of_first, of_second = f"/v1/applications/{self.first['id']}", f"/v1/applications/{self.second['id']}"
        moves = f"/v1/recommendations/{self.moves}"
        tasks = [{"name": "root", "vm": None, "root": True}, {"name": "task", "vm": self.other_vm["name"]}]
        return {
            "apply": ("POST", f"{moves}/apply", None, None),
            "accept": ("POST", f"{moves}/accept", None, None),
            "dismiss": ("POST", f"{moves}/dismiss", {"reason": "no"}, None),
            "tasks": ("PATCH", of_first, {"tasks": tasks}, f'"{self.first["version"]}"'),
            "objective": ("PATCH", of_first, {"objective": 0.5}, "*"),
            "apart": ("PATCH", of_first, {"apart_from": [self.second["name"]]}, "*"),
            "apart back": ("PATCH", of_second, {"apart_from": [self.first["name"]]}, "*"),
            "capacity": ("PATCH", f"/v1/vms/{self.vm['id']}/capacity", {"slots": _SLOTS}, "*"),
            "leave": ("DELETE", f"/v1/meshes/{self.mesh_id}/vms/{self.vm['id']}", None, None),
            "delete VM": ("DELETE", f"/v1/vms/{self.vm['id']}", None, None),
            "delete application": ("DELETE", of_first, None, None),
            "delete other": ("DELETE", of_second, None, None),
        }


def collide(call: Call, tenant_id: UUID, pairs: int, seed: int) -> Found:
    """Send pairs of requests at once, and compare what they report with what is there afterwards."""
    rng = np.random.default_rng(seed)
    zone = _done(call("POST", "/v1/zones", {"provider": "bench", "region": "r", "name": "z"}))["id"]
    meshes = [_done(call("POST", "/v1/meshes", {"name": f"pairs-{number}"}))["id"] for number in range(2)]
    before, failed, lost = deadlocks(), [], []
    for number in range(pairs):
        pair = pair_of(call, tenant_id, meshes, zone, number)
        actions = pair.actions()
        names = [list(actions)[at] for at in rng.choice(len(actions), 2, replace=False)]
        together = Barrier(2)

        def send(name: str) -> tuple[int, Any]:
            together.wait()  # noqa: B023
            return call(*actions[name])  # noqa: B023

        with ThreadPoolExecutor(2) as both:
            answers = list(both.map(send, names))
        words = ", ".join(f"{name}: {status}" for name, (status, _) in zip(names, answers, strict=True))
        failed += [words] if any(status >= 500 for status, _ in answers) else []
        done = {name for name, (status, _) in zip(names, answers, strict=True) if status < 300}
        lost += [f"{words}: {what}" for what in _lost(call, pair, done)]
        for kind, some in (("applications", (pair.first, pair.second)), ("vms", (pair.vm, pair.other_vm))):
            for one in some:
                call("DELETE", f"/v1/{kind}/{one['id']}")
    return Found(deadlocks() - before, failed, lost)


def pair_of(call: Call, tenant_id: UUID, meshes: list[str], zone: str, number: int) -> Pair:
    named = [{"name": f"vm-{number}-{at}", "probe_address": f"10.9.9.{at + 1}"} for at in range(2)]
    vms = [_done(call("POST", "/v1/vms", {"zone_id": zone} | one)) for one in named]
    for vm in vms:
        _done(call("PUT", f"/v1/meshes/{meshes[0]}/vms/{vm['id']}"))
    declared = {"curve": _CURVE, "tasks": [{"name": "root", "root": True}, {"name": "task"}]}
    applications = [
        _done(call("POST", "/v1/applications", declared | {"name": f"{name}-{number}", "mesh": mesh}))
        for name, mesh in zip(("first", "second"), meshes, strict=True)
    ]
    task = next(one for one in applications[0]["tasks"] if not one["root"])
    step = _RECORDED["steps"][0] | {
        "application": {"id": applications[0]["id"], "name": applications[0]["name"]},
        "task": {"id": task["id"], "name": "task"},
        "source": None,
        "target": _RECORDED["steps"][0]["target"] | {"id": vms[0]["id"], "name": vms[0]["name"]},
    }
    with tenant_session(tenant_id) as session:
        moves = Recommendation(
            mesh_id=UUID(meshes[0]),
            state=RecommendationState.proposed,
            trigger=Trigger.asked,
            requested_by="bench",
            expires_at=datetime.now(UTC) + timedelta(hours=1),
            request={"policy": "best"},
            result=_RECORDED["result"] | {"applications": []},
            moves=[step],
        )
        session.add(moves)
        session.flush()
        return Pair(meshes[0], applications[0], applications[1], vms[0], vms[1], str(moves.id))


def _lost(call: Call, pair: Pair, done: set[str]) -> list[str]:
    """Return what two requests report as done and is not there."""
    found = []
    status, application = call("GET", f"/v1/applications/{pair.first['id']}")
    if "delete application" in done:
        return [] if status == 404 else ["the application is still there"]
    task = next(one for one in application["tasks"] if not one["root"])
    on = None if task["vm"] is None else task["vm"]["name"]
    gone = "delete VM" in done
    if "apply" in done:
        if on != (None if gone else pair.vm["name"]):
            found.append(f"the task is on {on}")
        if "tasks" in done:
            found.append("both placed the task")
    if "tasks" in done and "apply" not in done and on != pair.other_vm["name"]:
        found.append(f"the task is on {on}")
    if "objective" in done and application["objective"] != 0.5:
        found.append("the objective is not there")
    if "apart" in done and "delete other" not in done and not application["apart_from"]:
        found.append("apart_from is not there")
    if "capacity" in done and not gone:
        _, capacity = call("GET", f"/v1/vms/{pair.vm['id']}/capacity")
        found += [] if capacity["slots"] == _SLOTS else ["the capacity is not there"]
    state = call("GET", f"/v1/recommendations/{pair.moves}")[1]["state"]
    if "dismiss" in done and state != "dismissed" and "apply" not in done:
        found.append(f"the moves are {state}")
    if "apply" in done and state != "applied":
        found.append(f"the moves are {state}")
    return found


def _done(answer: tuple[int, Any]) -> Any:
    status, body = answer
    if status >= 300:
        raise RuntimeError(f"{status}: {body}")
    return body
