"""Figures behind an incident as sentences, for notifications and the command line."""

from collections.abc import Mapping
from typing import Any

from sinemora.kit.percent import percent


def evidence_lines(evidence: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what an incident is about besides paths, a sentence each: token bucket, uneven shares, waiting hosts."""
    hosts = (line for host in evidence.get("hosts") or () for line in _of_host(host))
    return (*hosts, *_of_bucket(evidence.get("token_bucket")), *_of_shares(evidence.get("fairness")))


def _of_host(host: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what shows that a VM waited on its own machine."""
    name, lines = host["name"], []
    if host["spikes_waiting"]:
        lines.append(
            f"{host['spikes_waiting']} of {host['spikes']} spikes fall into moments in which {name} waited for a"
            " processor."
        )
    parts = [
        f"{word} {percent(host[key], 1)}"
        for key, word in (("stolen", "stolen by the hypervisor"), ("throttled", "held back by a quota"))
        if host[key]
    ]
    more = f" ({', '.join(parts)})" if parts else ""
    lines.append(
        f"In a minute {name} waited for a processor {percent(host['stalled'], 1)} of the time{more}, and once"
        f" {host['longest_ns'] / 1e6:.3g} ms."
    )
    return tuple(lines)


def _of_bucket(bucket: Mapping[str, Any] | None) -> tuple[str, ...]:
    if bucket is None:
        return ()
    when = f"empty in {bucket['empty_in_s']:.0f} s" if bucket["empty_in_s"] else "empty"
    return (f"Token bucket: {bucket['use_mbit']:.3g} Mbit/s against a rate of {bucket['rate_mbit']:.3g}, {when}.",)


def _of_shares(shares: Mapping[str, Any] | None) -> tuple[str, ...]:
    if shares is None:
        return ()
    members = "VMs" if shares["among"] == "vms" else shares["among"]
    path = "" if shares["path"] is None else f" between {shares['path'][0]} and {shares['path'][1]}"
    least = shares["members"][0]
    return (
        f"Jain's index {shares['index']:.3f} among {shares['count']} {members}{path}, limit {shares['below']:.3g}: "
        f"{least['name']} has {percent(least['relative'], 0)} of the mean share.",
    )
