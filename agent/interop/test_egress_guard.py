"""The egress guard on real links: what it does to flows and to measurements, and that nothing of it stays.

Loading a program needs the machine's root, not that of the laboratory.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import egress_guard
from agents import GUARD, Agent, Fleet
from egress_guard import FLOW_SENDER, LINK_MBIT, PORT, QUEUE_MS, Scene, Times, guard
from laboratory import Host, Lab, Process, tool, wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: it loads eBPF programs")

STRICT = ("--mode", "strict-priority", "--boundaries", "30000,300000")
ON = ("on", "--interface", "e0", "--rate", f"{LINK_MBIT:.0f}mbit", *STRICT)
RATE_HZ = 16


@pytest.fixture
def host() -> Iterator[Host]:
    with Lab() as lab:
        yield lab.host("guarded")


def _state(host: Host) -> str:
    """Return all that the kernel has of queues, classes and filters, without counters."""
    shown = [host.run("tc", "-d", kind, "show", "dev", "e0") for kind in ("qdisc", "class")]
    filters = [host.run("tc", "filter", "show", "dev", "e0", *where) for where in ((), ("ingress",), ("egress",))]
    return "\n".join(shown + filters + [host.run("tc", "qdisc", "show", "dev", "lo")])


def _programs() -> set[str]:
    """Return the eBPF programs of all processes: a classifier that stays without a process is in none of them."""
    done = subprocess.run([sys.executable, "-c", _LIST_PROGRAMS], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


# The ids and names of loaded programs (bpf(2): BPF_PROG_GET_NEXT_ID, BPF_PROG_GET_FD_BY_ID, BPF_OBJ_GET_INFO_BY_FD).
_LIST_PROGRAMS = """
import ctypes, os, struct
call = ctypes.CDLL(None, use_errno=True).syscall
NUMBER = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
at = 0
while True:
    ask = ctypes.create_string_buffer(struct.pack("III", at, 0, 0))
    if call(NUMBER, 11, ask, 12):
        break
    at = struct.unpack_from("I", ask, 4)[0]
    fd = call(NUMBER, 13, ctypes.create_string_buffer(struct.pack("III", at, 0, 0)), 12)
    if fd < 0:
        continue
    info = ctypes.create_string_buffer(128)
    call(NUMBER, 15, ctypes.create_string_buffer(struct.pack("IIQ", fd, 128, ctypes.addressof(info))), 16)
    os.close(fd)
    name = info.raw[64:80].split(b"\\0")[0].decode()
    if name == "sinemora_egress":
        print(at)
"""


def test_nothing_of_it_stays(host: Host) -> None:
    before, programs = _state(host), _programs()
    guard(host, *ON)
    assert "htb 534d:" in _state(host)
    assert len(_programs() - programs) == 1
    guard(host, *ON)
    # The kernel frees it once no processor may still be in it.
    wait_until("the end of the one that was replaced", lambda: len(_programs() - programs) == 1, 5)
    assert guard(host, "off") == "Removed the guard from e0.\n"
    assert _state(host) == before
    wait_until("the end of the program", lambda: _programs() <= programs, 5)
    assert guard(host, "off") == "There is no guard on any interface.\n"


@pytest.mark.parametrize("lines", [1, 2, 5, 8])
def test_a_start_that_is_killed_half_way_is_finished_or_removed(host: Host, tmp_path: Path, lines: int) -> None:
    """`tc` executes some of its commands, then the guard is killed with SIGKILL."""
    before, programs = _state(host), _programs()
    shim = tmp_path / "tc"
    tc = tool("tc")
    shim.write_text(
        f'#!/bin/sh\nif [ "$1" = -batch ]; then head -n {lines} | {tc} -batch -; kill -9 $PPID; fi\nexec {tc} "$@"\n'
    )
    shim.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for after in ("on", "off"):
        killed = host.try_as_root(GUARD, *ON, env=path)
        assert killed.returncode == -9
        assert "htb 534d:" in _state(host)
        assert "not complete" in guard(host, "status")
        _reaches_the_bridge(host)
        if after == "on":
            guard(host, *ON)
            assert "not complete" not in guard(host, "status")
        guard(host, "off")
        assert _state(host) == before
    wait_until("the end of the programs", lambda: _programs() <= programs, 5)


def _reaches_the_bridge(host: Host) -> None:
    host.run(sys.executable, "-c", _ECHO_TO, host.lab.gateway)


# Connects to a closed port: the refusal shows that packets go out and come back.
_ECHO_TO = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], 9), timeout=5)
except ConnectionRefusedError:
    pass
"""


def test_what_others_set_is_refused_and_stays(host: Host) -> None:
    host.run("tc", "qdisc", "add", "dev", "e0", "clsact")
    host.run("tc", "qdisc", "add", "dev", "e0", "root", "tbf", "rate", "10mbit", "burst", "20k", "limit", "100k")
    before = _state(host)
    refused = host.try_as_root(GUARD, *ON)
    assert refused.returncode == 1
    assert "has the root queueing discipline tbf" in refused.stderr
    assert guard(host, "off", "--interface", "e0") == "There is no guard on e0.\n"
    assert _state(host) == before
    host.run("tc", "qdisc", "del", "dev", "e0", "root")
    without_root = _state(host)
    guard(host, *ON)
    guard(host, "off")
    assert "clsact" in without_root
    assert _state(host) == without_root


def test_a_plan_changes_nothing_and_its_commands_are_those_of_on(host: Host) -> None:
    before = _state(host)
    plan = guard(host, "plan", *ON[1:])
    assert _state(host) == before
    commands = [line.strip() for line in plan.splitlines() if line.startswith("  tc ")]
    for command in commands:
        host.run(*command.split())
    planned = _state(host).replace("refcnt", "")
    host.run("tc", "qdisc", "del", "dev", "e0", "root")
    guard(host, *ON)
    # Handles of leaves are numbered on; the rest is the same.
    assert _shape(planned) == _shape(_state(host))


def _shape(state: str) -> list[str]:
    lines = [line for line in state.splitlines() if "bpf" not in line]
    return sorted(" ".join(line.split("parent")[-1].split()[:2]) + line.partition("prio")[2] for line in lines)


def test_errors_name_what_is_wrong(host: Host) -> None:
    for arguments, code, words in (
        (("on", "--interface", "e7", *ON[3:]), 2, 'no network interface "e7"; there are: '),
        (("on", "--interface", "lo", *ON[3:]), 2, "lo is of the type loopback"),
        (("on", "--interface", "e0", "--rate", "fast", *STRICT), 2, "950mbit"),
        (("off", "--interface", "e7"), 2, 'no network interface "e7"'),
    ):
        done = host.try_as_root(GUARD, *arguments)
        assert (done.returncode, words in done.stderr) == (code, True), done.stderr
    # Root of the laboratory is not root of the machine.
    inside = host.start([GUARD, *ON], "unprivileged")
    wait_until("its end", lambda: not inside.running)
    assert "run it as root of the VM" in inside.output()


@pytest.fixture(scope="module")
def compared() -> dict[str, dict[str, Times]]:
    return egress_guard.compare()


@pytest.mark.parametrize("mode", ["strict-priority", "log-priority"])
def test_short_flows_beside_bulk_finish_sooner(compared: dict[str, dict[str, Times]], mode: str) -> None:
    """The same flows without and with the guard. The bucket holds 100 ms: a short flow waits for it several times."""
    before, after = compared["off"]["short"], compared[mode]["short"]
    assert after.p50 < before.p50 / 2
    assert after.p99 < before.p99 / 2
    assert after.tail_mean < before.tail_mean / 2


@pytest.mark.parametrize("mode", ["strict-priority", "log-priority"])
def test_bulk_is_not_starved(compared: dict[str, dict[str, Times]], mode: str) -> None:
    before, after = compared["off"]["bulk"], compared[mode]["bulk"]
    assert after.mean < 2 * before.mean
    assert after.tail_mean < 2 * before.tail_mean


@pytest.fixture
def measured() -> Iterator[tuple[Scene, Agent]]:
    """A scene whose sender measures the receiver."""
    with Lab() as lab:
        scene = Scene(lab)
        fleet = Fleet(lab)
        client, responder = fleet.agent(scene.sender), fleet.agent(scene.receiver)
        client.measure(responder, RATE_HZ)
        client.await_answers([responder.key])
        yield scene, client


def test_measurements_do_not_wait_behind_bulk(measured: tuple[Scene, Agent]) -> None:
    scene, client = measured
    idle_ms = _round_trip_ms(client)
    bulk = _send_bulk(scene)
    behind_ms = idle_ms
    until = time.monotonic() + 30
    while behind_ms < idle_ms + QUEUE_MS / 4 and time.monotonic() < until:  # until the bulk flows fill it
        behind_ms = _round_trip_ms(client)
    guard(scene.sender, *ON)
    time.sleep(2)  # until the bucket's own queue is empty
    guarded_ms = _round_trip_ms(client)
    connect_ms = float(scene.sender.run(sys.executable, "-c", _CONNECT, scene.receiver.address, str(PORT)))
    highest = guard(scene.sender, "status").splitlines()[2].split()
    guard(scene.sender, "off")
    assert bulk.running
    assert behind_ms >= idle_ms + QUEUE_MS / 4, "without bulk in the bucket the test shows nothing"
    assert guarded_ms < idle_ms + (behind_ms - idle_ms) / 5
    # Timestamps of measurements are taken after the guard's queues; this clock starts before them.
    assert connect_ms < QUEUE_MS / 5
    assert (highest[0], highest[3]) == ("1", "0"), "packets of the highest class were dropped"


# The median time of twenty connections, ms: packets without data, in the same queue as measurements.
_CONNECT = """
import socket, statistics, sys, time
def connect():
    began = time.perf_counter()
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5):
        return time.perf_counter() - began
print(1e3 * statistics.median(connect() for _ in range(20)))
"""


def _send_bulk(scene: Scene) -> Process:
    """Start flows that fill the link for longer than the test needs."""
    file = scene.lab.folder / "bulk.json"
    file.write_text(json.dumps([(0.0, 200_000_000)] * 4))
    command = [sys.executable, FLOW_SENDER, "send", scene.receiver.address, str(PORT), file]
    bulk = scene.sender.start(command, "bulk")
    time.sleep(3)
    return bulk


def _round_trip_ms(client: Agent) -> float:
    """Return the mean round-trip delay of the next windows, ms."""
    windows = client.await_windows(3, time.time() + 1)
    means = [window.round_trip.mean_ns[0] for window in windows if window.round_trip.count[0]]
    assert means, "no answers"
    return sum(means) / len(means) / 1e6
