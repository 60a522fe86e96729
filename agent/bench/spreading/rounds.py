"""Rounds of a shuffle: each VM gets two images of the other region, and keeps what it got.

Source: K. Mahajan, "Next Generation Cloud Computing Architectures: Performance and Pricing", Columbia University, 2021,
section 3.4: eight VMs in two regions, two images of about 200 MB on each. Images here have a twentieth of that size.
"""

import numpy as np
from lab.benchmarks import figures

from spreading.cloud import Cloud, Vm, seconds_of
from spreading.direct import Direct

ROUNDS = 6
IMAGES, PICKS = 2, 2
IMAGE_BYTES = 10_000_000


def run(cloud: Cloud, seed: int) -> None:
    """Report the mean time of a transfer in the first and the last round, relative to direct copy."""
    direct = Direct(cloud)
    owners: dict[str, Vm] = {}
    ids: dict[str, str] = {}
    for at, vm in enumerate(cloud.vms):
        for n in range(IMAGES):
            file = cloud.file(f"{vm.name}-image-{n}", IMAGE_BYTES, 1000 * seed + 10 * at + n)
            direct.hold(vm, file)
            ids[file.name] = cloud.publish(file, [])
            owners[file.name] = vm
    cloud.fetch([(ids[name], vm) for name, vm in owners.items()])
    random = np.random.default_rng(seed)
    had: set[tuple[str, str]] = set()
    for nth in range(1, ROUNDS + 1):
        picks = [(name, vm) for vm in cloud.vms for name in _picked(random, owners, vm)]
        before = _backend_bytes(cloud, ids)
        new = [(ids[name], vm) for name, vm in picks if (name, vm.name) not in had]
        took = seconds_of(cloud.fetch(new)) if new else {}
        agents = [took.get((ids[name], vm.id), 0.0) for name, vm in picks]
        copied = direct.copy([(name, owners[name], vm) for name, vm in picks])
        had |= {(name, vm.name) for name, vm in picks}
        gain = float(100 * (1 - np.mean(agents) / np.mean(copied)))
        detail = {
            "agents_s": round(float(np.mean(agents)), 2),
            "direct_s": round(float(np.mean(copied)), 2),
            "held_before": len(picks) - len(new),
            "backend_mb": round((_backend_bytes(cloud, ids) - before) / 1e6, 1),
        }
        figures.comment(f"round {nth}: gain {gain:.1f} %, {detail}")
        if nth in (1, ROUNDS):
            figures.report(f"artifacts_round{nth}_gain_percent", gain, **detail)


def _picked(random: np.random.Generator, owners: dict[str, Vm], vm: Vm) -> list[str]:
    return [
        str(name) for name in random.choice([n for n, of in owners.items() if of.region != vm.region], PICKS, False)
    ]


def _backend_bytes(cloud: Cloud, ids: dict[str, str]) -> int:
    return sum(int(cloud.client.get(f"/v1/artifacts/{one}/copies")["backend_bytes"]) for one in ids.values())
