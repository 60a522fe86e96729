"""A network of our own, and on it a product as `make up` starts it, with the packages that it offers to guests."""

import calendar
import ctypes
import json
import os
import secrets
import subprocess
import time
from pathlib import Path
from typing import Any

import build
from laboratory import LabError, Process, tool, wait_until
from visitor import Visitor

ROOT = Path(__file__).resolve().parents[2]
BINARY = ROOT / "agent/target" / os.environ.get("SINEMORA_BUILD_FOLDER", "debug") / "sinemora-agent"
NETWORK = "10.79.0"
PORT = 8420
RATE_HZ = 8
EMAIL = "guests@sinemora.example"
# The database is created while the guests boot.
_START_S = 180.0
_NEW_NETWORK = 0x40000000  # CLONE_NEWNET, unshare(2)


def enter_network(taps: list[str]) -> None:
    """Move this process into a new network with a bridge that joins `taps`; it ends with this process. Needs root."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_NEW_NETWORK) != 0:
        raise LabError(f"no network of our own: {os.strerror(ctypes.get_errno())}.\nWhat to do: run as root")
    _ip("link", "set", "lo", "up")
    _ip("link", "add", "br0", "type", "bridge")
    _ip("address", "add", f"{NETWORK}.1/24", "dev", "br0")
    _ip("link", "set", "br0", "up")
    for tap in taps:
        _ip("tuntap", "add", "dev", tap, "mode", "tap")
        _ip("link", "set", tap, "master", "br0", "up")


def _ip(*arguments: str) -> None:
    done = subprocess.run([tool("ip"), *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")


class Product:
    """A running product without a demonstration, and its owner's session."""

    def __init__(self, folder: Path) -> None:
        packages = folder / "packages"
        packages.mkdir()
        build.offer_archive(BINARY, packages)
        self.url = f"http://{NETWORK}.1:{PORT}"
        self._password = secrets.token_urlsafe(12)
        program = ROOT / "backend/.venv/bin/sinemora"
        self.process = Process(
            [program, "up"],
            folder / "product.log",
            {
                "SINEMORA_HOST": f"{NETWORK}.1",
                "SINEMORA_PORT": str(PORT),
                "SINEMORA_PUBLIC_URL": self.url,
                "SINEMORA_DATA_DIR": str(folder / "data"),
                "SINEMORA_PACKAGES_DIR": str(packages),
                "SINEMORA_OWNER_EMAIL": EMAIL,
                "SINEMORA_OWNER_PASSWORD": self._password,
                "SINEMORA_DEMO_AGENTS": "0",
                "SINEMORA_DEMO_STORY": "off",
            },
        )
        self.visitor = Visitor(self.url)
        self.mesh = ""

    def stop(self) -> None:
        """End it with all that it has started."""
        self.process.stop(60)

    def await_ready(self) -> None:
        """Wait until it serves, and sign in."""

        def ready() -> bool:
            if not self.process.running:
                raise LabError(f"the product ended:\n{self.process.output()[-3000:]}")
            return self.visitor.get("/readyz").status == 200

        wait_until("the product", ready, _START_S)
        self.answer(self.visitor.sign_in(EMAIL, self._password))

    def install_command(self, agents: int) -> str:
        """Create a mesh with windows of 1 s; return the line that the page Add a VM shows for it."""
        mesh = {"name": "guests", "window_s": 1, "rate_hz": RATE_HZ}
        self.mesh = self.answer(self.visitor.post("/v1/meshes", mesh))["id"]
        token = {"mesh_id": self.mesh, "max_uses": agents}
        return str(self.answer(self.visitor.post("/v1/enrolment-tokens", token))["install_command"])

    def windows(self, source: str, target: str, since_s: float) -> list[dict[str, Any]]:
        """Return the stored windows of one direction that began at `since_s`, Unix, or later, oldest first.

        `at_s` is added: the beginning of the window, Unix s.
        """
        begin, end = (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)) for at in (since_s, time.time() + 7200))
        path = f"/v1/meshes/{self.mesh}/windows?format=ndjson&metric=one_way_delay&from={begin}&to={end}"
        answer = self.visitor.get(path)
        if answer.status != 200:
            raise LabError(f"{path}: {answer.status} {answer.body!r}")
        rows = [_row(line) for line in answer.body.splitlines()]
        return [row for row in rows if (row["source"], row["target"]) == (source, target)]

    def events(self, name: str) -> list[str]:
        """Return the messages of the events of a VM's agent, newest first."""
        agents = self.answer(self.visitor.get("/v1/agents"))["items"]
        [agent] = [agent["id"] for agent in agents if agent["vm"]["name"] == name]
        events = self.answer(self.visitor.get(f"/v1/agents/{agent}/events?limit=100"))["items"]
        return [str(event["detail"].get("message", "")) for event in events]

    @staticmethod
    def answer(answer: Any) -> Any:
        """Return the JSON value of an answer; raises LabError when it is a refusal."""
        if answer.status not in (200, 201):
            raise LabError(f"the product answered {answer.status}: {answer.body!r}")
        return answer.json


def _row(line: bytes) -> dict[str, Any]:
    """Return a row of an export with the beginning of its window as `at_s`."""
    row: dict[str, Any] = json.loads(line)
    row["at_s"] = calendar.timegm(time.strptime(row["started_at"], "%Y-%m-%dT%H:%M:%SZ"))
    return row
