"""Plans are data: what a shell runs, and what a YAML reader reads, are the moves and nothing else."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sinemora.recommendations.core.kubernetes import cost, network_topology, patches, workload_of
from sinemora.recommendations.core.plan import (
    Limits,
    NothingToWrite,
    Place,
    PlacedTask,
    Plan,
    legs,
    systemd,
    terraform,
)

HOSTILE = ("$(touch x)", "`id`", "a'b", 'a"b', "ü 🜨", "-rf", "a\nrm", "\\x41", "${a}", "%{if}", "\u2028rm", "#", "a;b")
NAMES = st.one_of(st.sampled_from(HOSTILE), st.text("abc-.$'\"\\ \n`;", min_size=1, max_size=8))


def vm(name: str, zone: str = "z") -> Place:
    return Place(name, zone, "r")


def move(at: int, task: str, before: str | None, after: str, via: str | None = None, zones: str = "zz") -> PlacedTask:
    places = [None if name is None else vm(name, zone) for name, zone in zip((before, after), zones, strict=True)]
    return PlacedTask("app", task, *places, None if via is None else vm(via), at)


def plan(*tasks: PlacedTask, **limits: Limits) -> Plan:
    return Plan("id", 'a "mesh"\n$(x)', tasks, limits)


def way(one: Plan) -> list[tuple[str, str | None, str | None]]:
    return [(task.task, old and old.vm, new and new.vm) for task, old, new in legs(one)]


def test_a_parked_task_continues_when_its_target_is_free_and_the_way_back_is_the_reverse():
    swap = plan(move(0, "t", "a", "b", via="c"), move(1, "u", "b", "a"))
    assert way(swap) == [("t", "a", "c"), ("u", "b", "a"), ("t", "c", "b")]
    assert way(swap.reversed()) == [("t", "b", "c"), ("u", "a", "b"), ("t", "c", "a")]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an ssh that runs the command here, as a remote shell would, and a systemctl that records."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "ssh").write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nexport HOST="$2"\nexec sh -c "$3"\n')
    (folder / "systemctl").write_text('#!/bin/sh\nprintf "%s\\0" "$HOST" "$1" "$3" >> "$RECORD"\n')
    for program in folder.iterdir():
        program.chmod(0o755)
    return folder


def run(text: str, folder: Path, *arguments: str) -> tuple[int, list[str]]:
    """Run a script; return its code and the words that systemctl got."""
    record = folder / "record"
    record.unlink(missing_ok=True)
    known = {"PATH": f"{folder}:{os.environ['PATH']}", "RECORD": str(record)}
    done = subprocess.run(
        ["sh", "-c", text, "plan", *arguments], env=known, cwd=folder, capture_output=True, timeout=30, check=False
    )
    return done.returncode, record.read_text("utf-8").split("\0")[:-1] if record.exists() else []


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_a_shell_runs_the_moves_and_nothing_else(programs: Path, names: list[str]):
    script = systemd(plan(*(move(at, name, "a-1", "b.example") for at, name in enumerate(names))))
    assert "Left out" not in script
    assert run(script, programs) == (2, [])
    code, words = run(script, programs, "--carry-out")
    assert (code, words[0::3], words[1::3]) == (0, ["a-1", "b.example"] * len(names), ["stop", "start"] * len(names))
    assert len(set(words[2::3])) == len(names)
    assert {one.name for one in programs.iterdir()} == {"ssh", "systemctl", "record"}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_a_format_cannot_express_is_left_out_in_words(name: str):
    good = move(0, "cache-0", "a", "b", zones="xy")
    moves = plan(good, move(1, "t", "a-2", name), move(2, name, "a-3", "b", zones="xy"))
    for written in (patches(moves), systemd(moves)):
        assert "# Left out: " in written
        assert not [line for line in written.splitlines() if line.startswith("rm")]
    for task in (move(0, "t", "a", "-o"), move(0, "t", "a", "b" * 300)):
        with pytest.raises(NothingToWrite, match="no name of a host"):
            systemd(plan(task))
    named = terraform(plan(move(0, "t", name, "b", zones="xy")))
    assert len([line for line in named.splitlines() if not line.startswith("#")]) == 3


def test_affinity_of_workloads():
    documents = yaml.safe_load_all(
        patches(
            plan(
                move(0, "web-0", "a", "c"),
                PlacedTask("app", "web-1", vm("b"), vm("b")),
                PlacedTask("app", "db", vm("c"), vm("c")),
                move(1, "db-7d9c5b8f6d-x2x4z", "a", "b"),
                PlacedTask("other", "queue-0", vm("d"), vm("d")),
                app=Limits(2, frozenset({"other"})),
            )
        )
    )
    found = {one["metadata"]["name"]: one for one in documents if one}
    assert {name: one["kind"] for name, one in found.items()} == {"web": "StatefulSet", "db": "Deployment"}
    web = found["web"]["spec"]["template"]["spec"]
    near = web["affinity"]["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"][0]["podAffinityTerm"]
    assert near["labelSelector"]["matchExpressions"][0]["values"] == ["db"]
    [apart] = web["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert apart["labelSelector"]["matchExpressions"][0]["values"] == ["queue"]
    host, zone = web["topologySpreadConstraints"]
    assert (host["minDomains"], host["whenUnsatisfiable"]) == (2, "DoNotSchedule")
    assert (zone["maxSkew"], zone["whenUnsatisfiable"]) == (2, "ScheduleAnyway")


@pytest.mark.parametrize(
    ("task", "workload"),
    [
        ("cache-0", ("StatefulSet", "cache")),
        ("cache", ("Deployment", "cache")),
        ("web-7d9c5b8f6d-x2x4z", ("Deployment", "web")),
        ("a.b-12", ("StatefulSet", "a.b")),
        ("client-01", ("Deployment", "client-01")),
        ("Web", None),
        ("a_b-0", None),
        ("x" * 64, None),
    ],
)
def test_a_task_has_the_name_of_its_pod(task: str, workload: tuple[str, str] | None):
    assert workload_of(task) == workload


def test_two_applications_with_pods_of_one_name_are_left_out():
    other = PlacedTask("other", "web-1", vm("b"), vm("b"))
    with pytest.raises(NothingToWrite, match="StatefulSet web: two applications"):
        patches(plan(move(0, "web-0", "a", "c"), other))


def test_costs_grow_with_the_delay_and_missing_pairs_are_not_zero():
    assert [cost(delay_ns) for delay_ns in (0, 1e3, 1e6, 1e9, 1e12)] == [2, 2, 51, 100, 100]
    zones = [("r1", "a"), ("r1", "b"), ("r2", "c"), ("r1", "twice"), ("r2", "twice")]
    delays = [[None if row == 1 or column == row else 1e6 for column in range(5)] for row in range(5)]
    found, left_out = network_topology(zones, delays)
    regions, of_zones = found["spec"]["weights"][0]["topologyList"]
    assert [one["origin"] for one in of_zones["originList"]] == ["a", "c"]
    assert [one["origin"] for one in regions["originList"]] == ["r1", "r2"]
    assert len(left_out) == 1
