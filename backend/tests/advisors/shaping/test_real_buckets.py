"""Token buckets of Linux (`tc tbf`) between network namespaces, detected and saved by the command of users."""

import time
from typing import Any

import pytest

from sinemora.advisors.shaping import burst
from sinemora.advisors.shaping.core.bucket import Bucket, Mechanism, combined, detect
from tests.advisors.shaping.row import RECEIVER, Row
from tests.api_clients import Member, MeshWorld

RATE, DEPTH = 1e6, 2e5
"""Bytes/s and bytes of the lower bucket."""


def test_a_dual_bucket_is_detected_and_saved_for_a_vm(from_sender: Row, owner: Member, make_mesh: Any, online: Any):
    path = from_sender
    mesh: MeshWorld = make_mesh(owner, 2)
    vm_id = mesh.agents[0].vm_id
    name = owner.get(f"/v1/vms/{vm_id}").json()["name"]
    path.shape_entry("tbf", "rate", f"{32 * RATE:.0f}bit", "burst", "40000", "limit", "3000")
    path.shape("tbf", "rate", f"{8 * RATE:.0f}bit", "burst", f"{DEPTH:.0f}", "limit", "3000")
    sent = ("--rate-mbit", "96", "--packets", "1500", "--rest-s", "0.6", "--use-mbit", "16")
    printed = online("advise", "shaping", RECEIVER, *sent, "--save", name)
    assert "upper limit" in printed
    assert f"Saved as the token bucket of {name}" in printed
    saved = owner.get(f"/v1/vms/{vm_id}/token-bucket").json()
    assert (saved["source"], saved["direction"]) == ("detected", "sent")
    assert saved["rate_mbit"] == pytest.approx(8e-6 * RATE, rel=0.05)
    assert saved["burst_kb"] == pytest.approx(DEPTH / 1e3, rel=0.15)


def found_by_bursts() -> Bucket | None:
    """Return the finding of three bursts of 800 packets at four times the rate, with rests in which a bucket fills."""
    detections = []
    for _ in range(3):
        detections.append(detect(burst.train_of(burst.send(RECEIVER, 800, 1400, 4 * RATE))))
        time.sleep(0.3)
    return combined(detections).bucket


@pytest.mark.parametrize(("queue", "mechanism"), [(2, Mechanism.POLICER), (400, Mechanism.SHAPER)])
def test_rate_depth_and_mechanism_are_detected(from_sender: Row, queue: int, mechanism: Mechanism):
    limits = ("burst", f"{DEPTH:.0f}", "limit", str(1_442 * queue))
    from_sender.shape("tbf", "rate", f"{8 * RATE:.0f}bit", *limits)
    found = found_by_bursts()
    assert (found.mechanism, found.upper) == (mechanism, None)
    assert found.rate == pytest.approx(RATE, rel=0.05)
    assert found.burst == pytest.approx(DEPTH, rel=0.15)


def test_an_unknown_vm_is_refused_before_any_burst(
    owner: Member, make_mesh: Any, online: Any, monkeypatch: pytest.MonkeyPatch
):
    make_mesh(owner, 2)
    monkeypatch.setattr(burst, "send", lambda *_: pytest.fail("a burst was sent"))
    assert "Unknown VM: none" in online("advise", "shaping", "h", "--save", "none", code=1)
