"""Fleets of the lab that report for the agents of a test's mesh."""

from lab.benchmarks.storing.product import World
from lab.soak.fleet import Fleet
from tests.api_clients import MeshWorld


def fleet_of(world: MeshWorld, port: int) -> tuple[World, Fleet]:
    """Return a mesh whose windows are of 10 s, and a fleet of its agents with a connection for each report."""
    agents = sorted(world.agents, key=lambda agent: agent.vm_key)
    keys = [agent.vm_key for agent in agents]
    credentials = [agent.headers["Authorization"].removeprefix("Bearer ") for agent in agents]
    ours = World(world.id, world.key, world.owner.tenant_key, keys, [agent.vm_id for agent in agents], credentials)
    return ours, Fleet(port, ours, 0.1, reconnect=True)
