"""A host that waits as the suspect of an incident: from reported waits and spikes to its sentence."""

from typing import Any

import pytest

from sinemora.alerts.detection import host_evidence
from sinemora.alerts.figures import host_sentences
from sinemora.fleet.meshes.plan import is_client
from sinemora.fleet.meshes.service import mesh_state
from tests.alerts.conftest import Watched, egress
from tests.measurements.reports import host_of, report_of, sent
from tests.measurements.worlds import simple
from tests.statements import call

MS = 1_000_000


def waiting(watched: Watched, vm: int, started_at_s: int, **counts: int) -> None:
    """Report that a VM waited half a second of a window, twice; `counts` of the kernel."""
    report = host_of({started_at_s: 400_000})
    window = report.host[0]
    window.stalled_us, window.processors = 500_000, 2
    window.stall_at_us.extend([1_000_000, 7_000_000])
    window.stall_us.extend([400_000, 100_000])
    for name, value in counts.items():
        setattr(window, name, value)
    sent(watched.world.agents[vm], report)


def incident_of(watched: Watched, **counts: int) -> dict[str, Any]:
    """Evaluate three windows in which the third VM waited; return the incident."""
    for _ in range(3):
        ended_s = watched.report()
        waiting(watched, 2, ended_s - 10, **counts)
        watched.evaluate(ended_s)
    return watched.incident()


@pytest.mark.parametrize(("steal_ms", "suspect", "verdict"), [(6_000, "host", "host"), (0, "egress", "undecided")])
def test_slow_paths_are_the_hosts_if_its_processors_were_stolen(
    watched: Watched, steal_ms: int, suspect: str, verdict: str
):
    watched.slow = egress(watched, 2)
    incident = incident_of(watched, steal_ms=steal_ms)
    assert (incident["culprit"]["suspect"], incident["culprit"]["at"]["name"]) == (suspect, "c-1")
    assert incident["verdict"]["kind"] == verdict
    (host,) = incident["evidence"]["hosts"]
    assert (host["name"], host["stalled"], host["longest_ns"]) == ("c-1", 0.05, 400 * MS)
    assert host["throttled"] is None
    stolen = " (stolen by the hypervisor 30.0 %)" if steal_ms else ""
    said = f"In a minute c-1 waited for a processor 5.0 % of the time{stolen}, and once 400 ms."
    assert said in incident["figures"]["sentences"]


def test_a_host_that_always_waits_is_not_the_cause(watched: Watched):
    """Stolen time of a third is this host's usual: what its paths show now is the network's."""
    for minutes in range(3, 60, 3):
        waiting(watched, 2, watched.started_at_s - 60 * minutes, steal_ms=6_000)
    watched.slow = egress(watched, 2)
    incident = incident_of(watched, steal_ms=6_000)
    assert (incident["culprit"]["suspect"], incident["culprit"]["at"]["name"]) == ("egress", "c-1")


def test_spikes_are_matched_with_the_moments_in_which_either_end_waited(watched: Watched):
    client, peer = next(
        (a, b) for a in range(6) for b in range(6)
        if a != b and is_client(*(watched.world.agents[one].vm_key for one in (a, b)))
    )  # fmt: skip
    agents, at_s = watched.world.agents, watched.started_at_s
    waiting(watched, peer, at_s)
    for after_s, spike_ms in ((0, 1_100), (10, 3_000)):
        report = report_of(watched.world.key, {agents[peer].vm_key: simple(200_000)}, at_s + after_s)
        at_ns = [spike_ms * MS, spike_ms * MS + MS]
        spike = {"at_ns": at_ns, "outbound_ns": [9 * MS, 1], "inbound_ns": [1, 1]}
        report.windows[0].evidence.add(peer_key=agents[peer].vm_key, **spike)
        sent(agents[client], report)
    tenant = watched.owner.tenant_id
    mesh = call(mesh_state, watched.world.id, tenant=tenant)
    hosts = zip(mesh.members, call(host_evidence.hosts, mesh, at_s + 20, tenant=tenant), strict=True)
    found: dict[int, Any] = {member.key: host for member, host in hosts}
    assert found[agents[client].vm_key] is None
    host = found[agents[peer].vm_key]
    assert (host.spikes, host.spikes_waiting) == (2, 1)
    told = {"name": "a-2", "stolen": None, "throttled": 0.5, "stalled": 0.1, "longest_ns": 4e7}
    assert host_sentences({**told, "spikes": 5, "spikes_waiting": 4}) == [
        "4 of 5 spikes fall into moments in which a-2 waited for a processor.",
        "In a minute a-2 waited for a processor 10.0 % of the time (held back by a quota 50.0 %), and once 40 ms.",
    ]


def test_a_rule_about_hosts_needs_no_slow_path(watched: Watched):
    watched.add_rule("Busy", {"kind": "host", "above": 0.04})
    incident = incident_of(watched)
    assert (incident["title"], incident["culprit"]["suspect"]) == ("host of VM c-1: waits for a processor", "host")
    assert (incident["verdict"]["kind"], incident["evidence"]["hosts"][0]["stalled"]) == ("host", 0.05)
