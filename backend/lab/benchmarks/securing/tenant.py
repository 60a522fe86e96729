"""A tenant with one object of as many kinds as the API creates, and the ids that requests name."""

import json
import random
import time
from datetime import UTC, datetime
from typing import Any

from lab.benchmarks.recommending.api import Api
from lab.benchmarks.securing.bad_requests import BadRequest, operations
from lab.benchmarks.securing.in_process import InProcess
from lab.benchmarks.securing.samples import Samples
from lab.benchmarks.storing.ingest import requests
from lab.benchmarks.storing.load import Load
from lab.benchmarks.storing.product import Product, World
from sinemora.alerts.detection import evaluator
from sinemora.alerts.rules.service import create_default_rules
from sinemora.fleet.inventory.models import Vm
from sinemora.fleet.meshes.models import Mesh
from sinemora.kit.db import tenant_session

_TRIES = 8
_CURVE = b"rtt_us,performance\n0,1.0\n50,0.9\n100,0.8\n200,0.7\n400,0.5\n"
_HARMLESS = ("webhook", {"url": "https://receiver.example/hook"})


def measured(product: Product, world: World, windows: int = 12) -> int:
    """Report `windows` windows of all paths of a mesh, the last of which ends now; return its end, Unix s."""
    end = int(time.time()) // 10 * 10
    Load([product.port], requests(world, len(world.vm_keys), windows, 0, end), connections=4).wait()
    return end


def eventful(product: Product, world: World, ended_at_s: int) -> None:
    """Create an application, a recommendation for it, and an incident with its timeline.

    The mesh is measured until `ended_at_s`.
    """
    api = Api(product)
    with tenant_session(product.tenant_id) as session:
        mesh = session.get_one(Mesh, world.mesh_id).name
        names = [session.get_one(Vm, id).name for id in world.vm_ids]
    tasks = [{"name": f"task-{n}", "vm": name, "root": n == 0} for n, name in enumerate(names[:3])]
    api.read("/v1/applications", {"name": mesh, "mesh": mesh, "curve": "memcached-server", "tasks": tasks})
    api.recommendation({"mesh": mesh})
    always = {"kind": "threshold", "metric": "one_way_delay", "statistic": "p50", "above": 1}
    api.read("/v1/alert-rules", {"mesh_id": str(world.mesh_id), "name": "always", "condition": always})
    with tenant_session(product.tenant_id) as session:
        create_default_rules(session, world.mesh_id)
    for back in range(3, -1, -1):
        with tenant_session(product.tenant_id) as session:
            evaluator.evaluate(session, world.mesh_id, ended_at_s - 10 * back, datetime.now(UTC))
    if not api.read(f"/v1/incidents?mesh_id={world.mesh_id}")["items"]:
        raise RuntimeError("the rule opened no incident")


async def furnished(api: InProcess, contract: dict[str, Any], headers: list[tuple[str, str]], world: World) -> None:
    """Create objects of each kind that the contract creates, by sound requests as far as samples are sound."""
    rng = random.Random(1)
    ids = await known_ids(api, contract, headers)
    ids.setdefault("mesh", [str(world.mesh_id)])
    await api.send(BadRequest("", "POST", "/v1/curves?name=sampled", [("content-type", "text/csv")], _CURVE), headers)
    for operation in operations(contract):
        content = operation.described.get("requestBody", {}).get("content", {}).get("application/json")
        if operation.method != "post" or content is None or operation.described["x-required-role"] == "none":
            continue
        for _ in range(_TRIES):
            samples = Samples(contract["components"]["schemas"], rng, ids)
            body = samples.of(content["schema"])
            if operation.path == "/v1/receivers":
                body["kind"], body["settings"] = _HARMLESS
                body.pop("secret", None)
            parts = [samples.id_of(part[1:-1]) if part.startswith("{") else part for part in operation.path.split("/")]
            request = BadRequest("", "POST", "/".join(parts), [("content-type", "application/json")])
            request.body = json.dumps(body).encode()
            status, _ = await api.send(request, headers)
            if status < 300:
                ids |= await known_ids(api, contract, headers, operation.path)
                break


async def known_ids(
    api: InProcess, contract: dict[str, Any], headers: list[tuple[str, str]], only: str = ""
) -> dict[str, list[str]]:
    """Return the ids of what the lists of the API show, by the singular noun of the list.

    With a path: those of the lists whose first word it has.
    """
    ids: dict[str, list[str]] = {}
    for operation in operations(contract):
        if operation.method != "get" or "{" in operation.path:
            continue
        if only and operation.path.split("/")[:3] != only.split("/")[:3]:
            continue
        status, body = await api.send(BadRequest("", "GET", operation.path + "?limit=20"), headers)
        if status != 200:
            continue
        try:
            items = json.loads(body).get("items", [])
        except (ValueError, AttributeError):  # another form than a page of JSON
            continue
        found = [str(item["id"]) for item in items if isinstance(item, dict) and "id" in item]
        if found:
            noun = operation.path.rsplit("/", 1)[1].removesuffix("s").replace("-", "_")
            ids[{"meshe": "mesh"}.get(noun, noun)] = found
            ids.setdefault(noun.rsplit("_", 1)[-1], found)
    return ids
