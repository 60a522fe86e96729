"""Moves and measured delays as objects of Kubernetes: patches of workloads, and weights of a NetworkTopology.

A task has the name of its pod: `cache-0` is of the StatefulSet `cache`, `web` and `web-7d9c5b8f6d-x2x4z` are of the
Deployment `web`. A VM has the name of its node, as the agents of the chart report it. Pods of a workload have its name
as their label `app.kubernetes.io/name`.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from sinemora.recommendations.core.plan import PlacedTask, Plan, head, quoted, require

NAME_LABEL = "app.kubernetes.io/name"
_HOST, _ZONE, _REGION = "kubernetes.io/hostname", "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
# RFC 1123: a name of an object is a subdomain. One that is also the value of a label has at most 63 characters.
_PART = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_NODE = re.compile(rf"(?=.{{1,253}}$){_PART}(?:\.{_PART})*")
_WORKLOAD = re.compile(rf"(?=.{{1,63}}$){_PART}(?:\.{_PART})*")
_LABEL = re.compile(r"(?=.{1,63}$)[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_OF_DEPLOYMENT = re.compile(r"(.+)-[bcdf-hj-np-tv-z2456789]{6,10}-[bcdf-hj-np-tv-z2456789]{5}")
_OF_STATEFUL_SET = re.compile(r"(.+)-(?:0|[1-9][0-9]*)")


@dataclass(slots=True)
class _Workload:
    """Tasks of an application that are pods of one object."""

    kind: str
    name: str
    application: str
    tasks: list[PlacedTask] = field(default_factory=list)

    @property
    def nodes(self) -> Counter[str]:
        """Number of its pods on each node after the moves."""
        return Counter(task.after.vm for task in self.tasks if task.after is not None)


def workload_of(task: str) -> tuple[str, str] | None:
    """Return kind and name of the workload whose pod has the name of a task; None if no pod can."""
    for kind, pattern in (("Deployment", _OF_DEPLOYMENT), ("StatefulSet", _OF_STATEFUL_SET)):
        if found := pattern.fullmatch(task):
            return (kind, found[1]) if _WORKLOAD.fullmatch(found[1]) else None
    return ("Deployment", task) if _WORKLOAD.fullmatch(task) else None


def patches(plan: Plan) -> str:
    """Return the affinity of each workload with a task that moves, as YAML. Raises `NothingToWrite`."""
    left_out: list[str] = []
    found = _workloads(plan, left_out)
    documents = []
    for workload in found.values():
        if any(task.moves is not None for task in workload.tasks):
            wrong = sorted(node for node in workload.nodes if not _NODE.fullmatch(node))
            if wrong or not workload.nodes:
                reason = f"{quoted(wrong[0])} is no name of a node" if wrong else "all of its tasks are stopped"
                left_out.append(f"{workload.kind} {workload.name}: {reason}")
                continue
            documents.append(
                f"---\n# Application {quoted(workload.application)}\n{_yaml(_patch(workload, plan, found))}"
            )
    require(documents, left_out)
    uneven = sorted(one.name for one in found.values() if len(set(one.nodes.values())) > 1)
    does = (
        "Apply with: kubectl --namespace NAMESPACE apply --server-side --field-manager=sinemora -f FILE\n"
        "# Pods of each workload run on these nodes alone, and wait when one of them is full or gone."
    )
    does_not = [
        "create a workload: the API server refuses one that no longer exists",
        "replace affinity that another manager owns: kubectl names the conflict",
        "choose which pod of a workload runs on which of its nodes, nor change the number of pods",
        "change a DaemonSet, a Job or a pod without a workload",
        *(f"divide the pods of {name} as recommended: its nodes are to have unequal numbers" for name in uneven),
    ]
    return head(plan, does, does_not, left_out) + "".join(documents)


def _workloads(plan: Plan, left_out: list[str]) -> dict[tuple[str, str], _Workload]:
    """Return the workloads of the tasks by kind and name. A name in two applications may be of two namespaces."""
    found: dict[tuple[str, str], _Workload] = {}
    twice = set()
    for task in plan.tasks:
        key = workload_of(task.task)
        if key is None:
            if task.moves is not None:
                left_out.append(f"{quoted(task.name)}: {quoted(task.task)} is no name of a pod")
            continue
        workload = found.setdefault(key, _Workload(*key, task.application))
        if workload.application != task.application:
            twice.add(key)
        workload.tasks.append(task)
    for key in sorted(twice):
        if any(task.moves is not None for task in found.pop(key).tasks):
            left_out.append(f"{key[0]} {key[1]}: two applications have tasks of this name")
    return found


def _patch(workload: _Workload, plan: Plan, found: dict[tuple[str, str], _Workload]) -> dict[str, Any]:
    limits = plan.limits.get(workload.application)
    terms = [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
        for node in sorted(workload.nodes)
    ]
    affinity: dict[str, Any] = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    }
    others = [one for one in found.values() if one is not workload and one.nodes]
    if near := [
        one.name
        for one in others
        if one.application == workload.application and workload.nodes.keys() <= one.nodes.keys()
    ]:
        affinity["podAffinity"] = {
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": _on_host(near)}]
        }
    if limits and (apart := [one.name for one in others if one.application in limits.apart_from]):
        affinity["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [_on_host(apart)]}
    spec: dict[str, Any] = {"affinity": affinity}
    if spread := list(_spread(workload, None if limits is None else limits.per_zone_max)):
        spec["topologySpreadConstraints"] = spread
    return {
        "apiVersion": "apps/v1",
        "kind": workload.kind,
        "metadata": {"name": workload.name},
        "spec": {"template": {"spec": spec}},
    }


def _on_host(names: Sequence[str]) -> dict[str, Any]:
    expression = {"key": NAME_LABEL, "operator": "In", "values": sorted(set(names))}
    return {"topologyKey": _HOST, "labelSelector": {"matchExpressions": [expression]}}


def _spread(workload: _Workload, per_zone_max: int | None) -> Iterable[dict[str, Any]]:
    """Yield how pods spread: as many on each node where that is the recommendation, else as near as it can be said."""
    counts = workload.nodes
    # Pods of the revision that a rollout replaces do not count: they hold the nodes until the new ones run.
    revision = "pod-template-hash" if workload.kind == "Deployment" else "controller-revision-hash"
    same = {"labelSelector": {"matchLabels": {NAME_LABEL: workload.name}}, "matchLabelKeys": [revision]}
    if len(counts) > 1:
        uneven = max(counts.values()) - min(counts.values())
        exact = {"whenUnsatisfiable": "DoNotSchedule", "minDomains": len(counts)}
        yield {"maxSkew": max(uneven, 1), "topologyKey": _HOST, **same} | (
            {"whenUnsatisfiable": "ScheduleAnyway"} if uneven else exact
        )
    if per_zone_max is not None:
        yield {"maxSkew": per_zone_max, "topologyKey": _ZONE, "whenUnsatisfiable": "ScheduleAnyway", **same}


def cost(delay_ns: float) -> int:
    """Return the network cost of a one-way delay: 2 at 1 µs, 100 at 1 s, one more for each 15 %.

    The plugin counts 0 on one host, 1 in one zone, and 100 where nothing is known: measured costs lie between.
    """
    return min(max(round(2 + 98 * math.log10(max(delay_ns, 1.0) / 1e3) / 6), 2), 100)


def network_topology(
    zones: Sequence[tuple[str, str]], delays_ns: Sequence[Sequence[float | None]], name: str = "sinemora"
) -> tuple[dict[str, Any], list[str]]:
    """Return a NetworkTopology of scheduler-plugins with the cost of each measured pair, and what was left out.

    `zones`: region and name of each; `delays_ns`: one-way delay from row to column, None if it is not measured. The
    cost between regions is that of the mean over their zones. Raises `NothingToWrite`.
    """
    count = Counter(zone for _, zone in zones)
    wrong = {zone: "another zone has its name" for zone in count if count[zone] > 1}
    wrong |= {zone: "no value of a label of nodes" for zone in count if not _LABEL.fullmatch(zone)}
    measured: dict[str, dict[tuple[str, str], list[float]]] = {_REGION: defaultdict(list), _ZONE: defaultdict(list)}
    for (region, zone), row in zip(zones, delays_ns, strict=True):
        for (other_region, other), delay_ns in zip(zones, row, strict=True):
            if delay_ns is None:
                continue
            if zone != other and zone not in wrong and other not in wrong:
                measured[_ZONE][zone, other].append(delay_ns)
            if region != other_region and _LABEL.fullmatch(region) and _LABEL.fullmatch(other_region):
                measured[_REGION][region, other_region].append(delay_ns)
    weights = []
    for key, pairs in measured.items():
        costs: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for (origin, other), delays in sorted(pairs.items()):
            costs[origin].append({"destination": other, "networkCost": cost(sum(delays) / len(delays))})
        if costs:
            origins = [{"origin": origin, "costList": listed} for origin, listed in costs.items()]
            weights.append({"topologyKey": key, "originList": origins})
    left_out = [f"zone {quoted(zone)}: {reason}" for zone, reason in wrong.items()]
    require(weights, left_out)
    return {
        "apiVersion": "networktopology.diktyo.x-k8s.io/v1alpha1",
        "kind": "NetworkTopology",
        "metadata": {"name": name},
        # No ConfigMap of measurements by netperf is read for weights that are given.
        "spec": {"configmapName": "none", "weights": [{"name": "UserDefined", "topologyList": weights}]},
    }, left_out


def network_topology_text(
    plan: Plan, zones: Sequence[tuple[str, str]], delays_ns: Sequence[Sequence[float | None]]
) -> str:
    """Return the measured delays between zones and regions as YAML. Raises `NothingToWrite`."""
    found, left_out = network_topology(zones, delays_ns)
    does = (
        "Weights for the plugin NetworkOverhead of scheduler-plugins (weightsName: UserDefined): the median one-way\n"
        "# delay, 2 at 1 µs and 100 at 1 s, one more for each 15 %. Zones and regions are named as labels of nodes are."
    )
    does_not = (
        "move a pod: the scheduler reads it when it places the next one of an AppGroup",
        "name bandwidths, nor pairs that are not measured, which the plugin counts as 100",
    )
    return f"{head(plan, does, does_not, left_out)}{_yaml(found)}"


def _yaml(document: dict[str, Any]) -> str:
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True)
    return text
