"""Evidence about the hosts of VMs, from stored waits and spikes."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from sqlalchemy.orm import Session

from sinemora.alerts.evaluation.host import HostEvidence, waiting_moments
from sinemora.fleet.meshes.plan import MeshState
from sinemora.measurements.codec import frame
from sinemora.measurements.query.ranges import utc
from sinemora.measurements.store import host_waits, spikes
from sinemora.measurements.store.host_waits import HostStep, Stall

SPAN_S = 60
"""Time before the end of a window that counts: waits are reported with the window after their own."""
_NS_PER_US, _NS_PER_S = 1_000, 1_000_000_000
_STALLS_MAX, _SPIKES_MAX = 2_000, 500


def hosts(session: Session, mesh: MeshState, ended_at_s: int) -> list[HostEvidence | None]:
    """Return what is known about the host of each member in the minute before a time; None without waits reported."""
    start, end = utc(ended_at_s - SPAN_S), utc(ended_at_s + SPAN_S)
    keys = [member.key for member in mesh.members]
    steps: dict[int, list[HostStep]] = {}
    for step in host_waits.steps(session, keys, start, end, 10):
        steps.setdefault(step.vm_key, []).append(step)
    stalls = host_waits.stalls(session, list(steps), start, end, _STALLS_MAX) if steps else []
    found = _spikes(session, mesh, ended_at_s) if stalls else {}
    evidence = {
        key: _evidence(of_vm, [stall for stall in stalls if stall.vm_key == key], found.get(key, []))
        for key, of_vm in steps.items()
    }
    if waiting := [key for key, one in evidence.items() if one.waits]:
        for key, (share, longest_ns) in host_waits.usual(session, waiting, start).items():
            evidence[key] = replace(evidence[key], usual=share, usual_longest_ns=longest_ns)
    return [evidence.get(key) for key in keys]


def _spikes(session: Session, mesh: MeshState, ended_at_s: int) -> dict[int, list[tuple[int, int]]]:
    """Return start and length (ns) of the largest exchange of each recent spike, by the VM of each end."""
    found: dict[int, list[tuple[int, int]]] = {}
    stored = spikes.with_evidence(session, mesh.key, utc(ended_at_s - SPAN_S), utc(ended_at_s), _SPIKES_MAX)
    for spike in stored:
        at_ns, outbound_ns, inbound_ns = frame.decode_evidence(spike.evidence)
        if not at_ns.size:
            continue
        largest = int(np.argmax(np.maximum(outbound_ns, inbound_ns)))
        length_ns = max(int(outbound_ns[largest]), 0) + max(int(inbound_ns[largest]), 0)
        for key in (spike.source_key, spike.target_key):
            found.setdefault(key, []).append((spike.started_at_s * _NS_PER_S + int(at_ns[largest]), length_ns))
    return found


def _evidence(steps: Sequence[HostStep], stalls: Sequence[Stall], spiked: Sequence[tuple[int, int]]) -> HostEvidence:
    elapsed_us = 1e3 * sum(step.elapsed_ms for step in steps)
    moments = [(stall.at_ns, stall.length_ns) for stall in stalls]
    stolen = [
        1e3 * step.counts["steal_ms"] / step.processors
        for step in steps
        if step.counts["steal_ms"] is not None and step.processors
    ]
    drops = [step.counts["receive_drops"] for step in steps if step.counts["receive_drops"] is not None]
    return HostEvidence(
        stalled=min(sum(step.stalled_us for step in steps) / elapsed_us, 1.0),
        longest_ns=_largest_ns(steps, "wake", 3) or 0,
        wake_p50_ns=_largest_ns(steps, "wake", 1),
        queue_p99_ns=_largest_ns(steps, "queue", 2),
        stolen=sum(stolen) / elapsed_us if stolen else None,
        throttled=_share(steps, "throttled_us", elapsed_us),
        pressure=_share(steps, "pressure_us", elapsed_us),
        receive_drops=sum(drops) if drops else None,
        spikes=len(spiked),
        spikes_waiting=waiting_moments(spiked, moments),
    )


def _largest_ns(steps: Sequence[HostStep], wait: str, at: int) -> int | None:
    known = [us for step in steps if (us := step.waits[wait][at]) is not None]
    return _NS_PER_US * max(known) if known else None


def _share(steps: Sequence[HostStep], count: str, elapsed_us: float) -> float | None:
    known = [us for step in steps if (us := step.counts[count]) is not None]
    return min(sum(known) / elapsed_us, 1.0) if known else None
