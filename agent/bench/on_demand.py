"""Measurements on demand of two agents of a laboratory."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import boxes
from agents import Agent, fleet_in_lab
from laboratory import wait_until

KEY = 77
Second = dict[str, Any]


@contextmanager
def through_box(settings: Sequence[str]) -> Iterator[list[Agent]]:
    """Start a client and a responder with a delaybox of these settings between them."""
    with fleet_in_lab() as (lab, fleet):
        hosts = lab.host("client"), lab.host("responder")
        path = boxes.join(lab, *hosts, settings)
        yield [fleet.agent(host, listen_address=at) for host, at in zip(hosts, path.addresses, strict=True)]


def measure(ends: Sequence[Agent], seconds: int, flows: int = 1, **asked: Any) -> list[Second]:
    """Order a measurement of `seconds`; return what the client has reported when it has reported as many.

    `asked` are further members of the order.
    """
    client, responder = ends
    starts_s = int(time.time()) + 4
    order = {"id": "o", "key": KEY, "loss_deadline_ms": 1000, **asked}
    order |= {"starts_at_ns": starts_s * 10**9, "ends_at_ns": (starts_s + seconds) * 10**9}
    for agent, other, role in ((responder, client, "responder"), (client, responder, "client")):
        agent.follow([], 1, on_demand=[order | {"peer": other.peer(role, flows=flows)}])
    wait_until("the last second", lambda: len(seconds_of(client)) >= seconds, seconds + 30)
    return seconds_of(client)


def seconds_of(client: Agent) -> list[Second]:
    """Return the seconds that a client has reported so far, oldest first."""
    found = [json.loads(path.read_text("utf-8")) for path in client.fleet.folder.glob(f"{client.key}-{KEY}-*.second")]
    return sorted(found, key=lambda second: second["started_at_s"])
