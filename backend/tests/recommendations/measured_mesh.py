"""Meshes measured with round trips whose truth is known."""

import numpy as np

from tests.api_clients import MeshWorld
from tests.measurements.reports import AgentWindow, sent_together, window_start
from tests.measurements.worlds import Raw

WINDOWS = 12
APART_S = 60
"""Long enough for a history of which some is held out."""


Pairs = dict[tuple[str, str], float]


def measured(
    mesh: MeshWorld,
    round_trip_us: Pairs,
    noise_us: float = 3,
    ago: int = 1,
    one_in_eight_us: Pairs | None = None,
    windows: int = WINDOWS,
    without: tuple[str, ...] = (),
) -> None:
    """Every pair measured in `windows` windows of eight exchanges, one a minute; pairs not named have 300 µs.

    Pairs of agents in `without` are not measured.

    Of pairs in `one_in_eight_us` one exchange of each window takes so long.
    """
    rng = np.random.default_rng(4)
    names = {agent.name: agent for agent in mesh.agents}
    newest = window_start(ago)
    collected: list[AgentWindow] = []
    for window in range(windows):
        for at, agent in enumerate(mesh.agents):
            peers = {}
            for other in mesh.agents[at + 1 :]:
                if {agent.name, other.name} & {*without}:
                    continue
                pair = (agent.name, other.name)
                trip = round_trip_us.get(pair, round_trip_us.get(pair[::-1], 300.0))
                trips = trip + noise_us * rng.standard_normal(8)
                slow = (one_in_eight_us or {}).get(pair)
                if slow is not None:
                    trips[window % 8] = slow
                one_way = (trips * 500).astype(int)
                peers[names[other.name].vm_key] = Raw(
                    (one_way.tolist(), one_way.tolist(), (2 * one_way).tolist()), (8,) * 3, (0,) * 3, 500
                )
            if peers:
                collected.append((agent, peers, newest - APART_S * window))
    sent_together(mesh.key, collected)
