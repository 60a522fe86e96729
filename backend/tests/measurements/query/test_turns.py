"""Turns of queries: those of a tenant wait for one another, and for nobody else."""

import asyncio
from uuid import uuid4

import pytest

from sinemora.measurements.query import turns
from tests.api_clients import Member, MeshWorld


@pytest.mark.anyio
async def test_queries_of_a_tenant_take_turns_and_others_do_not_wait():
    loud, running, most, ended = uuid4(), 0, 0, asyncio.Event()

    async def query() -> None:
        nonlocal running, most
        async with turns.turn(loud):
            running += 1
            most = max(most, running)
            await ended.wait()
            running -= 1

    queries = [asyncio.ensure_future(query()) for _ in range(20)]
    await asyncio.sleep(0)
    async with asyncio.timeout(5), turns.turn(uuid4()):
        pass
    ended.set()
    await asyncio.gather(*queries)
    assert most == turns.AT_ONCE
    assert not turns._tenants


def test_more_than_may_wait_are_refused_in_words(owner: Member, mesh: MeshWorld, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(turns, "WAITING_MAX", -turns.AT_ONCE)
    answer = owner.get(f"/v1/meshes/{mesh.id}/matrix")
    assert (answer.status_code, answer.json()["code"]) == (429, "queries_too_many")
    assert answer.headers["Retry-After"] == "2"
    assert owner.get(f"/v1/meshes/{mesh.id}").status_code == 200
    monkeypatch.undo()
    assert owner.get(f"/v1/meshes/{mesh.id}/matrix").status_code == 200
