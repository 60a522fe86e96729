"""Shaping: detector, forecast and tail against simulated buckets, real sockets, the rows of the source, HTTP."""

import csv
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sinemora.advisors.shaping import burst
from sinemora.advisors.shaping.core.bucket import Bucket, Mechanism, Reason, Train, Unit, combined, detect, metered_by
from sinemora.advisors.shaping.core.checks import ApplicationFacts, Communication, checks
from sinemora.advisors.shaping.core.forecast import forecast, transfer_s
from sinemora.advisors.shaping.core.tail import by_percentiles, by_samples
from tests.advisors.shaping.emulator import PACKET, through_bucket
from tests.api_clients import Member, MeshWorld, code_of
from tests.seeds import examples
from tests.waits import WAIT_MOST_S


@settings(max_examples=examples(40))
@given(st.floats(5e5, 5e7), st.floats(0.02, 0.2), st.floats(3, 10), st.booleans())
def test_rate_and_depth_are_recovered(rate: float, seconds: float, ratio: float, drops: bool):
    depth = max(rate * seconds, 12 * PACKET)
    train = through_bucket(rate, depth, ratio * rate, max(0.15, 1.5 * depth / rate), PACKET if drops else 1e12)
    found = detect(train).bucket
    if train.sent_s.size < 100:
        return
    assert found.upper is None
    assert found.rate == pytest.approx(rate, rel=0.02)
    assert found.burst == pytest.approx(depth, rel=0.05, abs=PACKET)
    assert found.mechanism is (Mechanism.POLICER if drops else Mechanism.SHAPER)


@pytest.mark.parametrize("queue", [5 * PACKET, 1e12])
def test_a_slow_link_has_no_bucket(queue: float):
    found = detect(through_bucket(2e6, PACKET, 8e6, 0.3, queue))
    assert (found.bucket, found.reason is not None) == (None, True)


def test_a_fast_link_and_a_short_train_have_none():
    times = np.arange(500) * 1e-4
    sizes = np.full(500, PACKET)
    assert detect(Train(times, times + 1e-3, sizes)).bucket is None
    assert detect(Train(times[:20], times[:20], sizes[:20])).reason is Reason.TOO_FEW
    assert detect(Train(times, np.full(500, np.nan), sizes)).reason is Reason.TOO_FEW
    jumping = times + np.cumsum(np.random.default_rng(1).exponential(2e-4, 500))
    assert detect(Train(times, jumping, sizes)).bucket is None


def test_most_trains_decide_and_the_deepest_counts():
    whole = detect(through_bucket(2e6, 1e5, 1e7, 0.3, PACKET))
    shallower = detect(through_bucket(2e6, 8e4, 1e7, 0.3, PACKET))
    without = detect(through_bucket(2e6, PACKET, 8e6, 0.3, PACKET))
    found = combined([whole, shallower, without]).bucket
    assert (found.burst, found.mechanism) == (whole.bucket.burst, Mechanism.POLICER)
    assert found.rate == pytest.approx(2e6, rel=0.01)
    assert combined([whole, without, without]).bucket is None
    assert combined([]).reason is Reason.TOO_FEW


def test_bytes_and_packets_are_told_apart():
    small, large = (Bucket(rate, 1e5, Mechanism.POLICER, 1e7, 0.5) for rate in (1e5, 1.45e6))
    assert metered_by(small, large, 100, 1450) is Unit.PACKETS
    assert metered_by(large, large, 100, 1450) is Unit.BYTES


def test_forecasts():
    # 100 kB at 1 Gbit/s, used at 10 Gbit/s: 89 µs and 111 kB, full again after 800 µs.
    ahead = forecast(125e6, 1e5, 1.25e9)
    assert ahead.empty_in_s == pytest.approx(88.9e-6, rel=1e-3)
    assert ahead.burst_bytes == pytest.approx(111_111, rel=1e-3)
    assert forecast(125e6, 1e5, 0, tokens=0).full_in_s == pytest.approx(800e-6)
    assert forecast(125e6, 1e5, 125e6).empty_in_s is None
    assert transfer_s(125e6, 1e5, 1.25e9, 1e5) == pytest.approx(80e-6)
    assert transfer_s(125e6, 1e5, 1.25e9, 1e9) == pytest.approx((1e9 - 1e5) / 125e6)


@given(st.floats(1e5, 1e7), st.floats(1e4, 1e6), st.floats(1.2, 5))
def test_the_forecast_is_when_a_packet_finds_no_tokens(rate: float, depth: float, ratio: float):
    gap = PACKET / (ratio * rate)
    predicted = forecast(rate, depth, ratio * rate).empty_in_s
    assert predicted is not None
    tokens, at_s = depth - PACKET, 0.0
    while tokens >= 0:
        at_s += gap
        tokens = min(tokens + rate * gap, depth) - PACKET
    assert at_s == pytest.approx(predicted, abs=gap + PACKET / (rate * (ratio - 1)))


def test_the_rows_of_the_source():
    """Flag the 21 rows of network-bound operations behind the dropping bucket of the switch, and none of the others.

    The file has tables 9 to 20 of J. A. Hasenoot, 2022: percentiles of YCSB operations under each profile, µs.
    """
    with Path(__file__).with_name("reference.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    found = {
        (row["operation"], row["profile"])
        for row in rows
        if by_percentiles(*(float(row[name]) / 1e3 for name in ("p95_us", "p99_us", "p999_us"))).found
    }
    profiles = ("tb switch", "tb+pq switch", "pq host + tb switch")
    reads = ("A read", "B read", "C read", "D read", "E scan", "F read", "F read-mod-write")
    assert len(rows) == 120
    assert found >= {(operation, profile) for operation in reads[:4] for profile in profiles}
    assert found == {(operation, profile) for operation in reads for profile in profiles}


def test_a_cluster_at_the_timeout_is_found_and_a_heavy_tail_is_not():
    rng = np.random.default_rng(5)
    usual = 2 * np.exp(0.6 * rng.standard_normal(10_000))
    lost = np.where(rng.random(10_000) < 0.01, rng.uniform(200, 210, 10_000), usual)
    tail = by_samples(lost.tolist())
    assert tail.found
    assert tail.share == pytest.approx(0.01, rel=0.3)
    assert tail.mean_cost_ms == pytest.approx(2, rel=0.3)
    assert not by_samples(usual.tolist()).found
    assert not by_samples((20 * (1 + rng.pareto(1.5, 10_000))).tolist()).found
    assert not by_samples((usual + 100 * (rng.random(10_000) < 0.01)).tolist()).found
    assert not by_samples([210.0] * 1_000).found  # its usual latency
    assert not by_samples([1.0] * 10).found


def test_checks_name_themselves():
    shallow = Bucket(125e6, 1e5, Mechanism.POLICER, 0, 0)
    deep = Bucket(125e6, 12.5e6, Mechanism.SHAPER, 0, 0)

    def names(bucket: Bucket, **facts: Any) -> list[str]:
        app = ApplicationFacts(**({"communication": Communication.REQUEST_REPLY, "packet_bytes": 1400} | facts))
        return [check.id for check in checks(bucket, app)]

    assert names(shallow) == ["C2"]
    assert names(shallow, mixed_priorities=True) == ["C1", "C2"]
    assert names(deep) == []
    assert names(deep, write_share=0.6) == ["C3"]
    assert names(deep, range_inserts=True) == ["C4"]
    assert names(shallow, write_share=0.6, acknowledged_writes=False) == ["C5"]
    assert names(shallow, communication=Communication.ALL_TO_ALL, mixed_priorities=True) == ["C6"]
    assert names(shallow, communication=Communication.ALL_TO_ALL, shared=True, packet_bytes=100) == ["C7"]
    assert names(shallow, communication=Communication.COLLECTIVES) == ["C8"]
    assert names(deep, strict_network=True) == ["C9"]


@pytest.fixture
def receiver():
    """Yield the port of a receiver of bursts on loopback."""
    ports: list[int] = []
    listening = threading.Event()

    def ready(port: int) -> None:
        ports.append(port)
        listening.set()

    thread = threading.Thread(target=lambda: burst.receive("127.0.0.1", 0, ready=ready), daemon=True)
    thread.start()
    assert listening.wait(WAIT_MOST_S)
    yield ports[0]
    thread.join(WAIT_MOST_S)


def test_a_burst_over_loopback_arrives(receiver: int):
    arrivals = burst.send("127.0.0.1", 200, 1400, 2e6, port=receiver)
    assert len(arrivals.sent_ns) == len(arrivals.received_ns) == 200
    train = burst.train_of(arrivals)
    assert np.isfinite(train.received_s).mean() > 0.9
    assert train.size[0] == 1442
    assert detect(train).bucket is None


def test_a_burst_to_nobody_says_what_to_do():
    with pytest.raises(burst.BurstError, match="Start a receiver there"):
        burst.send("127.0.0.1", 10, 1400, None, port=9)
    with pytest.raises(burst.BurstError, match="1 to 200000 packets"):
        burst.send("127.0.0.1", 0, 1400, None)


BUCKETS = "/v1/advisors/token-buckets"


def test_a_train_over_http(owner: Member):
    train = through_bucket(2e6, 1e5, 1e7, 0.3, PACKET)
    received = [None if not np.isfinite(at) else round(1e9 * at) for at in train.received_s]
    body = {"packet_bytes": 1442, "sent_ns": [round(1e9 * at) for at in train.sent_s], "received_ns": received}
    read = owner.post(BUCKETS, json={"trains": [body], "use_mbit": 32, "transfer_mb": 10, "line_mbit": 80}).json()
    assert read["bucket"]["rate_mbit"] == pytest.approx(16, rel=0.02)
    assert read["bucket"]["burst_kb"] == pytest.approx(100, rel=0.05)
    assert read["bucket"]["mechanism"] == "policer"
    assert read["forecast"]["empty_in_s"] == pytest.approx(0.05, rel=0.06)
    assert read["forecast"]["transfer_s"] == pytest.approx((1e7 - 1e5) / 2e6, rel=0.03)
    assert [check["id"] for check in read["checks"]] == []
    straight = {"packet_bytes": 1442, "sent_ns": body["sent_ns"], "received_ns": body["sent_ns"]}
    none = owner.post(BUCKETS, json={"trains": [straight]}).json()
    assert (none["bucket"], none["forecast"], none["trains_with_bucket"]) == (None, None, 0)
    assert none["capacity_mbit"] == pytest.approx(80, rel=0.02)


def test_a_known_bucket_over_http(owner: Member):
    body = {"rate_mbit": 1000, "burst_kb": 100, "use_mbit": 10_000, "tokens_kb": 50}
    read = owner.post(BUCKETS, json=body).json()
    assert read["forecast"]["empty_in_s"] == pytest.approx(44.4e-6, rel=1e-2)
    assert [check["id"] for check in read["checks"]] == ["C2"]
    assert read["forecast"]["safe_mbit"] == pytest.approx(1000)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"rate_mbit": 10, "burst_kb": 1, "tokens_kb": 2},
        {"rate_mbit": 10, "burst_kb": 1, "trains": [{"packet_bytes": 100, "sent_ns": [1], "received_ns": [1]}]},
        {"trains": [{"packet_bytes": 100, "sent_ns": [1, 2], "received_ns": [1]}]},
    ],
)
def test_bad_trains_are_refused(owner: Member, body: dict[str, Any]):
    assert code_of(owner.post(BUCKETS, json=body)) == (422, "request_invalid")


def test_as_many_packets_as_one_command_sends_are_accepted(owner: Member):
    """`sinemora advise shaping` sends three bursts of 4,000 packets; times are ns since 1970."""
    sent = [1_764_000_000_000_000_000 + 12_000 * at for at in range(4_000)]
    train = {"packet_bytes": 1_442, "sent_ns": sent, "received_ns": [at + 50_000 for at in sent]}
    answer = owner.post(BUCKETS, json={"trains": [train] * 3})
    assert (answer.status_code, answer.json()["reason"]) == (200, "no_burst"), answer.text


def test_tails_over_http(owner: Member, make_mesh):
    tails = "/v1/advisors/retransmission-tails"
    read = owner.post(tails, json={"p95_ms": 1.1, "p99_ms": 205.6, "p999_ms": 210.6}).json()
    assert (read["found"], read["share"]) == (True, 0.01)
    assert owner.post(tails, json={"p95_ms": 1.1}).status_code == 422
    assert owner.post(tails, json={"p95_ms": 500, "p99_ms": 205, "p999_ms": 210}).status_code == 422
    mesh: MeshWorld = make_mesh(owner, 2)
    vm_of = {vm["name"]: vm["id"] for vm in owner.get("/v1/vms").json()["items"]}
    path = {"source_vm_id": vm_of["a-1"], "target_vm_id": vm_of["b-1"]}
    source = {"mesh_id": str(mesh.id), "metric": "duration", "kind": "push", "paths": [path]}
    owner.created("/v1/metric-sources", source | {"name": "p99", "unit": "ms"})
    owner.created("/v1/metric-sources", source | {"name": "jobs", "unit": "hours"})
    (item,) = owner.get(f"/v1/meshes/{mesh.id}/retransmission-tails").json()
    assert (item["name"], item["found"], item["minutes"]) == ("p99", False, 0)
