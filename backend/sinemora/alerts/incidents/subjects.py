"""Evidence of incidents that is not about delays of paths: the token bucket of a VM, uneven shares, waiting hosts."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from sinemora.alerts.evaluation.baseline import Ints
from sinemora.alerts.evaluation.detections import Detection
from sinemora.alerts.evaluation.fairness import uneven
from sinemora.alerts.evaluation.root_cause import Culprit, Suspect
from sinemora.alerts.evaluation.rule import Among, Kind, Rule
from sinemora.alerts.evaluation.window import EvaluationWindow
from sinemora.fleet.meshes.plan import MeshState

_MEMBERS_SHOWN = 12


def bucket_json(culprit: Culprit, window: EvaluationWindow) -> dict[str, Any] | None:
    """Return the token bucket that an incident is about, in Mbit/s and 1,000 bytes; None of others."""
    if culprit.suspect is not Suspect.BUCKET:
        return None
    bucket, forecast = window.buckets[int(window.keys[culprit.at])]
    return {
        "rate_mbit": bucket.rate * 8e-6,
        "use_mbit": forecast.use * 8e-6,
        "burst_kb": bucket.depth / 1e3,
        "tokens_kb": forecast.tokens.expected / 1e3,
        "empty_in_s": forecast.empty_in_s,
    }


def hosts_json(detection: Detection, mesh: MeshState, window: EvaluationWindow) -> list[dict[str, Any]]:
    """Return the VMs whose hosts are suspects, with what shows that they waited; that of the culprit first."""
    if window.hosts is None:
        return []
    suspects = [one.culprit.at for one in detection.cause.hypotheses if one.culprit.suspect is Suspect.HOST]
    known = ((mesh.members[at], host) for at in suspects if (host := window.hosts()[at]) is not None)
    return [{"id": str(member.id), "name": member.name, **asdict(host)} for member, host in known]


def fairness_json(cells: Ints, rule: Rule | None, mesh: MeshState, window: EvaluationWindow) -> dict[str, Any] | None:
    """Return the members that share the mesh unevenly, the least share first; None of other rules."""
    if rule is None or rule.condition.kind is not Kind.FAIRNESS or (found := uneven(rule, window, cells)) is None:
        return None
    known = sorted((share, member) for member, share in found.shares.items() if np.isfinite(share))
    mean = float(np.mean([share for share, _ in known]))
    names = [member.name for member in mesh.members]
    return {
        "among": found.among.value,
        "index": found.index,
        "below": rule.condition.below,
        "path": None if found.ends is None else [names[end] for end in found.ends],
        "count": len(known),
        "members": [
            {
                "name": _member_name(found.among, member, names),
                "share": share,
                "relative": share / mean if mean else 0.0,
            }
            for share, member in known[:_MEMBERS_SHOWN]
        ],
    }


def _member_name(among: Among, member: int | str, vms: Sequence[str]) -> str:
    if isinstance(member, str):
        return member
    return vms[member] if among is Among.VMS else f"port {member}"
