"""One file from one VM and from two: a checkpoint of 7 MB, as in the live migration of the source (section 3.4)."""

import statistics

from lab.benchmarks import figures

from spreading.cloud import Cloud, Vm, seconds_of
from spreading.direct import Direct

CHECKPOINT_BYTES = 7_000_000
TIMES = 5


def run(cloud: Cloud, seed: int) -> None:
    """Report the median time from two VMs of the other region, relative to rsync and to agents from one."""
    direct = Direct(cloud)
    target, holders = cloud.of("east")[0], cloud.of("west")[:2]
    taken: dict[str, list[float]] = {"direct": [], "one": [], "two": []}
    for nth in range(TIMES):
        for held_by, name in ((holders[:1], "one"), (holders, "two")):
            file = cloud.file(f"checkpoint-{nth}-{name}", CHECKPOINT_BYTES, 1000 * seed + 2 * nth + len(held_by))
            direct.hold(holders[0], file)
            taken[name].append(_fetched(cloud, cloud.publish(file, held_by), target))
            taken["direct"] += direct.copy([(file.name, holders[0], target)])
    medians = {name: statistics.median(seconds) for name, seconds in taken.items()}
    shown = {f"{name}_s": round(seconds, 2) for name, seconds in medians.items()}
    figures.report("artifacts_two_source_gain_percent", 100 * (1 - medians["two"] / medians["direct"]), **shown)
    figures.report("artifacts_two_source_gain_over_one_percent", 100 * (1 - medians["two"] / medians["one"]))


def _fetched(cloud: Cloud, artifact_id: str, target: Vm) -> float:
    (seconds,) = seconds_of(cloud.fetch([(artifact_id, target)])).values()
    return seconds
