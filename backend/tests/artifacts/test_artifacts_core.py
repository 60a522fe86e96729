"""Manifests, access between agents, choice of peers, cost of moves."""

import hashlib
import hmac
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.artifacts.core import access
from sinemora.artifacts.core.manifest import Block, decode, encode, root
from sinemora.artifacts.core.move_cost import achievable_rate, move_cost
from sinemora.artifacts.core.nearest import NearbyPeer, nearest


def blocks(*names: str, size: int = 100) -> list[Block]:
    return [Block(hashlib.sha256(name.encode()).digest(), size) for name in names]


@given(st.lists(st.integers(1, 1 << 20), max_size=40))
def test_a_manifest_round_trips(sizes: list[int]):
    made = [Block(hashlib.sha256(str(at).encode()).digest(), size) for at, size in enumerate(sizes)]
    assert decode(encode(made)) == made


@given(st.integers(1, 40), st.data())
def test_the_root_changes_with_every_block(count: int, data: st.DataObject):
    made = [Block(hashlib.sha256(str(at).encode()).digest(), 7) for at in range(count)]
    at = data.draw(st.integers(0, count - 1))
    changed = list(made)
    changed[at] = Block(made[at].digest, 8)
    assert root(changed) != root(made)
    assert root(made[:-1]) != root(made)


def test_roots_and_proofs_are_those_of_the_agent():
    """The same vectors are in agent/transfer/src/artifacts/tests.rs."""
    made = [Block(hashlib.sha256(bytes([n])).digest(), n + 1) for n in range(5)]
    roots = [root(made[:n]).hex()[:16] for n in (0, 1, 2, 5)]
    assert roots == ["e3b0c44298fc1c14", "91db3e51519f0975", "c10ad0293b678fcb", "8ab942a4c29579fd"]
    token = access.token(b"\x07" * 32, 1, 1_700_000_000)
    assert access.proof(token, b"\x09" * 16).hex()[:16] == "ce024fc353d6c610"


def test_a_token_belongs_to_one_pair_and_one_expiry():
    keys = [access.serving_key("secret", UUID(int=n)) for n in (1, 2)]
    tokens = {access.token(key, vm, expires) for key in keys for vm in (1, 2) for expires in (10, 11)}
    assert len(tokens) == 8
    message = (1).to_bytes(4, "little") + (10).to_bytes(8, "little")
    assert access.token(keys[0], 1, 10) == hmac.new(keys[0], message, "sha256").digest()


@pytest.mark.parametrize(("held", "moved"), [("abcd", 0), ("ab", 200), ("", 400), ("axyz", 300)])
def test_only_blocks_that_the_target_does_not_hold_are_moved(held: str, moved: int):
    cost = move_cost(blocks(*"abcd"), {block.digest for block in blocks(*held)}, rate=50.0)
    assert (cost.moved_bytes, cost.seconds) == (moved, moved / 50)


def test_the_figures_of_the_source():
    """Of 100 blocks 53 are held: 47 % are moved; of 24 held 76 %. Source: 004, chapter 3."""
    names = [str(at) for at in range(100)]
    for held, share in ((53, 0.47), (24, 0.76)):
        known = {block.digest for block in blocks(*names[:held])}
        assert move_cost(blocks(*names), known, 1.0).share == pytest.approx(share)


def test_a_repeated_block_is_moved_once():
    assert move_cost(blocks("a", "a", "b"), set(), 1.0).moved_bytes == 200


def test_the_rate_is_limited_by_cap_window_and_loss():
    assert achievable_rate(None, None, 1e6) == 1e6
    assert achievable_rate(0.1, 0.0, 1e12, window_bytes=1e6) == pytest.approx(1e7)
    # Mathis: 1448 B / 100 ms · √1.5 / √0.01
    assert achievable_rate(0.1, 0.01, 1e12) == pytest.approx(1448 / 0.1 * 1.5**0.5 * 10)


def test_peers_are_chosen_by_delay_and_loss():
    near, lossy, far, unknown = (
        NearbyPeer(1, 0.001, 0.0),
        NearbyPeer(2, 0.001, 0.02),
        NearbyPeer(3, 0.08, 0.0),
        NearbyPeer(4, None, None),
    )
    assert [one.vm_key for one in nearest([unknown, far, lossy, near])] == [1, 2, 3, 4]
    assert len(nearest([NearbyPeer(n, 0.001, None) for n in range(40)])) == 16
