"""The queue on disk: its order, its durability, and a disk without room."""

import asyncio
import hashlib
import sqlite3
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from sinemora.kit.errors import ProductError
from sinemora.operations.gateway import metrics
from sinemora.operations.gateway.disk_queue import Body, Client, DiskQueue, Queued
from sinemora.operations.gateway.refused import RefusedReports

MIB = 1 << 20


def body(content: bytes) -> Body:
    return Body(content, hashlib.sha256(content).digest(), "application/x-protobuf", "zstd")


def with_queue(folder: Path, use: Callable[[DiskQueue], Coroutine[Any, Any, None]], **options: Any) -> None:
    async def run() -> None:
        queue = DiskQueue(folder, MIB, **options)
        queue.start()
        try:
            await use(queue)
        finally:
            queue.close()

    asyncio.run(run())


async def agent(queue: DiskQueue, name: str) -> Client:
    return await queue.verified(hashlib.sha256(name.encode()).digest(), name[:10], 1.0)


async def oldest(queue: DiskQueue, client: Client) -> Queued:
    report = await queue.oldest(client.id)
    assert report is not None
    return report


def test_reports_of_an_agent_leave_in_the_order_of_arrival(tmp_path: Path) -> None:
    async def fill(queue: DiskQueue) -> None:
        a, b = await agent(queue, "sma_a"), await agent(queue, "sma_b")
        for content in (b"3", b"1", b"2", b"1"):  # the last is there already
            await queue.put(a, "sma_a", "sma_a", body(content))
        await queue.put(b, "sma_b", "sma_b", body(b"1"))
        assert queue.counts == {a.id: 3, b.id: 1}

    async def drain(queue: DiskQueue) -> None:
        a, b = sorted(queue.clients(), key=lambda one: one.id)
        assert queue.counts == {a.id: 3, b.id: 1}
        contents = []
        while queue.counts[a.id]:
            report = await oldest(queue, a)
            assert report.credential == "sma_a"
            contents.append(report.body.content)
            await queue.remove(report)
        assert contents == [b"3", b"1", b"2"]
        await queue.remove(await oldest(queue, b))
        assert (queue.size_bytes, queue.oldest_age_s()) == (0, 0.0)

    with_queue(tmp_path, fill)
    with_queue(tmp_path, drain)


def test_a_credential_is_on_the_disk_only_while_its_reports_are(tmp_path: Path) -> None:
    async def use(queue: DiskQueue) -> None:
        client = await agent(queue, "sma_secret")
        await queue.put(client, "sma_secret", "sma_secre", body(b"1"))
        assert credentials(tmp_path) == ["sma_secret"]
        await queue.remove(await oldest(queue, client))
        assert credentials(tmp_path) == [None]
        await queue.forget(2.0)
        assert queue.clients() == []

    with_queue(tmp_path, use)
    assert {path.stat().st_mode & 0o077 for path in tmp_path.iterdir()} == {0}


def credentials(folder: Path) -> list[str | None]:
    with sqlite3.connect(folder / "queue.sqlite") as db:
        return [row[0] for row in db.execute("SELECT credential FROM clients")]


def test_every_commit_is_synchronised_with_the_disk(tmp_path: Path) -> None:
    queue = DiskQueue(tmp_path, MIB)
    assert queue._writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert queue._writer.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
    queue.close()


def test_a_disk_without_room_takes_no_report_and_lets_others_go(tmp_path: Path) -> None:
    async def fill(queue: DiskQueue) -> None:
        await queue.put(await agent(queue, "sma_a"), "sma_a", "sma_a", body(b"1"))

    async def use(queue: DiskQueue) -> None:
        (client,) = queue.clients()
        with pytest.raises(ProductError, match="Disk of the gateway full") as refusal:
            await queue.put(client, "sma_a", "sma_a", body(b"2"))
        assert (refusal.value.code, refusal.value.status) == ("gateway_disk_full", 503)
        assert not queue.has_room
        assert "disk full" in queue.filling
        await queue.remove(await oldest(queue, client))
        assert queue.size_bytes == 0

    with_queue(tmp_path, fill)
    with_queue(tmp_path, use, reserve_bytes=1 << 62)


def test_a_disk_that_fails_acknowledges_nothing(tmp_path: Path) -> None:
    async def use(queue: DiskQueue) -> None:
        client = await agent(queue, "sma_a")
        queue._writer.execute("PRAGMA max_page_count = 1")  # SQLite answers as for a full disk
        with pytest.raises(ProductError) as refusal:
            await queue.put(client, "sma_a", "sma_a", body(bytes(100_000)))
        assert refusal.value.code == "gateway_disk_failed"
        assert (queue.counts.total(), queue.size_bytes) == (0, 0)
        queue._writer.execute("PRAGMA max_page_count = 1000000")
        await queue.put(client, "sma_a", "sma_a", body(bytes(100_000)))
        assert queue.counts.total() == 1

    with_queue(tmp_path, use)


def test_refused_reports_are_kept_up_to_a_limit(tmp_path: Path) -> None:
    refused = RefusedReports(tmp_path / "refused", reports_max=2, bytes_max=100)
    deleted_before = metrics.REFUSED_DELETED._value.get()
    with capture_logs() as lines:
        for n in range(4):
            path = refused.keep(Queued(n, 1, 1.0, body(b"report %d" % n), "sma_secret", "sma_s"), "HTTP 422 malformed")
    assert [(line["log_level"], line["deleted"]) for line in lines] == [("warning", 1)] * 2
    assert metrics.REFUSED_DELETED._value.get() - deleted_before == 2
    assert path.read_bytes() == b"report 3"
    assert sorted(one.suffix for one in (tmp_path / "refused").iterdir()) == [".report", ".report", ".why", ".why"]
    assert "sma_secret" not in path.with_suffix(".why").read_text()
    path = refused.keep(Queued(9, 1, 1.0, body(bytes(500)), "sma_secret", "sma_s"), "HTTP 422 malformed")
    assert [one.name for one in (tmp_path / "refused").glob("*.report")] == [path.name]
