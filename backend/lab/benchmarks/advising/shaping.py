"""Figures of shaping: real token buckets of Linux (`tc tbf`) in network namespaces, and the retransmission tail.

Each bucket has a rate and depth that the detector does not know, and is measured by three bursts, as users send them. A
further run sends above the bucket's rate; the forecast is made from the finding, and the truth is the first packet that
waits or is lost. Paths without a bucket are bare links and slow links with a queue, with and without bursts of other
traffic. Dual buckets are two in a row.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from lab.benchmarks.advising.row import from_sender, receiving
from lab.benchmarks.figures import comment, report
from sinemora.advisors.shaping import burst
from sinemora.advisors.shaping.core.bucket import Bucket, Mechanism, Train, combined, detect, first_late
from sinemora.advisors.shaping.core.envelope import Floats, Limit
from sinemora.advisors.shaping.core.forecast import empty_at, forecast
from sinemora.advisors.shaping.core.tail import by_percentiles, by_samples
from sinemora.labs.shaping_lab.core.source import source_rows
from sinemora.labs.shaping_lab.namespaces import RECEIVER, Row, row

BUCKETS = 100
UNSHAPED = 100
DUALS = 40
REPEATS = 3
"""Bursts to a path, as the command sends them."""
_REST_S = 0.25
"""Rest between bursts, in which every bucket here fills."""
_PAYLOAD = 1400
_PACKET = _PAYLOAD + burst.OVERHEAD
_SAMPLED = 400


def main(seed: int) -> None:
    """Print the figures. Without root, those of real buckets are left out."""
    _tails(seed)
    if os.geteuid() != 0:
        comment("Token buckets need root for network namespaces: not measured.")
        return
    rng = np.random.default_rng(seed)
    with row() as path, receiving(path):
        _buckets(path, rng)
        _false_alarms(path, rng)
        _duals(path, np.random.default_rng(seed + 1))


def _buckets(path: Row, rng: np.random.Generator) -> None:
    rates, depths, forecasts, wrong, missed, seconds = [], [], [], 0, [], 0
    for _ in range(BUCKETS):
        rate = float(np.exp(rng.uniform(np.log(0.5e6), np.log(4e6))))
        depth = max(rate * float(np.exp(rng.uniform(np.log(0.02), np.log(0.2)))), 20 * _PACKET)
        policer = bool(rng.random() < 0.5)
        limit = 2 * _PACKET if policer else 400 * _PACKET
        path.shape("tbf", "rate", f"{round(8 * rate)}bit", "burst", str(round(depth)), "limit", str(limit))
        peak = 6 * rate
        found = _found(path, max(0.15, depth / rate), peak)
        if found is None:
            missed.append({"rate": round(rate), "depth": round(depth), "policer": policer})
            continue
        rates.append(100 * abs(found.rate / rate - 1))
        depths.append(100 * abs(found.burst / depth - 1))
        wrong += (found.mechanism is Mechanism.POLICER) is not policer
        seconds += found.upper is not None
        error = _forecast_error(path, found, rate, depth, policer)
        if error is not None:
            forecasts.append(error)
    detail = {"buckets": BUCKETS, "missed": len(missed), "wrong_mechanism": wrong}
    for figure, errors in (
        ("shaping_rate_error_percent", rates),
        ("shaping_burst_error_percent", depths),
        ("shaping_forecast_error_percent", forecasts),
    ):
        report(figure, float(np.percentile(errors, 95)), median=float(np.median(errors)), runs=len(errors), **detail)
    report("shaping_missed_percent", 100 * len(missed) / BUCKETS, missed=missed[:10])
    report("shaping_false_second_percent", 100 * seconds / BUCKETS, buckets=BUCKETS)


def _duals(path: Row, rng: np.random.Generator) -> None:
    """Print the errors of dual buckets, half of which drop: an upper one at the sender, a lower one at the router."""
    rates, depths, forecasts, missed = [], [], [], []
    for _ in range(DUALS):
        rate = float(np.exp(rng.uniform(np.log(0.5e6), np.log(1.5e6))))
        upper_rate = rate * float(rng.uniform(2, 4))
        depth = max(rate * float(rng.uniform(0.1, 0.25)), 80 * _PACKET)
        upper_depth = max(depth * float(rng.uniform(0.08, 0.35)), 10 * _PACKET)
        limit = str((2 if rng.random() < 0.5 else 600) * _PACKET)

        for shape, bytes_per_s, size in ((path.shape_entry, upper_rate, upper_depth), (path.shape, rate, depth)):
            shape("tbf", "rate", f"{round(8 * bytes_per_s)}bit", "burst", str(round(size)), "limit", limit)
        peak = 2.5 * upper_rate
        found = _found(path, 2.5 * (depth - upper_depth) / (upper_rate - rate), peak, rest_s=2 * depth / rate)
        if found is None or found.upper is None:
            seen = None if found is None else [round(found.rate), round(found.burst)]
            missed.append({"rate": round(rate), "upper": round(upper_rate), "limit": limit, "found": seen})
            continue
        rates += [100 * abs(found.rate / rate - 1), 100 * abs(found.upper.rate / upper_rate - 1)]
        depths += [100 * abs(found.burst / depth - 1), 100 * abs(found.upper.burst / upper_depth - 1)]
        truth = forecast(rate, depth, peak, upper=Limit(upper_rate, upper_depth)).empty_in_s
        ahead = forecast(found.rate, found.burst, peak, upper=found.upper).empty_in_s
        if truth is not None and ahead is not None:
            forecasts.append(100 * abs(ahead / truth - 1))
    path.shape_entry()
    for figure, errors in (
        ("shaping_dual_rate_error_percent", rates),
        ("shaping_dual_burst_error_percent", depths),
        ("shaping_dual_forecast_error_percent", forecasts),
    ):
        report(figure, float(np.percentile(errors, 95)), median=float(np.median(errors)), runs=len(errors))
    report("shaping_dual_missed_percent", 100 * len(missed) / DUALS, buckets=DUALS, missed=missed[:10])


def _forecast_error(path: Row, found: Bucket, rate: float, depth: float, policer: bool) -> float | None:
    """Return the error of the time to empty at twice to four times the rate, percent."""
    # A new bucket is full.
    limit = 2 * _PACKET if policer else 400 * _PACKET
    path.shape("tbf", "rate", f"{round(8 * rate)}bit", "burst", str(round(depth)), "limit", str(limit))
    use = 3 * rate
    train = _sent(path, 2.5 * depth / (use - rate), use)
    elapsed = train.sent_s - train.sent_s[0]
    # Truth: the first packet that is lost or waits, by the true rate.
    at = first_late(train, rate)
    if at is None or at < 5:
        return None
    # The use is what was sent, packet by packet: the host may be too busy to send evenly.
    uses = [(float(gap), float(_PACKET)) for gap in np.diff(elapsed, prepend=elapsed[0])]
    predicted = empty_at(found.rate, found.burst, uses)
    return 100.0 if predicted is None else 100 * abs(float(elapsed[predicted] / elapsed[at]) - 1)


def _found(path: Row, seconds: float, rate: float, rest_s: float = _REST_S) -> Bucket | None:
    """Return the finding of several bursts."""
    detections = []
    for _ in range(REPEATS):
        detections.append(detect(_sent(path, seconds, rate)))
        time.sleep(rest_s)
    return combined(detections).bucket


def _false_alarms(path: Row, rng: np.random.Generator) -> None:
    alarms = []
    for at in range(UNSHAPED):
        rate = float(np.exp(rng.uniform(np.log(0.5e6), np.log(6e6))))
        kind = ("bare", "link", "bursts", "link with bursts")[at % 4]
        # A bucket of one packet is a link of this rate with a queue: it has no burst to find.
        queue = str(int(rng.integers(4, 300)) * _PACKET)
        link = ("tbf", "rate", f"{round(8 * rate)}bit", "burst", str(_PACKET + 60), "limit", queue)
        path.shape(*(link if "link" in kind else ()))
        with _bursts(path) if "bursts" in kind else _nothing():
            found = _found(path, 0.25, 3 * rate)
        if found is not None:
            alarms.append({"kind": kind, "rate": round(rate), "found": [round(found.rate), round(found.burst)]})
    report("shaping_false_alarm_percent", 100 * len(alarms) / UNSHAPED, paths=UNSHAPED, alarms=alarms[:10])


def _tails(seed: int) -> None:
    """Print precision and recall over the rows of the source and simulated requests."""
    verdicts: list[tuple[bool, bool]] = []
    for listed in source_rows():
        # Reads, scans and read-modify-writes wait for the network; behind the dropping bucket all have the tail.
        waits = listed.operation in ("read", "scan", "read-mod-write")
        truth = waits and _place_of_bucket(listed.profile).endswith("switch")
        verdicts.append((truth, by_percentiles(listed.p95_us / 1e3, listed.p99_us / 1e3, listed.p999_us / 1e3).found))
    rng = np.random.default_rng(seed)
    for at in range(_SAMPLED):
        truth = at % 2 == 0
        verdicts.append((truth, by_samples(_requests(rng, truth).tolist()).found))
    true = sum(truth and found for truth, found in verdicts)
    detail = {"cases": len(verdicts), "with_tail": sum(truth for truth, _ in verdicts)}
    report("tail_signature_precision", true / max(sum(found for _, found in verdicts), 1), **detail)
    report("tail_signature_recall", true / max(sum(truth for truth, _ in verdicts), 1), **detail)


def _place_of_bucket(profile: str) -> str:
    """Return where a profile of the source has its token bucket: "tb+pq switch", "pq host + tb switch" …"""
    return next((part for part in profile.split(" + ") if part.startswith("tb")), "")


def _requests(rng: np.random.Generator, with_tail: bool) -> Floats:
    """Return latencies of requests, ms: log-normal or Pareto, some with pauses elsewhere, some with the tail."""
    count = int(rng.integers(2_000, 20_000))
    median = float(np.exp(rng.uniform(np.log(0.2), np.log(30))))
    if rng.random() < 0.5:
        values = median * np.exp(rng.uniform(0.2, 0.9) * rng.standard_normal(count))
    else:
        values = median * (1 + rng.pareto(rng.uniform(2, 4), count))
    if rng.random() < 0.5:  # pauses of a garbage collector, of another fixed length
        paused = rng.random(count) < rng.uniform(0.001, 0.02)
        values = values + paused * float(rng.choice([20, 60, 100, 400, 1000])) * rng.uniform(0.8, 1.2, count)
    if with_tail:
        lost = rng.random(count) < rng.uniform(0.004, 0.05)
        values = np.where(lost, rng.uniform(200, 212, count) + rng.uniform(0, 0.3) * np.minimum(values, 50), values)
    return np.asarray(values)


def _sent(path: Row, seconds: float, rate: float) -> Train:
    """Send a burst from the sender's namespace and return its train, in seconds and bytes with headers."""
    packets = min(max(int(seconds * rate / _PACKET), 100), burst.PACKETS_MAX)
    return burst.train_of(from_sender(path, lambda: burst.send(RECEIVER, packets, _PAYLOAD, rate)))


@contextmanager
def _bursts(path: Row) -> Iterator[None]:
    """Send other traffic to the receiver in bursts of 5 to 30 ms, with as long pauses."""
    code = (
        "import random, socket, time\n"
        "out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        f"out.connect(('{RECEIVER}', 9))\n"
        "while True:\n"
        "    ends = time.monotonic() + random.uniform(0.005, 0.03)\n"
        "    while time.monotonic() < ends:\n"
        "        try:\n"
        "            out.send(bytes(1400))\n"
        "        except OSError:\n"
        "            pass\n"
        "        time.sleep(0.0005)\n"
        "    time.sleep(random.uniform(0.005, 0.03))\n"
    )
    with subprocess.Popen(["ip", "netns", "exec", path.sender, sys.executable, "-c", code]) as process:
        try:
            yield
        finally:
            process.kill()


@contextmanager
def _nothing() -> Iterator[None]:
    yield
