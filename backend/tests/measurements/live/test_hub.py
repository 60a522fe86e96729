"""The hub between a real Valkey and its listeners: nothing is lost while it subscribes, reconnects or is slow."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from uuid import UUID, uuid4

import pytest

from sinemora.kit.redis import client
from sinemora.measurements.live.events import MeshRevision, WindowSeen
from sinemora.measurements.live.hub import LiveHub
from sinemora.measurements.live.publisher import Publisher, announce
from tests.waits import WAIT_MOST_S

pytestmark = pytest.mark.anyio


async def signed_in() -> bool:
    return True


def window(number: int, mesh_id: UUID) -> WindowSeen:
    return WindowSeen(MeshRevision(mesh_id, 1), number * 10, 10)


class Listener:
    """Lines of a stream of a mesh, from its `: listening` on."""

    def __init__(self, hub: LiveHub, mesh_id: UUID, last_event_id: str | None = None) -> None:
        self.stream: AsyncIterator[str] = hub.events(mesh_id, "user:1", mesh_id, signed_in, last_event_id)
        self.before: list[str] = []

    async def opened(self) -> "Listener":
        async for line in self.stream:
            if line == ": listening\n\n":
                return self
            self.before.append(line)
        raise AssertionError("the stream ended")

    async def next(self) -> str:
        return await asyncio.wait_for(anext(self.stream), WAIT_MOST_S)


@pytest.fixture
def mesh_id() -> UUID:
    return uuid4()


@pytest.fixture
def publisher(redis) -> Iterator[Publisher]:
    publisher = Publisher()
    yield publisher
    publisher.close()


@pytest.fixture
async def hub(publisher: Publisher) -> AsyncIterator[LiveHub]:
    hub = LiveHub()
    yield hub
    await hub.close()


def start_of(event: str) -> int:
    """Return the number of the window that an event announces."""
    minutes, seconds = event.partition("T00:")[2].partition("Z")[0].split(":")
    return (int(minutes) * 60 + int(seconds)) // 10


async def test_what_is_published_before_the_subscription_stands_is_heard(
    hub: LiveHub, mesh_id: UUID, publisher: Publisher
):
    listener = await Listener(hub, mesh_id).opened()  # at once: the hub has just begun to subscribe
    publisher.publish([window(1, mesh_id)])
    assert start_of(await listener.next()) == 1


async def test_what_is_published_while_the_subscription_is_broken_is_heard(
    hub: LiveHub, mesh_id: UUID, publisher: Publisher
):
    listener = await Listener(hub, mesh_id).opened()
    publisher.publish([window(1, mesh_id)])
    assert start_of(await listener.next()) == 1
    # The server drops the subscription; the next windows are published before the hub is back.
    await asyncio.to_thread(client().execute_command, "CLIENT", "KILL", "TYPE", "pubsub")
    for number in (2, 3, 4):
        await asyncio.to_thread(publish_now, publisher, mesh_id, number)
    assert [start_of(await listener.next()) for _ in range(3)] == [2, 3, 4]


def publish_now(publisher: Publisher, mesh_id: UUID, number: int) -> None:
    publisher._send({window(number, mesh_id): None})


async def test_after_an_id_nothing_before_it_is_outstanding(hub: LiveHub, mesh_id: UUID, publisher: Publisher):
    listener = await Listener(hub, mesh_id).opened()
    await asyncio.to_thread(publish_now, publisher, mesh_id, 1)  # waits half a second for other agents
    await asyncio.to_thread(announce, mesh_id, "incident", {"id": "1"})
    events = [await listener.next(), await listener.next()]
    assert [event.partition("event: ")[2].split("\n")[0] for event in events] == ["window", "incident"]
    ids = [event.partition("id: ")[2].split("\n")[0] for event in events]
    again = await Listener(hub, mesh_id, ids[0]).opened()
    assert ["incident" in line for line in again.before if "event: " in line] == [True]


async def test_a_listener_too_slow_for_its_events_reads_all_again(hub: LiveHub, mesh_id: UUID, publisher: Publisher):
    listener = await Listener(hub, mesh_id).opened()
    for number in range(40):
        await asyncio.to_thread(announce, mesh_id, "incident", {"id": str(number)})
    last = await Listener(hub, mesh_id).opened()
    await asyncio.to_thread(announce, mesh_id, "incident", {"id": "last"})
    assert "last" in await last.next()  # the hub has received them all
    first = await listener.next()
    assert "event: reset" in first


async def test_windows_are_published_in_the_order_of_their_commits(hub: LiveHub, mesh_id: UUID, publisher: Publisher):
    numbers = [9, 3, 7, 1, 8, 2, 6, 4, 5]
    publisher.publish([window(number, mesh_id) for number in numbers])
    listener = await Listener(hub, mesh_id, "0-0").opened()
    heard = [start_of(line) for line in listener.before if "event: window" in line]
    while len(heard) < len(numbers):
        heard.append(start_of(await listener.next()))
    assert heard == numbers
