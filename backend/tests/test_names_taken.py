"""A name that another request takes at the same moment has the code of a name that is taken already."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import UniqueConstraint, text

from sinemora.kit.db import system_session, tenant_session
from sinemora.tables import metadata
from tests.api_clients import Member, MeshWorld
from tests.expiry import in_a_month
from tests.waits import WAIT_MOST_S, until

pytestmark = pytest.mark.usefixtures("secret_key")

REPLACED = {"price_lists"}
"""Tables whose objects replace the one of their name."""
ACROSS_TENANTS = {"tenants"}
"""Tables that other tests look at: a tenant is not created as an object of a tenant."""
PARTS = {"tasks"}
"""Tables of parts of an object, whose requests lock the object."""
PUBLISHED = {"artifacts"}
"""Tables whose objects need blocks: the check of names is theirs, the constraint is looked at here only."""


def named() -> dict[str, UniqueConstraint]:
    """Return the constraint that keeps names apart, by table."""
    return {
        table.name: constraint
        for table in metadata.tables.values()
        for constraint in table.constraints
        if isinstance(constraint, UniqueConstraint) and "name" in constraint.columns
    }


def bodies(world: MeshWorld) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return by table the path and the body that create an object with the name `old`."""
    mesh, vms = str(world.id), [str(agent.vm_id) for agent in world.agents]
    tasks = [{"vm": agent.name, "root": number == 0} for number, agent in enumerate(world.agents)]
    threshold = {"kind": "threshold", "metric": "one_way_delay", "statistic": "p50", "above": 1_000_000}
    rows = [{"latency_us": at, "performance": 1_000 / (1 + at / 300)} for at in range(0, 500, 50)]
    zone = world.owner.get("/v1/zones").json()["items"][0]["id"]
    path = {"source_vm_id": vms[0], "target_vm_id": vms[1]}
    some = {
        "zones": ("/v1/zones", {"provider": "p", "region": "r"}),
        "vms": ("/v1/vms", {"zone_id": zone}),
        "meshes": ("/v1/meshes", {}),
        "alert_rules": ("/v1/alert-rules", {"mesh_id": mesh, "condition": threshold}),
        "receivers": ("/v1/receivers", {"kind": "email", "settings": {"to": ["a@example.com"]}}),
        "api_keys": ("/v1/api-keys", {"scopes": ["read"], "expires_at": in_a_month()}),
        "metric_exports": ("/v1/metric-exports", {"kind": "otlp", "url": "https://otel.example.com/v1/metrics"}),
        "curves": ("/v1/curves", {"rows": rows}),
        "applications": ("/v1/applications", {"mesh": world.name, "curve": "dns", "tasks": tasks}),
        "scenarios": ("/v1/scenarios", {"mesh": world.name, "changes": []}),
        "metric_sources": ("/v1/metric-sources", {"mesh_id": mesh, "metric": "duration", "paths": [path]}),
        "saved_views": ("/v1/saved-views", {"address": f"/meshes/{mesh}"}),
    }
    return {table: (route, body | {"name": "old"}) for table, (route, body) in some.items()}


def test_every_name_has_a_code_and_is_tried_here(owner: Member, make_mesh: Any):
    constraints = named().keys() - REPLACED - ACROSS_TENANTS - PARTS
    assert {name for name in constraints if "taken_as" not in named()[name].info} == set()
    assert constraints - PUBLISHED == bodies(make_mesh(owner, 2)).keys()


@pytest.mark.parametrize("table", sorted(named().keys() - REPLACED - ACROSS_TENANTS - PARTS - PUBLISHED))
def test_a_race_for_a_name_answers_as_a_name_that_is_taken(table: str, owner: Member, make_mesh: Any):
    route, body = bodies(make_mesh(owner, 2))[table]
    first = owner.created(route, body)
    wanted = body | {"name": "new"}
    with ThreadPoolExecutor(1) as pool:
        with tenant_session(owner.tenant_id) as session:
            # Not committed yet: the check of the other request finds no such name, and its statement waits.
            rename = text(f"UPDATE {table} SET name = 'new' WHERE id = :id")
            assert session.execute(rename, {"id": first["id"]}).rowcount == 1
            second = pool.submit(owner.post, route, json=wanted)
            with system_session() as watching:
                waits = text("SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'")
                until(lambda: second.done() or watching.scalar(waits) == 1, "the second one waits")
        lost = second.result(WAIT_MOST_S)
    late = owner.post(route, json=wanted)
    assert (late.status_code, lost.status_code) == (409, 409), (late.text, lost.text)
    assert lost.json()["code"] == late.json()["code"] == named()[table].info["taken_as"]
