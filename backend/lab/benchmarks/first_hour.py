"""Figures of a stranger's first hour, a JSON object each (one group: ONLY=install).

up       a new installation of this checkout, whose tools and builds are there: `make test-bare` has a bare tree
install  the command line alone, and the wheel of the backend, in environments of their own
"""

import os
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from lab.benchmarks import figures
from lab.embedded_product import EMAIL, running
from lab.soak.readers import Person

BACKEND = Path(__file__).parents[2]
RUNS = 10
AGENTS = 3


def up() -> None:
    """Start the product, look at the first screen, wait for the demonstration's own windows."""
    began_s = time.monotonic()
    with running("first-hour", AGENTS) as product:
        product.until(product.is_ready, "the API answers")
        ready_s = time.monotonic()
        figures.report("first_ready_s", ready_s - began_s)
        person = Person(product.address, EMAIL)
        # A mesh with an incident of its day of history: something to look at.
        product.until(
            lambda: bool(person.http.get("/v1/incidents").json()["items"]), "the first screen shows something"
        )
        shown = person.http.get("/v1/overview").raise_for_status().json()
        meshes = [health["mesh"]["name"] for health in shown["meshes"]]
        figures.report("first_meaningful_screen_after_ready_s", time.monotonic() - ready_s, meshes=meshes)
        product.until_up()
        product.do("wait")
        figures.report("first_real_windows_s", time.monotonic() - began_s)


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
    for group in (os.environ.get("ONLY") or "up,install").split(","):
        {"up": up, "install": install}[group]()
    figures.finish()
