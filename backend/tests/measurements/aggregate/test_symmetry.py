"""Mesh correction against meshes whose truth is known."""

from dataclasses import dataclass

import numpy as np
import pytest

from sinemora.measurements.aggregate.symmetry import Floats, OffsetEstimates, SymmetryCorrections, correct
from tests.seeds import seeds

US = 1e3


@dataclass
class Mesh:
    """A full mesh; `forth` and `back` are the true shortest delays of each pair, ns."""

    pairs: OffsetEstimates
    forth: Floats
    back: Floats

    def errors(self, shift_ns: Floats) -> Floats:
        """Return the errors of shifted one-way delays."""
        return np.abs(self.pairs.outbound_min_ns + shift_ns - self.forth)

    def before(self) -> Floats:
        return self.errors(np.zeros(self.forth.size))


def mesh(vms: int, half_asymmetry_ns: Floats, seed: int, base_ns: float = 200 * US) -> Mesh:
    """Return a mesh with the given half asymmetries of pairs, shape (vms, vms), upper triangle."""
    random = np.random.default_rng(seed)
    clients, targets = np.nonzero(np.triu(np.ones((vms, vms), bool), 1))
    half = half_asymmetry_ns[clients, targets]
    both = np.maximum(random.uniform(base_ns, 2 * base_ns, half.size), 2.05 * np.abs(half))
    forth, back = both / 2 + half, both / 2 - half
    clock = random.uniform(-1e9, 1e9, vms)
    noise = random.normal(0, 100, half.size)
    # An agent takes both ways to be equally long: its offset is too small by half of what they differ by.
    offset = clock[clients] - clock[targets] - half - noise
    even = both / 2
    pairs = OffsetEstimates(
        vms, clients, targets, offset, np.full(half.size, 100.0), even + 300, even - noise, even + noise,
        np.zeros(half.size, bool),
    )  # fmt: skip
    return Mesh(pairs, forth, back)


def chance(vms: int, deviation_us: float, seed: int) -> Floats:
    return np.random.default_rng(1000 + seed).normal(0, deviation_us * US, (vms, vms))


def by_vm(vms: int, deviation_us: float, seed: int) -> Floats:
    own = np.random.default_rng(2000 + seed).normal(0, deviation_us * US, vms)
    return own[None, :] - own[:, None]


def few(vms: int, seed: int) -> Floats:
    random = np.random.default_rng(3000 + seed)
    bad = random.random((vms, vms)) < 0.1
    return np.where(bad, 50 * US, random.normal(0, 1 * US, (vms, vms)))


def rms(values: Floats) -> float:
    return float(np.sqrt(np.mean(values**2)))


@pytest.mark.parametrize(("vms", "left"), [(5, 0.63), (10, 0.45), (20, 0.32), (50, 0.2)])
def test_ways_that_differ_by_chance_are_corrected_by_the_square_root_of_the_size(vms: int, left: float) -> None:
    """By theory the share of the error that is left is sqrt(2 / vms)."""
    shares = []
    for seed in range(10):
        world = mesh(vms, chance(vms, 10, seed), seed)
        corrected = correct(world.pairs)
        assert corrected.decided.all()
        shares.append(rms(world.errors(corrected.shift_ns)) / rms(world.before()))
    assert np.mean(shares) == pytest.approx(left, rel=0.2)


def test_a_few_very_unequal_ways_do_not_spoil_the_others() -> None:
    for seed in range(5):
        world = mesh(20, few(20, seed), seed)
        corrected = correct(world.pairs)
        assert rms(world.before()) > 10 * US
        assert rms(world.errors(corrected.shift_ns)) < 1 * US


def test_what_belongs_to_a_vm_cannot_be_seen_and_the_bound_knows() -> None:
    world = mesh(20, by_vm(20, 10, 1), 1)
    corrected = correct(world.pairs)
    errors = world.errors(corrected.shift_ns)
    assert rms(errors) == pytest.approx(rms(world.before()), rel=0.05)
    assert (errors <= corrected.bound_ns).all()
    assert np.abs(corrected.loops_ns).max() < 2 * US


@pytest.mark.parametrize("make", [lambda n, s: chance(n, 40, s), lambda n, s: by_vm(n, 40, s), few])
@pytest.mark.parametrize("vms", [3, 4, 12])
def test_the_bound_holds_whatever_the_ways_are_like(make, vms: int) -> None:  # type: ignore[no-untyped-def]
    for seed in seeds(range(20)):
        world = mesh(vms, make(vms, seed), seed)
        corrected = correct(world.pairs)
        assert (world.errors(corrected.shift_ns) <= corrected.bound_ns).all()
        assert (corrected.bound_ns <= world.pairs.bound_ns + np.abs(corrected.shift_ns) + 1).all()


def test_no_corrected_delay_is_negative() -> None:
    world = mesh(12, chance(12, 400, 3), 3, base_ns=5 * US)
    corrected = correct(world.pairs)
    assert (world.pairs.outbound_min_ns + corrected.shift_ns >= -1e-6).all()
    assert (world.pairs.inbound_min_ns - corrected.shift_ns >= -1e-6).all()


def part(pairs: OffsetEstimates, keep: np.ndarray) -> OffsetEstimates:
    arrays = {name: getattr(pairs, name)[keep] for name in OffsetEstimates.__slots__ if name != "vms"}
    return OffsetEstimates(vms=pairs.vms, **arrays)


def test_without_a_loop_nothing_is_corrected() -> None:
    world = mesh(6, chance(6, 10, 1), 1)
    star = part(world.pairs, world.pairs.clients == 0)
    corrected = correct(star)
    assert not corrected.decided.any()
    assert not corrected.shift_ns.any()
    assert np.array_equal(corrected.bound_ns, star.bound_ns)
    assert not correct(part(world.pairs, world.pairs.clients == 99)).decided.size


def test_parts_that_are_not_connected_are_corrected_each_by_itself() -> None:
    world = mesh(10, chance(10, 10, 4), 4)
    inside = (world.pairs.clients < 5) == (world.pairs.targets < 5)
    both = correct(part(world.pairs, inside))
    left = part(world.pairs, inside & (world.pairs.clients < 5))
    alone = correct(left)
    assert both.shift_ns[part(world.pairs, inside).clients < 5] == pytest.approx(alone.shift_ns, abs=1000)


def test_hardware_clocks_are_not_corrected_and_help_the_others() -> None:
    world = mesh(6, chance(6, 10, 5), 5)
    fixed = world.pairs.clients == 0
    true_offset = world.pairs.offset_ns + (world.forth - world.back) / 2
    offset = np.where(fixed, true_offset, world.pairs.offset_ns)
    pairs = part(world.pairs, np.ones(fixed.size, bool))
    pairs = OffsetEstimates(
        pairs.vms, pairs.clients, pairs.targets, offset, pairs.error_ns, pairs.bound_ns,
        np.where(fixed, world.forth, pairs.outbound_min_ns), np.where(fixed, world.back, pairs.inbound_min_ns), fixed,
    )  # fmt: skip
    corrected: SymmetryCorrections = correct(pairs)
    assert not corrected.decided[fixed].any()
    assert rms(world.errors(corrected.shift_ns)[~fixed]) < 1 * US
