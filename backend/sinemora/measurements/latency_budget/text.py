"""Latency budgets as text for a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

_CAUSES = {
    "propagation": "propagation in fibre",
    "processing": "hosts, hypervisors and switches",
    "base": "propagation, hosts, hypervisors and switches together",
    "queueing": "queueing and scheduling",
}
_SEPARATION = {
    "distance_not_resolved": "The distance is not separated: the clock error is too large.",
    "distance_too_long": "The distance is too long: light needs longer than the smallest delay.",
}
_COMPONENTS = {"nic": "NIC", "kernel": "kernel", "hypervisor": "hypervisor", "switches": "switches"}


def lines_of(item: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of an item of a response, delays in µs."""
    if item["p50"] is None:
        yield f"{item['title']}: no delays in this range"
        return
    paths = f", median of {item['paths']} paths" if item["paths"] > 1 else ""
    yield f"{item['title']}{paths}, {item['count']} delays"
    for name in ("p50", "p99"):
        parts = item[name]
        yield f"  {name}  {_us(parts['delay_ns'])} µs"
        for share in parts["shares"]:
            bounds = f"{_us(share['low_ns'])} to {_us(share['high_ns'])}"
            yield f"    {_us(share['delay_ns']):>10} µs  ({bounds})  {_CAUSES[share['cause']]}"
    if (waits := item["vm_waits"]) and None not in waits.values():
        for kind, words in (("sending", "program to driver"), ("receiving", "kernel to program")):
            p50, p99 = (_us(waits[f"{kind}_{name}_ns"]) for name in ("p50", "p99"))
            yield f"  on top, in the VMs: {p50} µs, p99 {p99} µs  {words}"
    if separation := _SEPARATION.get(item["separation"]):
        yield f"  {separation}"
    if traces := item["published"]:
        low, high = (pick(trace["p50_ns"] for trace in traces) for pick in (min, max))
        yield f"  published p50 of {len(traces)} traces of {item['provider']}: {_us(low)} to {_us(high)} µs"


def reference_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of the reference of a response."""
    yield f"Reference, not measured here ({found['reference_source']}):"
    for part in found["reference"]:
        bounds = f"{_us(part['low_ns'])} to {_us(part['high_ns'])} µs"
        yield f"  {_COMPONENTS[part['component']]:10}  {bounds}  ({part['source']})"


def _us(delay_ns: int) -> str:
    return f"{delay_ns / 1e3:.1f}"
