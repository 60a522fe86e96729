"""The production stack of docker-compose.yml, tried on this machine with nothing from an image registry.

First images are built, on a Debian base made here, by an engine that uses the machine's network. Then an engine inside
network, mount and process namespaces of its own runs the stack as it stands in the repository, with its real networks,
and `journey.py` uses it from there: nothing outside the namespaces is listened on, changed or left behind.

    sudo make test-compose              everything in a temporary folder
    sudo make test-compose KEEP=/dir    images and base stay in /dir, so that the next run is quick
"""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from debian_tree import Trouble, install_packages, run
from engine import PACKAGES, ROOT, Engine, make_base_image, proxy_arguments

IMAGES = "sinemora-test"
SECRETS = ("database_owner_password", "database_password", "database_system_password", "redis_password", "secret_key")


def main() -> int:
    """Build, run, try, tear down. 0 when everything passed."""
    if os.geteuid() != 0:
        print("test-compose runs a Docker engine of its own, which only root may.\nWhat to do: sudo make test-compose")
        return 2
    if not shutil.which("apt-get"):
        print("test-compose takes the Docker engine and its images from Debian's packages; this is not a Debian.")
        return 2
    kept = os.environ.get("KEEP")
    folder = Path(kept) if kept else Path(tempfile.mkdtemp(prefix="sinemora-compose-"))
    folder.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    try:
        build(folder)
        return _journey(folder)
    except Trouble as trouble:
        print(f"FAILED {trouble}\n0 passed, 1 failed")
        return 1
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)
        print(f"took {time.monotonic() - began:.0f} s", file=sys.stderr)


def build(folder: Path) -> None:
    """Build all images of the stack in the engine's data folder."""
    write_settings(folder)
    prepare = (sys.executable, ROOT / "infra/toolchain/prepare.py", "compose")
    step("agent", lambda: run(*prepare, log=folder / "commands.log", limit_s=1800))
    step("packages", lambda: install_packages(PACKAGES, folder / "commands.log"))
    with Engine(folder, networked=False) as engine:
        if not engine.ask("images", "-q", f"{IMAGES}/debian"):
            step("base image", lambda: make_base_image(engine, f"{IMAGES}/debian"))
        for target in ("base", "node", "rust", "database"):
            step(f"image {target}", partial(stand_in, engine, target))
        step("image backend", lambda: engine.compose("build", *proxy_arguments(), "api", limit_s=3600))
        step("image proxy", lambda: engine.compose("build", *proxy_arguments(), "proxy"))
        if not os.environ.get("KEEP"):  # the next run builds on them
            engine.docker("image", "prune", "--force")


def stand_in(engine: Engine, target: str) -> None:
    """Build one of the images that replace public ones."""
    engine.docker(
        "build", "--network=host", "--target", target, "--tag", f"{IMAGES}/{target}",
        "--build-arg", f"BASE_IMAGE={IMAGES}/debian", *proxy_arguments(), ROOT / "infra/test",
    )  # fmt: skip


def write_settings(folder: Path) -> None:
    """Write what an operator writes into `.env` and into the files of secrets, with the images of the test."""
    settings = {
        "PUBLIC_URL": "http://127.0.0.1:8080",
        "HTTP_PORT": "8080",
        "HTTPS_PORT": "8443",
        "TLS_DIR": str(folder / "tls"),
        "API_REPLICAS": "2",
        "SECRETS_DIR": str(folder / "secrets"),
        "BUILD_NETWORK": "host",
        "BASE_IMAGE": f"{IMAGES}/base",
        "NODE_IMAGE": f"{IMAGES}/node",
        "RUST_IMAGE": f"{IMAGES}/rust",
        "PROXY_IMAGE": f"{IMAGES}/base",
        "REDIS_IMAGE": f"{IMAGES}/base",
        "ENTRANCE_IMAGE": f"{IMAGES}/base",
        "DATABASE_IMAGE": f"{IMAGES}/database",
    }
    for name in ("tls", "secrets"):
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "tls").mkdir()
    (folder / "secrets").mkdir(mode=0o700)
    for name in SECRETS:
        (folder / "secrets" / name).write_text(secrets.token_hex(24) + "\n")
    (folder / "env").write_text("".join(f"SINEMORA_{key}={value}\n" for key, value in settings.items()))


def step(name: str, action: Callable[[], object]) -> None:
    """Do one step and tell how long it took."""
    began = time.monotonic()
    action()
    print(f"{time.monotonic() - began:6.1f} s  {name}", flush=True)


def _journey(folder: Path) -> int:
    """`journey.py` in namespaces of its own: with them end all processes in them, whatever happens."""
    here = Path(__file__).resolve().parent
    return subprocess.run(
        ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
         sys.executable, here / "journey.py", folder],
        stdin=subprocess.DEVNULL,
    ).returncode  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
