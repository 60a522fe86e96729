"""Command `sinemora up`: starts the product from an empty folder and reports each step."""

import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import redis

from sinemora.kit.config import Settings
from sinemora.kit.database_role import UNCONFINED, unconfined_role
from sinemora.kit.folder_settings import FolderSettings
from sinemora.operations.embedded import ports
from sinemora.operations.embedded.data_folder import DataFolder, checkout, locate
from sinemora.operations.embedded.demo import machines as demo
from sinemora.operations.embedded.demo import programs as demo_programs
from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.own_gateway import own_gateway
from sinemora.operations.embedded.programs import Program
from sinemora.operations.embedded.servers.service_user import ServiceUser, hand_over, product_user, service_user
from sinemora.operations.embedded.services import Engines, environment, local_address, services, shared, template
from sinemora.operations.embedded.story.chapters import MACHINES
from sinemora.operations.embedded.supervisor import StopRequestedError, Supervisor

STEPS = 6  # infra/toolchain/prepare.py uses this number
_RETRY_S = 2.0
_SIMULATED_S = 90.0
_REMIND_S = 30.0


class Progress:
    """Progress of the steps, continued from those of the toolchain."""

    def __init__(self) -> None:
        before = json.loads(os.environ.pop("SINEMORA_STEPS_DONE", "null")) or {"total": STEPS, "times": []}
        self.total: int = before["total"]
        self.times: list[tuple[str, float]] = [(title, duration_s) for title, duration_s in before["times"]]
        self._began: float = before.get("began", time.monotonic())

    def step(self, title: str, action: Callable[[], str]) -> None:
        """Run `action`; print its number, its duration and the note that it returns."""
        print(f"[{len(self.times) + 1}/{self.total}] {title} …", end=" ", flush=True)
        started = time.monotonic()
        try:
            note = action()
        except BaseException as error:
            print("stopped" if isinstance(error, (StopRequestedError, KeyboardInterrupt)) else "failed", flush=True)
            raise
        duration_s = time.monotonic() - started
        self.times.append((title, duration_s))
        print(f"{duration_s:.1f} s" + (f"  ({note})" if note else ""), flush=True)

    def summary(self) -> str:
        """Return the time since the start and of each slow step; some steps ran in parallel."""
        slow = [f"{title} {duration_s:.1f}" for title, duration_s in self.times if duration_s >= 0.1]
        return f"Ready in {time.monotonic() - self._began:.0f} s: {' · '.join(slow)}"


def up(settings: Settings) -> int:
    """Start the product and keep it running until a signal stops it. Return the exit code.

    Raises EmbeddedError when it cannot start; RunningError when one runs on the same folder.
    """
    user = service_user(settings.service_user)
    path, why = locate(settings, user)
    folder = DataFolder(path)
    if folder.running() is None:
        require_port(settings)
    folder.claim(user)
    with folder.held():
        print(f"Data folder: {path}" + (f" ({why})" if why else ""))
        if user.warning:
            print(user.warning)
        runner, reason = product_user(user, settings.port)
        if reason:
            print(f"API, workers and agents run as root: {reason}. Only the database does not.")
        supervisor = Supervisor(folder, settings.public_url, _report, local_address(settings))
        supervisor.install()
        launch = _Launch(settings, folder, supervisor, Engines.of(settings, folder, user), runner)
        try:
            launch.run()
            supervisor.run()
        except StopRequestedError:
            pass
        finally:
            launch.print_password()
            print("\nStopping …", flush=True)
            started = time.monotonic()
            supervisor.stop()
            print(f"Stopped in {time.monotonic() - started:.1f} s. The data stay in {path}.", flush=True)
    return 0


class _Launch:
    """Start of the product; the steps share their results."""

    def __init__(
        self, settings: Settings, folder: DataFolder, supervisor: Supervisor, engines: Engines, user: ServiceUser
    ) -> None:
        self.settings = settings
        self.user = user
        self.folder = folder
        self.supervisor = supervisor
        self.engines = engines
        self.progress = Progress()
        self.env: dict[str, str] = {}
        self.template: Path | None = None
        self.demo_error: EmbeddedError | None = None
        self.agent_is_being_built = False
        self.first_run: dict[str, Any] = {}

    def run(self) -> None:
        """Run all steps, then print the summary with the URL and the owner's password."""
        for title, action in (
            ("Starting the database and Valkey", self.start_engines),
            ("Migrating the database", self.migrate),
            ("First tenant, owner and mesh", self.make_owner),
            ("Starting API, worker and beat", self.start_services),
            (f"Starting the demonstration mesh ({self.settings.demo_agents} agents)", self.start_demo),
            ("Loading a simulated network with a day of history", self.load_simulated),
        ):
            self.progress.step(title, action)
        self.print_summary()

    def start_engines(self) -> str:
        """Start the embedded PostgreSQL and Valkey, or wait for the external ones."""
        programs = self.engines.programs()
        self.supervisor.add(programs)
        self.supervisor.wait_up([program.name for program in programs], timeout_s=120)
        self.env = environment(self.settings, self.folder, self.engines)
        if not self.user.is_caller:
            self.env["HOME"] = str(self.folder.path)  # that of root is closed to the user
        if (
            self._plays_story()
            and "receiver_networks" not in self.settings.model_fields_set
            and _is_private(self.settings)
        ):
            self.env["SINEMORA_RECEIVER_NETWORKS"] = "127.0.0.0/8"  # the story's receiver listens on this machine
        if self.engines.postgres:
            self.engines.postgres.provision()
        else:
            urls = self.settings.database_owner_url, self.settings.database_url, self.settings.database_system_url
            for url in dict.fromkeys(urls):
                self._await_database(url)
        if not self.engines.valkey:
            self._await_redis(self.settings.redis_url)
        loaded, self.template = template(self.folder, self.env, self.user)
        self.supervisor.add([loaded])
        self.supervisor.pump()  # it loads the product while the database is migrated
        return "" if self.engines.postgres else "external database"

    def migrate(self) -> str:
        """Migrate the schema as the owner role."""
        self._run_module("Migrating the database", "migrate.log", "sinemora.migrate")
        return ""

    def make_owner(self) -> str:
        """Create the first tenant, its owner and the demonstration mesh."""
        machines = demo.machines(self.settings.demo_agents, self.folder, self._network())
        known = [f"{machine.name}={machine.agent_id}" for machine in machines]
        answer = self._run_module(
            "Creating the owner", "first-run.log", "sinemora.operations.embedded.first_run", *known
        )
        self.first_run = json.loads(answer)
        return "" if self.first_run["created"] else "exists already"

    def start_services(self) -> str:
        """Start API, workers and beat as forks of one process that has loaded the product."""
        backend = local_address(self.settings)
        gateway = own_gateway(self.settings, self.folder, backend, self.env, self.user)
        programs = services(self.settings, self.folder, self.env, self.user)
        self.supervisor.wait_up(["template"], timeout_s=300)
        self.supervisor.add(replace(program, template=self.template) for program in programs)
        self.supervisor.wait_up([program.name for program in programs], timeout_s=300)
        if gateway:
            self.supervisor.add([gateway])
        return ""

    def start_demo(self) -> str:
        """Start the agents, or let them start once they are built. A failure does not stop the product."""
        if self.settings.demo_agents == 0:
            return "none configured"
        self.agent_is_being_built = self._adopt_build()
        needs = ("api", demo_programs.BUILD) if self.agent_is_being_built else ("api",)
        try:
            count, net = self.settings.demo_agents, self._network()
            machines = demo.machines(count, self.folder, net, demo.free_event_port(count, self.folder, net))
            place = self.folder.path / "demo"
            story = self._plays_story()
            programs = [demo_programs.network(machines, place, shared(self.env), needs, self.user, story=story)]
            programs += demo_programs.agents(
                machines,
                self.first_run["token"],
                self.first_run["unenrolled"],
                local_address(self.settings),
                self.env,
                (*needs, demo_programs.NETWORK),
                self.user,
            )
            hand_over(place, self.user)
            self.supervisor.add(programs)
            if self.agent_is_being_built:
                return "they start when the agent is built"
            self.supervisor.wait_up([program.name for program in programs], timeout_s=30)
        except EmbeddedError as error:
            self.demo_error = error
            return "failed, see below"
        return ""

    def load_simulated(self) -> str:
        """Load the simulated network that is shown from the first second on. A failure does not stop the product."""
        if not self._plays_story():
            return "none configured"
        place = self.folder.path / "demo"
        program = demo_programs.simulated_network(place, local_address(self.settings), shared(self.env), self.user)
        self.supervisor.add([program])
        try:
            self.supervisor.wait_up([program.name], _SIMULATED_S)
        except EmbeddedError:
            return f"continues in the background; its log: make logs OF={program.name}"
        return ""

    def print_summary(self) -> None:
        """Print the URL, how to sign in, and the next commands."""
        print(
            f"\n{self.progress.summary()}\n\n"
            f"  Open      {self.settings.public_url}\n  E-mail    {self.settings.owner_email}"
        )
        if self.first_run["created"] and not self.first_run["password"]:
            print("  Password  the one set in SINEMORA_OWNER_PASSWORD")
        self.print_password()
        if self.demo_error:
            print(f"\nDemonstration failed: {self.demo_error.what}\nWhat to do: {self.demo_error.advice}")
        if self.agent_is_being_built:
            print("\nThe agent is still being built; the demonstration starts afterwards.")
        by = "make" if checkout() else "sinemora"
        print(f"\nCtrl-C stops it. In another terminal: {by} status, {by} logs, {by} down.\n", flush=True)

    def print_password(self) -> None:
        """Print a generated password once, also when a later step failed: it is not stored."""
        if password := self.first_run.pop("password", None):
            print(f"  Password  {password}\n            shown only this once: note it down", flush=True)

    def _adopt_build(self) -> bool:
        """Watch the process that builds the agent, if `make up` has started one."""
        if not (pid := os.environ.pop("SINEMORA_AGENT_BUILD", "")):
            return False
        root = checkout() or Path.cwd()
        build = Program(demo_programs.BUILD, "Building the agent", [], root, {}, once=True)
        self.supervisor.adopt(build, int(pid), root / ".tools" / "logs" / "agent-build.log")
        return True

    def _plays_story(self) -> bool:
        names = {machine.name for machine in demo.machines(self.settings.demo_agents, self.folder, self._network())}
        return self.settings.demo_story == "on" and names >= MACHINES

    def _network(self) -> str:
        return demo.network_of(self.folder, chosen="data_dir" in self.settings.model_fields_set)

    def _run_module(self, what: str, log_name: str, module: str, *arguments: str) -> str:
        """Run a module of the product to its end and return its output. Standard error goes to a log."""
        log = self.folder.logs / log_name
        with log.open("w") as complaints:
            process: subprocess.Popen[str] = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=complaints,
                text=True,
                process_group=0,
                **self.user.popen_identity(),  # type: ignore[call-overload]
            )
            printed, _ = process.communicate()
        if process.returncode != 0:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-12:])
            raise EmbeddedError(f"{what} failed. The end of its log:\n{tail}", f"The whole log: {log}")
        return printed

    def _await_database(self, url: str) -> None:
        """Wait for the external database. EmbeddedError when its role would see every tenant."""
        dsn = url.replace("postgresql+psycopg://", "postgresql://", 1)

        def connect() -> None:
            with psycopg.connect(dsn, connect_timeout=5) as connection:
                if url == self.settings.database_url and (role := unconfined_role(connection)):
                    raise EmbeddedError(
                        UNCONFINED.format(role=role),
                        "Create a role as docs/databases.md shows, and set it in SINEMORA_DATABASE_URL.",
                    )

        self._await(f"database at {urlsplit(dsn).hostname or 'its socket'}", connect, psycopg.OperationalError)

    def _await_redis(self, url: str) -> None:
        """Wait for the external Redis."""

        def ping() -> None:
            with redis.Redis.from_url(url, socket_timeout=5, socket_connect_timeout=5) as client:
                client.ping()

        self._await(f"Redis at {urlsplit(url).hostname or 'its socket'}", ping, redis.RedisError)

    def _await(self, what: str, connect: Callable[[], None], absent: type[Exception]) -> None:
        """Repeat `connect` until it succeeds; print the reason of failures now and then."""
        reported_at = float("-inf")
        while True:
            try:
                return connect()
            except absent as error:
                if time.monotonic() - reported_at > _REMIND_S:
                    reported_at = time.monotonic()
                    reason = str(error).strip().splitlines()[0]
                    print(f"\n  The {what} does not respond yet: {reason}\n  Trying again; Ctrl-C stops.")
            self.supervisor.pause(_RETRY_S)


def require_port(settings: Settings) -> None:
    """Check that the API can listen. EmbeddedError when the port is taken (with the process) or not permitted."""
    error = ports.tcp_refusal(settings.host, settings.port)
    if error is None:
        return
    if error.errno != errno.EADDRINUSE:
        raise EmbeddedError(
            f"Nothing can listen on {settings.host} port {settings.port}: {error.strerror}.",
            "Set SINEMORA_HOST to an address of this machine (0.0.0.0: all), SINEMORA_PORT to a permitted port"
            " (below 1024 only for root).",
        )
    holder = ports.tcp_holder(settings.port)
    raise EmbeddedError(
        f"Port {settings.port} on {settings.host} is taken" + (f" by {holder}." if holder else "."),
        f"Choose another: make up SINEMORA_PORT={_free_port(settings)}",
    )


def _free_port(settings: Settings) -> int:
    candidates = range(settings.port + 1, min(settings.port + 100, 65536))
    return next((port for port in candidates if ports.tcp_free(settings.host, port)), 18420)


def _report(what: str) -> None:
    with suppress(OSError):  # a file on a full disk, a terminal that is gone
        print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)


def _is_private(settings: Settings) -> bool:
    """Return whether only this machine reaches the product."""
    return settings.host in ("127.0.0.1", "::1", "localhost")


def data_folder(settings: FolderSettings) -> DataFolder:
    """Return the data folder without creating it."""
    path: Path = locate(settings, service_user(settings.service_user))[0]
    return DataFolder(path)
