"""The tail lab's core: workloads, flows, figures, classes, search, studies, commands of the egress guard."""

import math

import numpy as np
import pytest

from sinemora.labs.tail_lab.core.classes import ClassSpread, boundaries_of
from sinemora.labs.tail_lab.core.link import Chosen, Flows, Link, draw_flows, simulate
from sinemora.labs.tail_lab.core.policies import ALPHA_MAX, PacketPolicy, command_of
from sinemora.labs.tail_lab.core.search import Goal, best_of, search
from sinemora.labs.tail_lab.core.source import SourceVerdict
from sinemora.labs.tail_lab.core.study import StudyRequest, run
from sinemora.labs.tail_lab.core.summary import Figures, TailFigure, gain_percent, summary_of
from sinemora.labs.tail_lab.core.workloads import WORKLOADS, SizesError, own_workload

LINK = Link()


@pytest.mark.parametrize(
    ("key", "mean", "p50", "p99"),
    # Means and quantiles of the published distributions.
    [
        ("w1", 185, 40, 1_900),
        ("w2", 441, 266, 3_000),
        ("w3", 1_001, 3, 8_300),
        ("w4", 135_000, 656, 4.0e6),
        ("w5", 1.67e6, 70_000, 22.8e6),
    ],
)
def test_workloads_have_the_published_shape(key: str, mean: float, p50: float, p99: float) -> None:
    workload = WORKLOADS[key]
    drawn = workload.sizes_at(np.random.default_rng(1).random(400_000))
    assert workload.mean_bytes == pytest.approx(mean, rel=0.12)
    assert drawn.mean() == pytest.approx(workload.mean_bytes, rel=0.05)
    assert np.quantile(drawn, 0.5) == pytest.approx(p50, rel=0.15)
    assert np.quantile(drawn, 0.99) == pytest.approx(p99, rel=0.15)


def test_own_sizes_occur_as_often_as_counted() -> None:
    workload = own_workload("bytes,count\n100,3\n5000,1\n")
    drawn = workload.sizes_at(np.random.default_rng(2).random(100_000))
    assert set(drawn.tolist()) == {100, 5_000}
    assert (drawn == 100).mean() == pytest.approx(0.75, abs=0.01)
    assert workload.mean_bytes == pytest.approx(1_325)
    assert own_workload("100\n100\n100\n5000\n").points == workload.points


def test_many_own_sizes_are_thinned_to_their_shares() -> None:
    sizes = np.random.default_rng(3).integers(1, 10**7, 20_000)
    workload = own_workload("\n".join(map(str, sizes)))
    assert len(workload.points) <= 5_001
    assert workload.mean_bytes == pytest.approx(sizes.mean(), rel=0.01)
    assert workload.points[-1] == (sizes.max(), 1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no flow sizes"),
        ("bytes\n", "no flow sizes"),
        ("size\n1\n", "line 1: the columns must be bytes, or bytes and count"),
        ("bytes\n12\nx\n", "line 3: bytes must be a whole number, not 'x'"),
        ("12\n0\n", "line 2: bytes must be 1 to 10000000000, not 0"),
        ("12\n-3\n", "line 2: bytes must be 1 to 10000000000, not -3"),
        ("bytes,count\n12\n", "line 2: expected 2 cells, found 1"),
        ("bytes,count\n12,1.5\n", "line 2: count must be a whole number, not '1.5'"),
    ],
)
def test_bad_tables_name_the_line(text: str, message: str) -> None:
    with pytest.raises(SizesError) as raised:
        own_workload(text)
    assert message in raised.value.message


def test_flows_have_the_load_and_are_the_same_for_a_seed() -> None:
    flows = draw_flows(WORKLOADS["w4"], LINK, 0.8, 200_000, seed=1)
    again = draw_flows(WORKLOADS["w4"], LINK, 0.8, 200_000, seed=1)
    assert np.array_equal(flows.sizes, again.sizes)
    assert np.array_equal(flows.arrivals_ps, again.arrivals_ps)
    assert flows.sizes.sum() * LINK.byte_ps / flows.arrivals_ps[-1] == pytest.approx(0.8, rel=0.05)
    other = draw_flows(WORKLOADS["w4"], LINK, 0.8, 200_000, seed=2)
    assert not np.array_equal(flows.sizes, other.sizes)


def test_figures_are_as_defined() -> None:
    fct = np.arange(1.0, 101.0)
    flows = Flows(LINK, np.zeros(100, np.int64), np.r_[np.full(50, 10), np.full(50, 10**6)].astype(np.int64))
    simulated = simulate(flows, Chosen(PacketPolicy.FCFS))
    simulated.fct_s[:] = fct
    summary = summary_of(flows, simulated)
    assert summary.figures == Figures(50.5, np.quantile(fct, 0.99), 100.0, np.quantile(fct[:50], 0.99))
    assert summary.tail_means_s[1] == fct[fct >= 50.5].mean()
    assert [bucket.flows for bucket in summary.buckets] == [50, 0, 0, 0, 0, 0, 0, 0, 0, 50]
    assert summary.buckets[-1].bytes_max == 10**6 + 1
    assert summary.buckets[1].p99_s is None
    assert gain_percent(10, 8) == pytest.approx(20)


@pytest.mark.parametrize("spread", list(ClassSpread))
def test_classes_carry_equal_loads(spread: ClassSpread) -> None:
    flows = draw_flows(WORKLOADS["w5"], LINK, 0.8, 2_000, seed=4)
    chosen = Chosen(PacketPolicy.D_TAIL_BLIND, 1.5)
    boundaries = boundaries_of(flows, chosen, 4, spread)
    assert boundaries == sorted(boundaries)
    # On the priorities that they were made from, every class has its share within 10 %.
    trained = simulate(flows, chosen, record=True)
    by_bytes = spread is ClassSpread.BYTES
    weights = trained.recorded_bytes if by_bytes else np.ones(trained.recorded.size)
    first = np.minimum(flows.sizes, LINK.packet_bytes).sum() if by_bytes else flows.sizes.size
    rest = (flows.sizes.sum() if by_bytes else trained.packets) - first
    carried = np.bincount(np.searchsorted(boundaries, trained.recorded, side="right"), weights, 4)
    carried *= rest / carried.sum()  # of many packets only some are recorded
    carried[-1] += first
    assert carried / carried.sum() == pytest.approx(np.full(4, 0.25), rel=0.1)
    in_classes = simulate(flows, Chosen(PacketPolicy.D_TAIL_BLIND, 1.5, boundaries))
    assert sum(in_classes.class_shares) == pytest.approx(1)


def test_classes_of_one_packet_flows_have_boundaries_all_the_same() -> None:
    flows = Flows(LINK, np.arange(10, dtype=np.int64), np.full(10, 100, np.int64))
    assert boundaries_of(flows, Chosen(PacketPolicy.D_TAIL_BLIND, 1.0), 8, ClassSpread.BYTES) == [0.0] * 7


def test_the_search_finds_a_minimum_and_keeps_the_limit_of_the_mean() -> None:
    # Tail falls and mean rises as α falls; the mean is 3 % higher at α = 2.
    def evaluate(alpha: float, number: int) -> Figures:
        small = 1 / (1 + alpha)
        return Figures(1 + 0.09 * small, 1.0, 1 - 0.6 * small, 1.0)

    baseline = evaluate(ALPHA_MAX, 0)
    free = list(search(Goal(TailFigure.TAIL_MEAN, baseline), evaluate, 25, seed=1))
    assert len(free) == 25
    assert best_of(free).alpha == 0.0
    limited = list(search(Goal(TailFigure.TAIL_MEAN, baseline, 3.0), evaluate, 25, seed=1))
    best = best_of(limited)
    assert best.mean_loss <= 3.0
    assert 2.0 <= best.alpha <= 3.0
    assert limited == list(search(Goal(TailFigure.TAIL_MEAN, baseline, 3.0), evaluate, 25, seed=1))


def test_a_study_compares_on_flows_that_the_search_has_not_seen() -> None:
    notes: list[tuple[float, str]] = []
    request = StudyRequest(WORKLOADS["w4"], flows=3_000, policies=(PacketPolicy.D_TAIL_BLIND,), evaluations=6)
    study = run(request, lambda share, note: notes.append((share, note)))
    (found,) = study.searches
    assert found.against is PacketPolicy.LAS
    las = study.outcome(PacketPolicy.LAS)
    assert las is not None
    assert found.evaluations[0].figures != las.summary.figures  # infinity on the search's flows, LAS on the others
    shares = [share for share, _ in notes]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert "D-TAIL blind: evaluation 6 of 6" in {note for _, note in notes}
    assert {row.printed.policy for row in study.beside_source} == {PacketPolicy.D_TAIL_BLIND}


def test_one_link_cannot_show_a_gain_over_srpt_in_mean() -> None:
    study = run(StudyRequest(WORKLOADS["w4"], flows=3_000, alpha=2.0, policies=(PacketPolicy.D_TAIL_AWARE,)))
    verdicts = {(row.printed.protocol, row.printed.figure): row.verdict for row in study.beside_source}
    assert verdicts["Homa", TailFigure.MEAN] is SourceVerdict.CANNOT


def test_cancelling_ends_a_simulation() -> None:
    flows = draw_flows(WORKLOADS["w5"], LINK, 0.8, 2_000, seed=1)

    class CancelledError(Exception):
        pass

    def cancel(share: float) -> None:
        raise CancelledError

    with pytest.raises(CancelledError):
        simulate(flows, Chosen(PacketPolicy.LAS), cancel)


BLIND = PacketPolicy.D_TAIL_BLIND
ON = "sudo sinemora-guard on --interface eth0 "


@pytest.mark.parametrize(
    ("alpha", "boundaries", "mbit", "options"),
    [
        (1.5, [-2.2517, 0.0, 3.0], 40, "--rate 40mbit --mode log-priority --alpha 1.5 --boundaries=-2.252,0,3"),
        (0.0, [20.5], 2_500, "--rate 2.5gbit --mode log-priority --alpha 0 --boundaries=20.5"),
        # Equal boundaries are one class fewer.
        (2.0, [-1.0, -1.0, 4.0], 1_000, "--rate 1gbit --mode log-priority --alpha 2 --boundaries=-1,4"),
    ],
)
def test_boundaries_of_priorities(alpha: float, boundaries: list[float], mbit: float, options: str) -> None:
    assert command_of(BLIND, alpha, boundaries, mbit) == ON + options


def test_without_age_the_boundaries_are_bytes_from_small_to_large() -> None:
    """As the lab computes them, age of a millisecond included: it is lost against 10^15."""
    sizes = [3_000_000, 100_000, 2_920]
    boundaries = [math.log2(1e6) - ALPHA_MAX * math.log2(size) for size in sizes]
    assert boundaries == sorted(boundaries)
    assert command_of(BLIND, ALPHA_MAX, boundaries, 1_000) == (
        ON + "--rate 1gbit --mode strict-priority --boundaries=2920,100000,3000000"
    )


@pytest.mark.parametrize(
    ("policy", "alpha", "boundaries"),
    [
        (BLIND, 1.5, []),
        (PacketPolicy.D_TAIL_AWARE, 1.5, [1.0]),
        (PacketPolicy.LAS, None, []),
    ],
)
def test_exact_priorities_and_known_sizes_have_none(
    policy: PacketPolicy, alpha: float | None, boundaries: list[float]
) -> None:
    assert command_of(policy, alpha, boundaries, 1_000) is None
