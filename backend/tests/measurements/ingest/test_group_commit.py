"""Group commit on its own, with a store that does what the test wants."""

import asyncio
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable, Sequence

import pytest
from sqlalchemy.exc import OperationalError

from sinemora.kit.errors import ProductError
from sinemora.measurements.ingest.group_commit import BatchWriter
from tests.waits import WAIT_MOST_S

pytestmark = pytest.mark.anyio


async def outcome(writing: Awaitable[None]) -> str:
    try:
        await writing
    except ProductError as error:
        return error.code
    return "stored"


class Store:
    """Store that records its batches, can be blocked, and refuses chosen items."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.called = threading.Event()
        self.held = threading.Event()
        self.held.set()
        self.refused: dict[str, Exception] = {}

    def __call__(self, reports: Sequence[str]) -> None:
        self.called.set()
        self.held.wait(WAIT_MOST_S)
        self.batches.append(list(reports))
        for report in reports:
            if report in self.refused:
                raise self.refused[report]


@pytest.fixture
def store() -> Store:
    return Store()


async def test_an_idle_writer_stores_at_once_and_a_busy_one_in_batches(store: Store):
    writer = BatchWriter(store, 100, 1)
    await writer.write("first", 1)
    store.held.clear()
    waiting = [asyncio.ensure_future(writer.write(str(n), 1)) for n in range(20)]
    await asyncio.sleep(0.1)
    assert not any(write.done() for write in waiting)  # nothing is acknowledged before its commit
    store.held.set()
    await asyncio.gather(*waiting)
    writer.close()
    assert store.batches[0] == ["first"]
    assert sum(map(len, store.batches)) == 21
    assert len(store.batches) <= 3


async def test_a_batch_that_is_large_enough_is_stored_without_a_pause(store: Store):
    writer = BatchWriter(store, 100, 60_000)
    await writer.write("first", 1)
    # Waits for the pause of a minute until a large one is with it.
    small = asyncio.ensure_future(writer.write("small", 1))
    await asyncio.sleep(0.1)
    assert not small.done()
    await writer.write("large", 1 << 20)
    await small
    writer.close()
    assert store.batches == [["first"], ["small", "large"]]


async def test_one_bad_report_fails_alone(store: Store):
    writer = BatchWriter(store, 100, 50)
    store.refused["bad"] = ValueError("no")
    result = await asyncio.gather(*(outcome(writer.write(name, 1)) for name in ("a", "bad", "b", "c")))
    writer.close()
    assert result == ["stored", "report_not_storable", "stored", "stored"]


async def test_a_database_that_comes_back_is_asked_again_and_one_that_does_not_is_told(store: Store):
    gone = OperationalError("INSERT", {}, Exception("server closed the connection"))
    answers: list[Exception | None] = [gone, None, gone, gone]

    def moody(reports: Sequence[str]) -> None:
        answer = answers.pop(0)
        if answer is not None:
            raise answer
        store(reports)

    writer = BatchWriter(moody, 100, 1)
    assert await outcome(writer.write("a", 1)) == "stored"
    assert await outcome(writer.write("b", 1)) == "database_unavailable"
    writer.close()
    assert store.batches == [["a"]]


async def test_closing_stores_what_waits_and_refuses_what_comes(store: Store):
    writer = BatchWriter(store, 100, 1)
    store.held.clear()
    waiting = [asyncio.ensure_future(outcome(writer.write(str(n), 1))) for n in range(5)]
    await asyncio.sleep(0)
    closing = asyncio.ensure_future(asyncio.to_thread(writer.close))
    while not writer._queue._stopping:
        await asyncio.sleep(0.01)
    assert await outcome(writer.write("late", 1)) == "shutting_down"
    store.held.set()
    await closing
    assert await asyncio.gather(*waiting) == ["stored"] * 5


async def test_a_store_that_hangs_does_not_hang_the_end(store: Store):
    writer = BatchWriter(store, 100, 1)
    store.held.clear()
    held = asyncio.ensure_future(outcome(writer.write("held", 1)))
    await asyncio.to_thread(store.called.wait, 10)
    queued = asyncio.ensure_future(outcome(writer.write("queued", 1)))
    await asyncio.sleep(0)
    await asyncio.to_thread(writer.close, 0.1)
    assert await queued == "shutting_down"
    store.held.set()
    assert await held == "stored"


async def test_tenants_take_turns_and_none_fills_the_queue(store: Store):
    store.held.clear()
    writer = BatchWriter(store, 16, 1, owner=lambda report: report[0])
    held = asyncio.ensure_future(writer.write("held", 1))
    await asyncio.to_thread(store.called.wait)
    loud = [asyncio.ensure_future(outcome(writer.write(f"a{n}", 1))) for n in range(16)]
    await asyncio.sleep(0)
    quiet = [asyncio.ensure_future(outcome(writer.write(f"b{n}", 1))) for n in range(4)]
    await asyncio.sleep(0)
    store.held.set()
    await held
    assert await asyncio.gather(*quiet) == ["stored"] * 4
    assert sorted(await asyncio.gather(*loud)) == ["ingest_busy"] * 4 + ["stored"] * 12
    assert store.batches[1][:8] == [f"{tenant}{n}" for n in range(4) for tenant in "ab"]
    await asyncio.to_thread(writer.close)


@pytest.mark.parametrize(("others", "batches"), [("", [10]), ("b", [4, 4, 2])])
async def test_no_tenant_waits_for_the_batches_of_one_that_reports_much(store: Store, others: str, batches: list[int]):
    store.held.clear()
    writer = BatchWriter(
        lambda reports: None if "b" in reports else store(reports), 40, 1, owner=lambda report: report[0]
    )
    held = asyncio.ensure_future(writer.write("a", 150 << 10))
    await asyncio.to_thread(store.called.wait)
    waiting = [asyncio.ensure_future(writer.write("a", 150 << 10)) for _ in range(10)]
    await asyncio.gather(*(writer.write(tenant, 1) for tenant in others))
    store.held.set()
    await asyncio.gather(held, *waiting)
    assert list(map(len, store.batches[1:])) == batches
    await asyncio.to_thread(writer.close)


async def test_a_tenant_that_begins_to_report_much_leaves_the_writer_to_the_others(store: Store):
    writer = BatchWriter(store, 100, 300, owner=lambda report: report[0])
    await writer.write("a", 1)
    # Within the pause before the next batch, all that waits for it goes to the other thread.
    moved = asyncio.ensure_future(writer.write("b", 1))
    await asyncio.sleep(0.1)
    await asyncio.gather(moved, writer.write("b", 150 << 10))
    await asyncio.sleep(0.4)
    assert await asyncio.wait_for(outcome(writer.write("a", 1)), WAIT_MOST_S) == "stored"
    await asyncio.to_thread(writer.close)


def test_a_writer_that_fails_for_good_ends_the_process():
    """Those who wait for it would wait without end; a new process stores what they send again."""
    script = """
import asyncio
from sinemora.measurements.ingest.batching import BatchLimits, BatchQueue
from sinemora.measurements.metrics import QUEUE

async def main():
    await BatchQueue("writer", lambda reports: 1 / 0, 9, BatchLimits(9, 9), QUEUE).put("a", 1)

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=WAIT_MOST_S)
    assert done.returncode == -signal.SIGTERM
    assert "thread failed: the process ends" in done.stdout + done.stderr
    assert "ZeroDivisionError" in done.stdout + done.stderr


async def test_the_queue_is_bounded_in_bytes_too():
    writer = BatchWriter(Store(), 100, 1)
    with pytest.raises(ProductError) as refused:
        await writer.write("a", 1 << 30)
    assert (refused.value.code, refused.value.status) == ("ingest_busy", 429)
    assert int(refused.value.headers["Retry-After"]) > 0
    writer.close()
