"""Figures of a stranger's first hour, a JSON object each (one group: ONLY=install).

up       a new installation of this checkout, whose tools and builds are there: `make test-bare` has a bare tree
own      the install command of *Add a VM* on two VMs: network namespaces, each with an overlay of / (root; Debian)
install  the command line alone, and the wheel of the backend, in environments of their own
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from lab.benchmarks import figures
from lab.embedded_product import EMAIL, running
from lab.soak.readers import Person

INSIDE = "SINEMORA_FIRST_HOUR_INSIDE"
BACKEND = Path(__file__).parents[2]
RUNS = 10
AGENTS = 6
"""As many as `make up` starts: fewer have no story, and then no simulated network is loaded."""


def up() -> None:
    """Start the product, look at the first screen, wait for the demonstration's own windows."""
    began_s = time.monotonic()
    with running("first-hour", AGENTS) as product:
        product.until_up()  # prints Ready
        ready_s = time.monotonic()
        figures.report("first_ready_s", ready_s - began_s)
        person = Person(product.address, EMAIL)
        # A mesh with an incident of its day of history: something to look at.
        product.until(
            lambda: bool(person.http.get("/v1/incidents").json()["items"]), "the first screen shows something"
        )
        shown = person.http.get("/v1/overview").raise_for_status().json()
        meshes = [health["name"] for health in shown["meshes"]]
        figures.report("first_meaningful_screen_after_ready_s", time.monotonic() - ready_s, meshes=meshes)
        product.do("wait")
        figures.report("first_real_windows_s", time.monotonic() - began_s)


def own() -> None:
    """Run the install command of the console on two VMs, and wait until both have reported a window."""
    if not os.environ.get(INSIDE):  # a network on which the product is one host of several
        command = ["unshare", "--mount", "--net", "--propagation", "private", sys.executable, "-m", __spec__.name]
        if subprocess.run(command, env=os.environ | {INSIDE: "1", "ONLY": "own"}, check=False).returncode:
            sys.exit("The figures of own VMs miss a bar, or could not be measured.")
        return
    for line in ("link set lo up", "link add br0 type bridge", "addr add 198.51.100.1/24 dev br0", "link set br0 up"):
        _run("ip", *line.split())
    _run("ip", "route", "add", "default", "dev", "br0")
    pack = BACKEND.parent / "infra" / "packages" / "build.py"
    subprocess.run([sys.executable, pack, "demonstration"], check=True)  # `make up` does, once the agent is built
    with running("first-hour-own", AGENTS) as product, ExitStack() as ends:
        product.until_up()
        ready_s = time.monotonic()
        person = Person(product.address, EMAIL)
        mesh = next(one["id"] for one in person.http.get("/v1/meshes").json()["items"] if one["name"] == "demo")
        body = {"mesh_id": mesh, "expires_in_s": 3600, "max_uses": 2}
        token = person.http.post("/v1/enrolment-tokens", json=body).raise_for_status().json()
        for number in (1, 2):
            _own_vm(number, token["install_command"], ends)
        product.until(lambda: _own_windows(person, mesh) == 2, "both VMs have a window")
        figures.report("own_vm_first_window_s", time.monotonic() - ready_s)
        figures.report("own_vm_actions", 3, actions="create the command; run it on each of two VMs")


def _own_windows(person: Person, mesh: str) -> int:
    """Return how many of the VMs that joined measure another."""
    roster = person.http.get(f"/v1/meshes/{mesh}/roster").json()["vms"]
    joined = [vm["id"] for vm in roster if vm["name"].startswith("own-")]
    paths = [person.http.get(f"/v1/meshes/{mesh}/paths/{a}/{b}").json() for a in joined for b in joined if a != b]
    return sum(path["round_trip"] is not None for path in paths)


def _own_vm(number: int, install: str, ends: ExitStack) -> None:
    """Run the install command in an overlay of / and a network namespace, then start the agent, as systemd would."""
    folder = ends.enter_context(tempfile.TemporaryDirectory())
    _run("mount", "-t", "tmpfs", "own", folder)
    ends.callback(_run, "umount", "--recursive", "--lazy", folder)
    upper, work, root = (Path(folder) / name for name in ("upper", "work", "root"))
    for place in (upper, work, root):
        place.mkdir()
    _run("mount", "-t", "overlay", "overlay", "-o", f"lowerdir=/,upperdir={upper},workdir={work}", str(root))
    for name in ("proc", "sys", "dev"):
        _run("mount", "--rbind", f"/{name}", str(root / name))
    service = "set -a; . /etc/sinemora/agent.env; exec sinemora-agent run"
    there = f"read -r _; {install.replace('sudo ', '')} --name own-{number} && {{ {service}; }}"
    vm = subprocess.Popen(["unshare", "--net", "chroot", root, "sh", "-c", there], stdin=subprocess.PIPE)
    ends.callback(vm.kill)
    time.sleep(0.5)  # until it has left this network
    _run("ip", "link", "add", f"vm{number}", "master", "br0", "type", "veth", "peer", "eth0", "netns", str(vm.pid))
    _run("ip", "link", "set", f"vm{number}", "up")
    for command in ("link set lo up", f"addr add 198.51.100.{10 + number}/24 dev eth0", "link set eth0 up"):
        _run("nsenter", "--net", "--target", str(vm.pid), "ip", *command.split())
    assert vm.stdin
    vm.stdin.write(b"\n")
    vm.stdin.close()


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


def install() -> None:
    """Install the client in a new environment and time a command; check that the backend's wheel resolves."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("client", "."):
            subprocess.run(["uv", "build", "--quiet", "--wheel", "--out-dir", place, BACKEND / name], check=True)
        client, server = (next(place.glob(f"{name}-*.whl")) for name in ("sinemora_client", "sinemora"))
        subprocess.run(["uv", "venv", "--quiet", place / "env"], check=True)
        subprocess.run(["uv", "pip", "install", "--quiet", "--python", place / "env", f"{client}[cli]"], check=True)
        ask: list[str | Path] = [place / "env" / "bin" / "sinemora", "incidents", "list"]
        # Nothing answers there: what an answer adds is its own, not that of the start.
        env = os.environ | {"SINEMORA_API_KEY": "sm_none", "SINEMORA_PUBLIC_URL": "http://127.0.0.1:9"}
        seconds = [_processor_s(ask, env) for _ in range(RUNS)]
        figures.report("cli_processor_s", statistics.median(seconds), least=min(seconds))
        fits: list[str | Path] = ["uv", "pip", "install", "--dry-run", "--quiet", "--python", place / "env", server]
        figures.report("pip_install_resolves", float(subprocess.run(fits, check=False).returncode == 0))


def _processor_s(command: list[str | Path], env: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=env, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    figures.run({"up": up, "own": own, "install": install})
