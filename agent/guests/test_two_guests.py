"""Tests of agents in two emulated machines on a bridge: installed by the one line, with clocks that are really two.

A laboratory of network namespaces has one clock and one kernel. Here each agent has its own: they differ in time and in
rate, are stepped, stand still while the hypervisor stops the machine, and are suspended to memory by the guest itself.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

import image
from guest import Guest
from laboratory import LabError, tool, wait_until
from product import BINARY, NETWORK, RATE_HZ, Product, enter_network

AHEAD_S = 5000
STEP_S = -900
STOPPED_S = 8.0
SUSPENDED_S = 6.0
# Largest error of the time of windows, s (docs/agent-measurements.md).
BOUND_S = 0.05
# A round trip of two emulated machines, ns: milliseconds, more while both processors are busy.
LONGEST_NS = 500_000_000
# Longest time of an answer on its way: an emulated machine takes a moment to send and to read it.
UNDER_WAY_S = 0.2
NEEDED = ("qemu-system-x86_64", "busybox", "depmod", "curl", "ldd", "ip")


def _why_not() -> str | None:
    """Return why guests cannot run on this machine; None where they can."""
    if os.uname().machine != "x86_64":
        return "the guests are emulated x86-64 machines with this machine's programs"
    if os.geteuid() != 0:
        return "only root may connect guests to a bridge"
    if not os.path.exists("/dev/net/tun"):
        return "this machine has no TAP interfaces (/dev/net/tun)"
    try:
        image.kernel()
        for program in NEEDED:
            tool(program)
    except LabError as error:
        return str(error)
    return None


WHY_NOT = _why_not()
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=f"{WHY_NOT}")


@dataclass
class Scene:
    """A product and two guests that measure one another. The clock of `ahead` shows AHEAD_S more than the other."""

    product: Product
    straight: Guest
    ahead: Guest

    def await_windows(self, count: int, since_s: float, within_s: float = 60.0) -> list[dict]:
        """Wait for `count` windows of both directions from `since_s` on; return those of the first one's way."""

        def there() -> bool:
            return all(len(self.product.windows(*way, since_s)) >= count for way in WAYS)

        wait_until(f"{count} windows of both directions", there, within_s)
        return self.product.windows(*WAYS[0], since_s)


WAYS = (("straight", "ahead"), ("ahead", "straight"))


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    names = {"straight": 0, "ahead": AHEAD_S}
    with tempfile.TemporaryDirectory(prefix="sinemora-guests-") as scratch:
        folder = Path(scratch)
        # Started by root, the database runs as another user, who must be able to reach its data inside.
        folder.chmod(0o755)
        ram_disk = folder / "ram-disk"
        image.write(ram_disk, [BINARY])
        enter_network([f"tap-{name}" for name in names])
        running: list[Guest | Product] = []
        try:
            product = Product(folder)
            running.append(product)
            guests = []
            for number, (name, ahead_s) in enumerate(names.items()):
                guests.append(Guest(folder, ram_disk, name, f"{NETWORK}.{number + 11}", f"tap-{name}", ahead_s))
                running.append(guests[-1])
            product.await_ready()
            line = product.install_command(len(guests))
            for guest in guests:
                guest.await_shell()
                # Without systemd the script says how to start the agent.
                start = guest.run(line).rpartition("with: ")[2].strip()
                guest.start(f"({start}) >/root/agent.log 2>&1")
            scene = Scene(product, *guests)
            try:
                scene.await_windows(5, time.time(), 90)
            except LabError as error:
                logs = "\n".join(guest.run("tail -n 20 /root/agent.log") for guest in guests)
                raise LabError(f"{error}\n{logs}") from None
            yield scene
        finally:
            for process in reversed(running):
                process.stop()


def test_the_one_line_installs_an_agent_with_settings(scene: Scene) -> None:
    for guest in (scene.straight, scene.ahead):
        assert guest.run("sinemora-agent --version").startswith("sinemora-agent ")
        assert f'backend = "{scene.product.url}"' in guest.run("cat /etc/sinemora/agent.toml")
        assert guest.run("stat -c %a /etc/sinemora/agent.env").strip() == "600"


def test_clocks_that_differ_by_an_hour_and_more_date_no_window_wrongly(scene: Scene) -> None:
    # Emulated on a busy machine, a guest boots late and its clock falls behind by seconds.
    assert abs(scene.ahead.clock_s() - scene.straight.clock_s() - AHEAD_S) < 120
    since_s = time.time()
    windows = scene.await_windows(5, since_s)
    assert windows[0]["at_s"] < since_s + 3
    assert windows[-1]["at_s"] < time.time()
    _consecutive(windows)


def test_both_directions_are_measured_without_loss(scene: Scene) -> None:
    since_s = time.time()
    scene.await_windows(8, since_s)
    for way in WAYS:
        windows = scene.product.windows(*way, since_s)[:8]
        assert sum(window["lost"] for window in windows) == 0
        # A delay of one direction is right within the stated error of the clocks, whatever they show.
        for window in windows:
            assert window["clock_error_ns"] > 0
            assert -window["clock_error_ns"] < window["min_ns"] < LONGEST_NS


def test_a_stepped_clock_changes_no_delay_and_moves_no_window(scene: Scene) -> None:
    stepped_s = time.time()
    scene.ahead.run(f"date -s @$(( $(date +%s) + {STEP_S} ))")
    windows = scene.await_windows(8, stepped_s + 1)
    _consecutive(windows)
    assert windows[0]["at_s"] <= stepped_s + 3
    assert sum(window["lost"] for way in WAYS for window in scene.product.windows(*way, stepped_s)) == 0
    assert all(abs(window["p50_ns"]) < LONGEST_NS for window in windows)
    # In milliseconds; a busy machine takes a second or more to set its clock.
    _await_event(scene, "ahead", f"stepped by {STEP_S // 10}")


def test_no_window_of_a_machine_paused_by_its_hypervisor_is_of_the_pause(scene: Scene) -> None:
    scene.ahead.monitor("stop")
    stopped_s = time.time()
    assert scene.ahead.status() == "paused"
    time.sleep(STOPPED_S)
    resumed_s = time.time()
    scene.ahead.monitor("cont")
    # No clock of the machine counts the pause: its peers' clocks and the backend's time show it.
    _measured_again(scene, stopped_s, resumed_s)
    # What it measured in the second in which it went on is in that second's window, which is missing if it went on at
    # its end: an emulated machine takes a moment.
    for way in WAYS:
        rows = {row["at_s"]: row["count"] for row in scene.product.windows(*way, resumed_s - 1) if row["count"]}
        assert rows.get(int(resumed_s), 0) <= RATE_HZ * (int(resumed_s) + 1 - resumed_s) + 1
        assert int(resumed_s) <= min(rows) <= resumed_s + 2
    _await_event(scene, "ahead", "the clocks of this VM stood still for")
    [event] = [event for event in scene.product.events("ahead") if "stood still for" in event]
    length_s = float(event.split("stood still for ")[1].split(" s")[0])
    assert STOPPED_S - BOUND_S < length_s < resumed_s - stopped_s + 1


def test_a_machine_suspended_to_memory_measures_again_and_says_how_long(scene: Scene) -> None:
    scene.ahead.begin("echo mem >/sys/power/state")
    wait_until("the suspension", lambda: scene.ahead.status() == "suspended", 30)
    suspended_s = time.time()
    time.sleep(SUSPENDED_S)
    resumed_s = time.time()
    scene.ahead.monitor("system_wakeup")
    scene.ahead.await_end(60)
    _measured_again(scene, suspended_s, resumed_s)
    _await_event(scene, "ahead", "was suspended for")


def _measured_again(scene: Scene, gone_s: float, back_s: float) -> None:
    """Check that windows go on after a machine was gone, and that none is of the time between."""
    windows = scene.await_windows(5, back_s + 3)
    _consecutive(windows)
    assert windows[0]["at_s"] <= back_s + 8
    assert sum(window["lost"] for way in WAYS for window in scene.product.windows(*way, back_s + 3)) == 0
    for way in WAYS:
        # The machine that went on sent requests, which were not answered. Nothing arrived, so nothing has a delay,
        # apart from what was under way: of a machine that goes at the end of a second it arrives in the next.
        measured = [row["at_s"] for row in scene.product.windows(*way, gone_s) if row["count"]]
        assert [at_s for at_s in measured if gone_s + UNDER_WAY_S < at_s < back_s - 1] == []


def _await_event(scene: Scene, name: str, words: str) -> None:
    events: list[str] = []

    def there() -> bool:
        events[:] = scene.product.events(name)
        return any(words in message for message in events)

    try:
        wait_until(f"an event of {name} with the words: {words}", there)
    except LabError as error:
        raise LabError(f"{error}\n" + "\n".join(events)) from None


def _consecutive(windows: list[dict]) -> None:
    starts = [window["at_s"] for window in windows]
    assert all(later - earlier == 1 for earlier, later in pairwise(starts)), starts
