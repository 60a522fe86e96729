"""A Docker engine of our own for one test: own data, own socket, gone afterwards. No other engine is touched."""

import os
import shutil
import subprocess
import tarfile
import time
from pathlib import Path

from debian_tree import Trouble, make_tree, proxy_environment, registry_environment, run, system_path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"dockerd": "docker.io", "docker-compose": "docker-compose", "debootstrap": "debootstrap"}


class Engine:
    """`dockerd` with everything it owns below `folder`.

    `networked=False` is for builds: they use the network of the machine, and no bridge or packet filter is made.
    `networked=True` makes bridges and packet filters as in production, so it belongs in a network namespace of its own.
    """

    def __init__(self, folder: Path, *, networked: bool) -> None:
        self.folder = folder
        self.networked = networked
        self.log = folder / "commands.log"
        self.env = os.environ | {
            "PATH": system_path(),
            "DOCKER_HOST": f"unix://{folder}/docker.sock",
            "DOCKER_CONFIG": str(folder / "client"),
            "DOCKER_BUILDKIT": "0",
            "COMPOSE_PROJECT_NAME": "sinemora-test",
        }
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Engine":
        self.folder.mkdir(parents=True, exist_ok=True)
        for driver in ("overlay2", "vfs"):
            if self._start(driver):
                return self
        raise Trouble(f"dockerd does not start; its log: {self.folder / 'dockerd.log'}")

    def __exit__(self, *_: object) -> None:
        if self._process is None:
            return
        self._process.terminate()  # it ends its containers and its containerd
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        # The name of its network namespace stays mounted, and would keep the folder from being removed.
        subprocess.run(["umount", self.folder / "exec/netns/default"], capture_output=True)

    def _start(self, driver: str) -> bool:
        network = [] if self.networked else ["--bridge=none", "--iptables=false", "--ip6tables=false"]
        with (self.folder / "dockerd.log").open("ab") as out:
            self._process = subprocess.Popen(
                [
                    "dockerd", "--data-root", self.folder / "data", "--exec-root", self.folder / "exec",
                    "--pidfile", self.folder / "dockerd.pid", "--host", f"unix://{self.folder}/docker.sock",
                    "--storage-driver", driver, *network,
                ],
                env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            )  # fmt: skip
        for _ in range(150):
            if self._process.poll() is not None:
                return False
            if subprocess.run(["docker", "version"], env=self.env, capture_output=True).returncode == 0:
                return True
            time.sleep(0.2)
        self.__exit__()
        return False

    def docker(self, *arguments: str | Path, limit_s: float = 900) -> None:
        """`docker …`; Trouble when it fails."""
        run("docker", *arguments, log=self.log, env=self.env, cwd=ROOT, limit_s=limit_s)

    def compose(self, *arguments: str, limit_s: float = 900) -> None:
        """`docker-compose …` on the production stack, unchanged, with the settings of `folder/env`."""
        run("docker-compose", *self._stack(), *arguments, log=self.log, env=self.env, cwd=ROOT, limit_s=limit_s)

    def compose_gateway(self, settings: Path, *arguments: str, limit_s: float = 900) -> None:
        """`docker-compose …` on a gateway in a project of its own, unchanged, with the settings of a file."""
        file = ROOT / "infra/docker/gateway.yml"
        project = ("--project-name", "sinemora-region", "--project-directory", ROOT, "--env-file", settings, "-f", file)
        run("docker-compose", *project, *arguments, log=self.log, env=self.env, cwd=ROOT, limit_s=limit_s)

    def replace(self, *services: str) -> None:
        """Replace the containers of services as `infra/docker/replace.sh` does."""
        env = self.env | {"COMPOSE": " ".join(["docker-compose", *self._stack()]), "PATIENCE_S": "600"}
        run("sh", ROOT / "infra/docker/replace.sh", *services, log=self.log, env=env, cwd=ROOT, limit_s=2400)

    def ask(self, *arguments: str) -> str:
        """Return what `docker …` prints."""
        answer = subprocess.run(["docker", *arguments], env=self.env, capture_output=True, text=True, timeout=60)
        return answer.stdout.strip()

    def containers(self, service: str) -> list[str]:
        """Return the identifiers of the running containers of a service."""
        return self.ask("ps", "-q", "--filter", f"label=com.docker.compose.service={service}").split()

    def tail(self, container: str) -> str:
        """Return the end of what a container wrote."""
        return self.log_of(container, "--tail", "30")

    def log_of(self, container: str, *options: str) -> str:
        """Return what a container wrote."""
        answer = subprocess.run(
            ["docker", "logs", *options, container], env=self.env, capture_output=True, text=True, timeout=60
        )
        return answer.stdout + answer.stderr

    def _stack(self) -> list[str]:
        return ["--env-file", str(self.folder / "env"), "-f", str(ROOT / "docker-compose.yml")]


def make_base_image(engine: Engine, name: str) -> None:
    """Import a minimal Debian with the machine's registry settings as the image `name`."""
    tree = engine.folder / "base"
    make_tree(tree, ["ca-certificates"], engine.log)
    with tarfile.open(engine.folder / "base.tar", "w") as archive:
        archive.add(tree, "/")
    shutil.rmtree(tree)
    changes = [f"--change=ENV {key}={value}" for key, value in registry_environment().items() if " " not in value]
    engine.docker("import", *changes, engine.folder / "base.tar", name)
    (engine.folder / "base.tar").unlink()


def proxy_arguments() -> list[str]:
    """Return build arguments that hand on the machine's HTTP proxies; Docker knows these names without an ARG."""
    return [f"--build-arg={key}={value}" for key, value in proxy_environment().items()]
