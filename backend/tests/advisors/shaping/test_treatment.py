"""Treatment of packets by size and class: simulated paths, a real bucket of Linux, HTTP."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sinemora.advisors.shaping import burst
from sinemora.advisors.shaping.core.treatment import Mixed, Treatment, TreatmentVerdict, by_class, by_size
from sinemora.advisors.shaping.schemas import PacketTreatmentRead, TreatmentCreate
from sinemora.advisors.shaping.service import treatment_of
from tests.advisors.shaping.queues import FULL, classes, one_queue
from tests.advisors.shaping.row import RECEIVER, Row
from tests.api_clients import Member


def mixed(
    loss: tuple[float, float],
    wait_ms: tuple[float, float],
    sizes: tuple[int, int] = (1_442, 1_442),
    arrives: bool = True,
) -> Mixed:
    """Return 2,000 packets, two kinds in turn, of DSCP 0 and 46, with random loss and waits of their own."""
    rng = np.random.default_rng(7)
    kind = np.arange(2_000) % 2
    delay = 0.001 + 1e-3 * np.array(wait_ms)[kind] * rng.uniform(0.8, 1.2, kind.size)
    delay[rng.random(kind.size) < np.array(loss)[kind]] = np.nan
    dscp = 46 * kind
    received = np.where(np.isfinite(delay), dscp if arrives else 0, -1)
    return Mixed(np.array(sizes, float)[kind], dscp, received, delay)


@pytest.mark.parametrize(
    ("loss", "verdict"),
    [
        ((0.002, 0.4), "different"),
        ((0.2, 0.22), "same"),
        ((0.0, 0.001), "not_loaded"),
        ((0.1, 0.3), "different"),
        ((0.3, 0.1), "same"),
    ],
)
def test_loss_by_size(loss: tuple[float, float], verdict: str):
    found = by_size(mixed(loss, (1, 1), (106, 1_442)))
    assert found.verdict == verdict
    assert "of 106 bytes" in found.evidence


@pytest.mark.parametrize(
    ("loss", "wait_ms", "verdict", "share"),
    [
        ((0.3, 0.0), (5, 5), "different", 1 / 1.7),
        ((0.0, 0.0), (9, 3), "different", 0.5),
        ((0.97, 0.0), (5, 5), "different", 1 / 1.03),
        ((0.1, 0.1), (5, 5), "same", None),
        ((0.0, 0.0), (0, 0), "not_loaded", None),
    ],
)
def test_preference_by_class(loss: tuple[float, float], wait_ms: tuple[float, float], verdict: str, share: Any):
    found: Treatment = by_class(mixed(loss, wait_ms))
    assert found.verdict == verdict
    assert found.share == (None if share is None else pytest.approx(share, abs=0.03))
    assert ("starves" in found.explanation) is (loss[0] > 0.9)


def test_marks_that_arrive_changed_and_too_few_packets():
    assert by_class(mixed((0.1, 0.1), (5, 5), arrives=False)).verdict is TreatmentVerdict.STRIPPED
    few = mixed((0, 0), (1, 1))
    assert by_size(few).verdict is TreatmentVerdict.TOO_FEW
    short = Mixed(few.size[:40], few.dscp[:40], few.received_dscp[:40], few.delay_s[:40])
    assert by_class(short).verdict is TreatmentVerdict.TOO_FEW


def test_small_packets_pass_a_real_bucket_that_drops(from_sender: Row, owner: Member, tmp_path: Path, online: Any):
    from_sender.shape("tbf", "rate", "8mbit", "burst", "20000", "limit", "3000")
    file = tmp_path / "mixed.json"
    sent = ("--rate-mbit", "24", "--packets", "2000", "--output", str(file), "--json")
    found = json.loads(online("advise", "packet-treatment", RECEIVER, *sent))
    assert found["by_size"]["verdict"] == "different"
    # A token bucket knows no classes, and the marks arrive.
    assert found["by_class"]["verdict"] == "same"
    sizes, classes = json.loads(file.read_text())["bursts"]
    assert owner.post("/v1/advisors/packet-treatments", json=sizes).json()["by_size"] == found["by_size"]
    assert owner.post("/v1/advisors/packet-treatments", json=classes).json()["by_class"] == found["by_class"]


def treatment(rate: float, *, is_class: bool) -> PacketTreatmentRead:
    """Return the finding of one burst of 2,000 packets at three times a rate (bytes/s), by size or by class."""
    kinds = [(1400, 0), (1400, 46)] if is_class else [(64, 0), (1400, 0)]
    arrivals = burst.send_mixed(RECEIVER, 2_000, kinds, 3 * rate)
    found = treatment_of(TreatmentCreate.model_validate(asdict(arrivals)))
    return found.by_class if is_class else found.by_size


@pytest.mark.parametrize(("share", "starves"), [(None, True), (0.7, False)])
def test_a_class_is_preferred_by_a_real_queue_with_two_priorities(from_sender: Row, share: float | None, starves: bool):
    """HTB with two priorities, and with two weights: `prio` and `ets` are missing in many small kernels."""
    classes(from_sender, 1e6, 46, share)
    found = treatment(1e6, is_class=True)
    assert found.verdict is TreatmentVerdict.DIFFERENT, found
    assert "prefers DSCP 46" in found.explanation
    assert ("starves" in found.explanation) is starves
    # The queue of the other class still sends its ten packets at the end of the burst.
    assert found.share == pytest.approx(1.0 if share is None else share, abs=0.05)


def test_a_real_queue_of_packets_prefers_no_size_and_no_class(from_sender: Row):
    one_queue(from_sender, 1e6, 50)
    for is_class in (False, True):
        found = treatment(1e6, is_class=is_class)
        assert found.verdict is TreatmentVerdict.SAME, found


@pytest.mark.parametrize("packets", [2, 100])
def test_a_real_bucket_that_drops_or_queues_prefers_no_class(from_sender: Row, packets: int):
    limits = ("burst", str(10 * FULL), "limit", str(packets * FULL))
    from_sender.shape("tbf", "rate", "8mbit", *limits)
    found = treatment(1e6, is_class=True)
    assert found.verdict is TreatmentVerdict.SAME, found
