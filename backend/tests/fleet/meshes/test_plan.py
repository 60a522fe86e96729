from collections import Counter
from dataclasses import replace
from ipaddress import ip_address
from itertools import combinations
from uuid import UUID, uuid4

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.fleet.meshes.plan import (
    Member,
    MeshState,
    clients,
    is_client,
    plan_for,
    plan_revision,
    planned,
    unmeasurable,
    unmeasurable_pairs,
)

KEYS = st.integers(1, 2**31 - 1)


def member(key: int, *, has_agent: bool = True, address: str | None = "") -> Member:
    address = str(ip_address((0xFD << 120) + key)) if address == "" else address
    return Member(UUID(int=key), key, f"vm-{key}", UUID(int=0), "a", address, 319, 320, has_agent)


def mesh(keys: list[int], revision: int = 1, id: int = 7) -> MeshState:
    return MeshState(UUID(int=id), id, "demo", 10, 8, 1, revision, tuple(member(key) for key in keys))


@given(st.lists(KEYS, min_size=1, max_size=30, unique=True))
def test_the_table_is_the_rule(keys: list[int]):
    table = clients(keys)
    assert table.tolist() == [[is_client(a, b) for b in keys] for a in keys]


@pytest.mark.parametrize("first", [1, 2, 17, 1000, 123_456])
@pytest.mark.parametrize("count", [2, 3, 6, 20, 100, 1000])
def test_vms_made_in_turn_ask_about_half_of_their_peers(first: int, count: int):
    asks = clients(range(first, first + count)).sum(axis=1)
    assert asks.sum() == count * (count - 1) // 2
    assert np.abs(asks - (count - 1) / 2).max() <= 1 + 0.04 * count


@given(st.lists(st.integers(1, 100_000), min_size=200, max_size=200, unique=True))
def test_any_vms_ask_about_half_of_their_peers(keys: list[int]):
    # Keys drawn at random: a binomial spread of 7 around 100, five times that allowed.
    assert np.abs(clients(keys).sum(axis=1) - 99.5).max() <= 36


@given(st.lists(KEYS, min_size=2, max_size=20, unique=True), st.data())
def test_a_pair_keeps_its_client_when_others_come_and_go(keys: list[int], data: st.DataObject):
    fewer = data.draw(st.lists(st.sampled_from(keys), min_size=2, unique=True))
    roles = roles_of(keys)
    assert all(roles[pair] == client for pair, client in roles_of(fewer).items())


def roles_of(keys: list[int]) -> dict[frozenset[int], int]:
    """Return the client of each pair, as the plans of the agents state it."""
    collected: dict[frozenset[int], int] = {}
    for key in keys:
        for peer in plan_for(UUID(int=key), key, [mesh(keys)], 0)["meshes"][0]["peers"]:
            pair = frozenset((key, peer["vm_key"]))
            asking = key if peer["role"] == "client" else peer["vm_key"]
            assert collected.setdefault(pair, asking) == asking
    return collected


@given(st.lists(KEYS, min_size=1, max_size=12, unique=True))
def test_plans_cover_every_pair_once(keys: list[int]):
    assert set(roles_of(keys)) == {frozenset(pair) for pair in combinations(keys, 2)}


def test_who_cannot_answer_is_not_probed():
    members = [member(1), member(2, has_agent=False), member(3, address=None), member(4)]
    state = MeshState(UUID(int=7), 7, "demo", 10, 8, 2, 1, tuple(members))
    assert planned(members).tolist() == [
        [False, False, False, True],
        [False, False, False, False],
        [False, False, False, False],
        [True, False, False, False],
    ]
    peers = plan_for(uuid4(), 1, [state], 0)["meshes"][0]["peers"]
    assert [(peer["vm_key"], peer["flows"]) for peer in peers] == [(4, 2)]


@given(st.lists(st.sampled_from([None, "10.0.0.1", "10.0.0.2", "fd00::1", "fd00::2", "127.0.0.1", "::1"]), max_size=8))
def test_pairs_between_which_no_packet_can_pass_are_in_no_plan(addresses: list[str | None]):
    members = tuple(member(key, address=address) for key, address in enumerate(addresses, 1))
    apart = unmeasurable_pairs(members)
    assert apart.tolist() == [[a is not b and unmeasurable(a, b) is not None for b in members] for a in members]
    state = MeshState(UUID(int=7), 7, "demo", 10, 8, 1, 1, members)
    for at, vm in enumerate(members):
        planned_keys = {peer["vm_key"] for peer in plan_for(uuid4(), vm.key, [state], 0)["meshes"][0]["peers"]}
        reachable = {peer.key for i, peer in enumerate(members) if peer.can_probe and not apart[at, i]} - {vm.key}
        assert planned_keys == reachable


def test_each_pair_has_a_tag_of_its_own_that_both_get():
    keys = [1, 2, 3, 4]
    tags = {
        (key, peer["vm_key"]): peer["vm_tag"]
        for key in keys
        for peer in plan_for(UUID(int=key), key, [mesh(keys)], 0)["meshes"][0]["peers"]
    }
    assert all(tags[one, other] == tags[other, one] for one, other in tags)
    assert len(set(tags.values())) == 6
    assert all(0 < tag < 1 << 53 for tag in tags.values())


def test_an_agent_in_several_meshes_keeps_the_spikes_of_each():
    states = [replace(mesh([1, 2]), spike_threshold_ns=ns, loss_deadline_ms=ms) for ns, ms in ((9e4, 300), (4e4, 800))]
    plan = plan_for(uuid4(), 1, states, 0)
    assert plan["spike_threshold_ns"] == 4e4
    assert [one["loss_deadline_ms"] for one in plan["meshes"]] == [300, 800]


def test_a_stock_master_is_asked_by_every_agent_in_its_protocol_and_domain_and_asks_nobody():
    declared = ((2, "ieee1588", 24), (5, "sptp", 3))
    masters = [replace(member(key, has_agent=False), responder=kind, ptp_domain=at) for key, kind, at in declared]
    state = MeshState(UUID(int=7), 7, "demo", 10, 8, 1, 1, (member(1), member(3), *masters))
    assert planned(state.members).astype(int).tolist() == [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]]
    for key in (1, 3):
        peers = {peer["vm_key"]: peer for peer in plan_for(uuid4(), key, [state], 0)["meshes"][0]["peers"]}
        assert {peers[at]["role"] for at in (2, 5)} == {"client"}
        found = {(at, peer["protocol"], peer["domain"]) for at, peer in peers.items()}
        assert found == {(4 - key, "compact", 0), *declared}


@pytest.mark.parametrize("responder", ["ieee1588", "sptp"])
def test_an_agent_answers_for_itself_whatever_was_declared(responder):
    assert not replace(member(1), responder=responder).is_master


def test_the_revision_names_the_plan_and_not_the_time():
    agent = uuid4()
    before, later = (plan_for(agent, 1, [mesh([1, 2])], at) for at in (1, 2))
    assert before | {"server_time_ns": 2} == later
    revisions = Counter(
        plan_revision(who, meshes)
        for who, meshes in [
            (agent, [mesh([1, 2])]),
            (agent, [mesh([1, 2], revision=2)]),
            (agent, [mesh([1, 2]), mesh([1, 2], id=8)]),
            (agent, []),
            (uuid4(), [mesh([1, 2])]),
        ]
    )
    assert set(revisions.values()) == {1}
    assert plan_revision(agent, [mesh([1]), mesh([1], id=8)]) == plan_revision(agent, [mesh([1], id=8), mesh([1])])
