"""Dual token buckets: detector and forecast against two emulated buckets in a row, and HTTP."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sinemora.advisors.shaping.core.bucket import Train, combined, detect
from sinemora.advisors.shaping.core.envelope import Limit
from sinemora.advisors.shaping.core.forecast import forecast, transfer_s
from tests.advisors.shaping.emulator import PACKET, through_bucket
from tests.api_clients import Member
from tests.seeds import examples

BUCKETS = "/v1/advisors/token-buckets"


def through_both(upper: Limit, lower: Limit, peak: float, seconds: float, queue: float) -> Train:
    """Send a train through two buckets in a row, packet by packet."""
    first = through_bucket(upper.rate, upper.burst, peak, seconds, queue)
    passed = np.isfinite(first.received_s)
    second = through_bucket(lower.rate, lower.burst, peak, seconds, queue, sent=first.received_s[passed])
    received = np.full(first.sent_s.size, np.nan)
    received[passed] = second.received_s
    return Train(first.sent_s, received, first.size)


def duals() -> Any:
    """Return pairs of limits: the lower holds 0.1 to 0.4 s of its rate; the upper has 2 to 5 times the rate."""
    return st.tuples(st.floats(5e5, 1e7), st.floats(0.1, 0.4), st.floats(2, 5), st.floats(0.08, 0.4)).map(
        lambda drawn: (
            Limit(drawn[2] * drawn[0], max(drawn[3] * drawn[0] * drawn[1], 10 * PACKET)),
            Limit(drawn[0], max(drawn[0] * drawn[1], 60 * PACKET)),
        )
    )


@settings(max_examples=examples(60), deadline=None)
@given(duals(), st.booleans())
def test_both_rates_and_depths_are_recovered(limits: tuple[Limit, Limit], drops: bool):
    upper, lower = limits
    crossing = (lower.burst - upper.burst) / (upper.rate - lower.rate)
    train = through_both(upper, lower, 2.5 * upper.rate, 6 * crossing, PACKET if drops else 1e12)
    found = detect(train).bucket
    if upper.rate * crossing < 60 * PACKET:
        return  # too few packets between the two knees
    assert found.rate == pytest.approx(lower.rate, rel=0.03)
    assert found.burst == pytest.approx(lower.burst, rel=0.06, abs=3 * PACKET)
    assert found.upper.rate == pytest.approx(upper.rate, rel=0.06)
    assert found.upper.burst == pytest.approx(upper.burst, rel=0.15, abs=4 * PACKET)


def test_a_sender_that_slows_down_is_no_second_bucket():
    """A train at 10 and then 4 MB/s through one bucket of 1 MB/s has two knees, of which the sender makes one."""
    fast, slow = np.arange(150) * PACKET / 1e7, np.arange(800) * PACKET / 4e6
    sent = np.concatenate([fast, fast[-1] + PACKET / 4e6 + slow])
    found = detect(through_bucket(1e6, 4e5, 0, 0, PACKET, sent=sent)).bucket
    assert found.upper is None
    assert found.rate == pytest.approx(1e6, rel=0.03)


def test_a_peak_rate_without_a_depth_is_an_upper_limit():
    """The peak rate of `tc tbf` has the depth of one packet."""
    found = detect(through_both(Limit(4e6, PACKET), Limit(1e6, 3e5), 1.2e7, 0.5, 1e12)).bucket
    assert found.upper.rate == pytest.approx(4e6, rel=0.03)
    assert found.upper.burst < 4 * PACKET


def test_most_trains_decide_about_the_second_bucket():
    dual = detect(through_both(Limit(4e6, 6e4), Limit(1e6, 3e5), 1.2e7, 0.5, PACKET))
    single = detect(through_bucket(1e6, 3e5, 6e6, 0.5, PACKET))
    found = combined([dual, dual, single]).bucket
    assert found.upper is not None
    other = combined([dual, single, single]).bucket
    assert other.upper is None


@given(duals(), st.floats(1.1, 8))
def test_the_forecast_is_when_the_lower_bucket_lacks_tokens(limits: tuple[Limit, Limit], ratio: float):
    """At 0.1 ms steps of a fluid, with both buckets full at first."""
    upper, lower = limits
    use = ratio * lower.rate
    predicted = forecast(lower.rate, lower.burst, use, upper=upper).empty_in_s
    assert predicted is not None
    step = 1e-4
    first, second, at = upper.burst, lower.burst, 0.0
    while second > 0:
        first = min(upper.burst, first + upper.rate * step)
        passed = min(first, use * step)
        first -= passed
        second = min(lower.burst, second + lower.rate * step) - passed
        at += step
    assert at == pytest.approx(predicted, rel=0.02, abs=3 * step)


def test_a_transfer_ends_when_the_slowest_limit_has_let_it_pass():
    upper = Limit(4e6, 1e5)
    assert transfer_s(1e6, 1e6, 1e7, 1e5, upper) == pytest.approx(0.01)
    assert transfer_s(1e6, 1e6, 1e7, 5e5, upper) == pytest.approx(0.1)
    assert transfer_s(1e6, 1e6, 1e7, 5e6, upper) == pytest.approx(4)
    assert transfer_s(1e6, 1e6, 5e5, 5e6, upper) == pytest.approx(10)


def train_json(train: Train, packet: int = 1442) -> dict[str, Any]:
    received = [None if not np.isfinite(at) else round(1e9 * at) for at in train.received_s]
    return {"packet_bytes": packet, "sent_ns": [round(1e9 * at) for at in train.sent_s], "received_ns": received}


def test_a_dual_bucket_and_its_unit_over_http(owner: Member):
    large = train_json(through_both(Limit(4e6, 6e4), Limit(1e6, 3e5), 1.2e7, 0.5, PACKET))
    # The same times with packets of a tenth: a bucket that counts packets.
    read = owner.post(BUCKETS, json={"trains": [large, large | {"packet_bytes": 144}], "use_mbit": 16}).json()
    assert read["bucket"]["upper"]["rate_mbit"] == pytest.approx(32, rel=0.05)
    assert (read["bucket"]["metered"], read["trains_with_bucket"]) == ("packets", 1)
    assert read["forecast"]["empty_in_s"] == pytest.approx(0.3, rel=0.05)
    small = train_json(through_bucket(1e6, 3e5, 4e6, 0.5, PACKET, packet=242), 242)
    assert owner.post(BUCKETS, json={"trains": [large, small]}).json()["bucket"]["metered"] == "bytes"
    assert owner.post(BUCKETS, json={"trains": [large]}).json()["bucket"]["metered"] is None


def test_a_known_dual_bucket_over_http(owner: Member):
    body = {"rate_mbit": 8, "burst_kb": 300, "upper_rate_mbit": 32, "upper_burst_kb": 60, "use_mbit": 80}
    read = owner.post(BUCKETS, json=body).json()
    assert read["bucket"]["upper"] == {"rate_mbit": 32, "burst_kb": 60}
    assert read["forecast"]["empty_in_s"] == pytest.approx((3e5 - 6e4) / 3e6)
    for change in ({"upper_burst_kb": None}, {"upper_rate_mbit": 4}):
        answer = owner.post(BUCKETS, json=body | change)
        assert (answer.status_code, "upper_rate_mbit" in answer.text) == (422, True)
