"""Applications declared and recommendations requested through HTTP, and recommendations stored at once."""

from typing import Any
from uuid import UUID

from sinemora.kit.db import tenant_session
from sinemora.recommendations.models import Recommendation
from tests.api_clients import MeshWorld, body_of
from tests.recommendations.measured_mesh import measured

PATH = "/v1/recommendations"

# From a-1, c-2 and b-2 are near, where its tasks are is far.
NEAR = {("a-1", "c-2"): 30.0, ("a-1", "b-2"): 60.0, ("a-1", "b-1"): 400.0, ("a-1", "c-1"): 250.0}


def declared(
    mesh: MeshWorld,
    name: str = "cache",
    vms: tuple[str | None, ...] = ("a-1", "b-1", "c-1"),
    **more,
) -> dict:
    """Declare a star whose first task is its root, which is pinned."""
    tasks_of = [{"name": f"{name}-{at}", "vm": vm, "root": at == 0, "pinned": at == 0} for at, vm in enumerate(vms)]
    return with_tasks(mesh, name, tasks_of, **more)


def declared_near(mesh: MeshWorld, **more) -> dict:
    """Declare the star, and measure the mesh with `NEAR`."""
    application = declared(mesh, **more)
    measured(mesh, NEAR)
    return application


def with_tasks(mesh: MeshWorld, name: str, tasks_of: list[dict], **more) -> dict:
    """Declare an application with the published curve of the server of memcached."""
    fields = {"name": name, "mesh": mesh.name, "curve": "memcached-server", "reference_us": 0, "tasks": tasks_of}
    return mesh.owner.created("/v1/applications", fields | more)


def sized(mesh: MeshWorld, name: str, **capacity: int) -> None:
    """Say what a VM can carry."""
    vm = next(agent for agent in mesh.agents if agent.name == name).vm_id
    assert mesh.owner.patch(f"/v1/vms/{vm}/capacity", json=capacity).status_code == 200


def asked(mesh: MeshWorld, worker, **more) -> dict:
    """Return the recommendation for a request."""
    answer = mesh.owner.post(PATH, json={"mesh": mesh.name, **more})
    assert answer.status_code == 202, answer.text
    worker()
    job = mesh.owner.get(answer.headers["Location"]).json()
    assert job["state"] == "succeeded", job["problem"]
    return mesh.owner.get(f"{PATH}/{job['result']['recommendation_id']}").json()


def stored(mesh: MeshWorld, **columns: Any) -> UUID:
    """Store a recommendation; return its id."""
    asked_for = {"trigger": "asked", "requested_by": "kim", "request": {}, "result": {"total": None}}
    with tenant_session(mesh.owner.tenant_id) as session:
        row = Recommendation(**({"mesh_id": mesh.id, "state": "proposed"} | asked_for | columns))
        session.add(row)
        session.flush()
        return row.id


def moved(mesh: MeshWorld, application: dict, vm_of: dict[str, str]) -> dict:
    """Return the application after a PATCH that puts tasks, by name, on these VMs."""
    fields = ("name", "root", "pinned", "slots", "cpu_millicores", "memory_mib")
    tasks_of = [
        {field: task[field] for field in fields}
        | {"vm": vm_of.get(task["name"], task["vm"]["name"] if task["vm"] else None)}
        for task in application["tasks"]
    ]
    return body_of(mesh.owner.patch(f"/v1/applications/{application['id']}", json={"tasks": tasks_of}))
