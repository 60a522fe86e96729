"""What a person, an agent and an accident do to the running stack. Run by `compose.py`, inside its namespaces."""

import os
import re
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from callers import Callers
from debian_tree import Trouble, run
from engine import ROOT, Engine
from outside import Process, start_agent
from region import Region
from visitor import Visitor
from waits import until

PLAIN = "http://127.0.0.1:8080"
SECURE = "https://127.0.0.1:8443"
# Of this machine, for what is in a container of another network; a block for documentation (RFC 5737).
HOST = "198.51.100.1"
EMAIL = "owner@sinemora.example"


class Journey:
    """The checks, in the order they need one another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.engine = Engine(folder, networked=True)
        self.visitor = Visitor(PLAIN)
        self.password = secrets.token_urlsafe(18)
        self.mesh: str = ""
        self.agents: list[Process] = []
        self.region: Region | None = None
        self.passed = 0
        self.failed = 0

    def run(self) -> bool:
        """Return all of it. Whether everything passed."""
        run("ip", "link", "set", "lo", "up", log=self.folder / "commands.log")
        run("ip", "address", "add", f"{HOST}/32", "dev", "lo", log=self.folder / "commands.log")
        with self.engine:
            # A run that was killed has left its containers in a kept folder, and a database with other passwords.
            self.engine.compose("down", "--volumes", "--timeout", "20")
            try:
                self._checks()
            finally:
                for agent in self.agents:
                    agent.terminate()
                self._keep_logs()
                if self.region:
                    self.region.stop()
                self.engine.compose("down", "--volumes", "--timeout", "20")
        print(f"{self.passed} passed, {self.failed} failed")
        return not self.failed

    def _checks(self) -> None:
        if not self.check("the stack comes up, two API replicas", self.start):
            return
        self.check("the database and Redis are not to be reached from outside", self.closed_ports)
        self.check("no process of the product runs as root", self.nobody_is_root)
        self.check("no container has a secret in its configuration, and no log shows one", self.secrets)
        self.check("the proxy keeps the metrics to itself and refuses an endless body", self.proxy_rules)
        self.check("the built front end is served", self.front_end)
        if not self.check("the first account is created by the code in the log, and signs in", self.sign_in):
            return
        if self.check("two agents outside the containers enrol", self.enrol):
            self.check("the matrix fills with what they measure", self.matrix)
            self.check("a new window is pushed to an open page at once", self.live)
            self.check("a browser shows the numbers the API answers, and new windows without a reload", self.heatmap)
            self.check("a trace larger than other bodies is imported", self.import_trace)
            self.check("API and proxy are replaced, no connection is refused and no window is lost", self.replace)
            self.check("a killed API replica is made good, the other answers meanwhile", self.kill_api)
            self.check("a killed database comes back and windows go on", self.kill_database)
        self.check("every service says that it is healthy", self.healthy)
        if self.check("with a certificate the proxy speaks HTTPS and redirects to it", self.tls):
            self._checks_of_a_region()

    def _checks_of_a_region(self) -> None:
        region = self.region = Region(self.engine, self.visitor, f"https://{HOST}:8443", self.folder / "tls")
        if not self.check("a gateway in a container reaches the backend and is ready", region.start):
            return
        self.check("no process of the gateway runs as root", self.nobody_is_root)
        if self.check("two agents enrol and report through the gateway", region.enrol) and self.check(
            "the backend is stopped, the gateway queues, is killed and keeps its queue", region.lose_the_backend
        ):
            self.check("the backend returns: no acknowledged report is lost", region.find_it_again)

    def check(self, name: str, action: Callable[[], None]) -> bool:
        """Do one check and tell how long it took and how it ended."""
        began = time.monotonic()
        try:
            action()
        except (AssertionError, Trouble, OSError, KeyError, ValueError) as error:
            self.failed += 1
            print(f"{time.monotonic() - began:6.1f} s  FAILED  {name}\n{error!r}", flush=True)
            return False
        self.passed += 1
        print(f"{time.monotonic() - began:6.1f} s  ok  {name}", flush=True)
        return True

    def start(self) -> None:
        self.engine.compose("up", "-d", "--no-build")
        until(lambda: self.visitor.get("/readyz").json["status"] == "ready")
        assert len(self.engine.containers("api")) == 2

    def closed_ports(self) -> None:
        for port in (5432, 6379, 8420):
            with socket.socket() as client:
                client.settimeout(1)
                assert client.connect_ex(("127.0.0.1", port)) != 0, f"port {port} is open"

    def nobody_is_root(self) -> None:
        for container in self._running():
            listing = self.engine.ask("top", container, "-eo", "pid,uid,comm").splitlines()[1:]
            # Docker starts the health check of the database as the container's user, which is root.
            of_docker = ("docker-init", "pg_isready")
            rooted = [line for line in listing if line.split()[1] == "0" and line.split()[2] not in of_docker]
            assert listing, f"nothing runs in {container}"
            assert not rooted, f"root runs {rooted}"

    def secrets(self) -> None:
        words = [file.read_text().strip() for file in (self.folder / "secrets").iterdir()]
        for container in self.engine.ask("ps", "-aq").split():
            shown = self.engine.ask("inspect", container) + self.engine.log_of(container)
            shown += self.engine.ask("top", container, "-eo", "pid,args") if container in self._running() else ""
            leaked = [word for word in words if word in shown]
            assert not leaked, f"{self.engine.ask('inspect', '-f', '{{.Name}}', container)} shows {len(leaked)} secrets"

    def _running(self) -> list[str]:
        return self.engine.ask("ps", "-q").split()

    def proxy_rules(self) -> None:
        assert self.visitor.get("/metrics").status == 404
        answer = self.visitor.post("/v1/auth/sign-in", b"x" * 9_000_000)
        assert (answer.status, answer.json["code"]) == (413, "body_too_large")

    def front_end(self) -> None:
        page = self.visitor.get("/")
        assert page.status == 200
        assert b'<div id="root">' in page.body

    def sign_in(self) -> None:
        assert self.visitor.get("/v1/auth/status").json["first_account_due"]
        shown = "".join(map(self.engine.log_of, self.engine.containers("api")))
        logged = re.search(r"/sign-in#code=(\w+)", shown)
        assert logged, "no code in the log of the API"
        account = {"code": logged[1], "email": EMAIL, "password": self.password, "tenant_name": "Sinemora"}
        assert self.visitor.post("/v1/auth/first-account", account).status == 204
        assert self.visitor.sign_in(EMAIL, "wrong").json["code"] == "bad_credentials"
        answer = self.visitor.sign_in(EMAIL, self.password)
        assert answer.status == 200, answer.body

    def enrol(self) -> None:
        mesh = self.visitor.post("/v1/meshes", {"name": "demo", "window_s": 2})
        assert mesh.status == 201, mesh.body
        self.mesh = mesh.json["id"]
        token = self.visitor.post("/v1/enrolment-tokens", {"mesh_id": self.mesh, "expires_in_s": 600, "max_uses": 2})
        assert token.status == 201, token.body
        for number in (1, 2):
            state = self.folder / f"agent-{number}"
            address = f"127.20.0.{number}"
            self.agents.append(start_agent(state, f"outside-{number}", address, token.json["token"], PLAIN))
        until(lambda: len(self.visitor.get("/v1/agents").json["items"]) == 2)

    def matrix(self) -> None:
        until(lambda: self._measured() == 2)
        found = self.visitor.get(f"/v1/meshes/{self.mesh}/matrix?by=vm&metric=round_trip&statistic=p50").json
        delays = [value for row in found["values"] for value in row if value is not None]
        assert len(delays) == 2
        assert all(100 < delay < 50_000_000 for delay in delays), f"no loopback delays: {delays}"

    def _measured(self) -> int:
        found = self.visitor.get(f"/v1/meshes/{self.mesh}/matrix?by=vm&metric=one_way_delay&statistic=p50").json
        return sum(state == "measured" for row in found["states"] for state in row)

    def live(self) -> None:
        with self.visitor.open("GET", f"/v1/meshes/{self.mesh}/live", limit_s=30) as stream:
            began = time.monotonic()
            for line in stream:
                if line.strip() == b"event: window":
                    return
                assert time.monotonic() - began < 30, "no window within 30 s"
        raise AssertionError("the stream ended")

    def heatmap(self) -> None:
        seen = {"SINEMORA_E2E_URL": PLAIN, "SINEMORA_E2E_EMAIL": EMAIL, "SINEMORA_E2E_PASSWORD": self.password}
        run(
            sys.executable, ROOT / "infra/toolchain/run.py", "--in", "e2e", "npx", "--no-install", "playwright", "test",
            "heatmap", "--grep", "numbers the API answers|without a reload",
            log=self.folder / "browser.log", env=os.environ | seen, limit_s=300,
        )  # fmt: skip

    def import_trace(self) -> None:
        mesh = self.visitor.post("/v1/meshes", {"name": "trace", "window_s": 10}).json["id"]
        start = int(time.time()) // 60 * 60 - 600
        lines = [f"{start + number % 60},x,y,{number + 1000},{'.' * 4_000}" for number in range(2_400)]
        trace = "\n".join(["at,source,target,round_trip_ns,note", *lines]).encode()
        answer = self.visitor.post(f"/v1/meshes/{mesh}/imports?kind=csv", trace)
        assert answer.status == 202, answer.body
        until(lambda: self.visitor.get(f"/v1/jobs/{answer.json['id']}").json["state"] == "succeeded")

    def replace(self) -> None:
        """Replace the containers as an operator does, while eight threads open connections and two agents report."""
        before = {*self.engine.containers("api"), *self.engine.containers("proxy")}
        began = datetime.now(UTC)
        with Callers(8, 8080) as callers:
            self.engine.replace("api", "proxy")
        assert callers.answered > 100, callers
        assert (callers.refused, callers.broken) == (0, 0), callers
        assert not before & {*self.engine.containers("api"), *self.engine.containers("proxy")}
        until(lambda: self._newest() > began)

    def kill_api(self) -> None:
        victim = self.engine.containers("api")[0]
        self._kill(victim)
        answers = [self.visitor.get("/healthz").status for _ in range(20)]
        assert answers.count(200) == 20, f"answers while one replica was away: {answers}"
        until(lambda: self.engine.ask("inspect", "-f", "{{.State.Health.Status}}", victim) == "healthy")

    def kill_database(self) -> None:
        victim = self.engine.containers("database")[0]
        self._kill(victim)
        until(lambda: self.engine.ask("inspect", "-f", "{{.RestartCount}} {{.State.Running}}", victim) == "1 true")
        until(lambda: self.visitor.get("/readyz").json["status"] == "ready")
        back = datetime.now(UTC)
        until(lambda: self._newest() > back)

    def _newest(self) -> datetime:
        answer = self.visitor.get(f"/v1/meshes/{self.mesh}/matrix?by=vm&metric=round_trip&statistic=p50")
        return datetime.fromisoformat(answer.json["window"]["to"])

    def _kill(self, container: str) -> None:
        """`kill -9` of the first process, from outside: the restart policy must answer it."""
        os.kill(int(self.engine.ask("inspect", "-f", "{{.State.Pid}}", container)), signal.SIGKILL)

    def healthy(self) -> None:
        def sick() -> list[str]:
            shown = self.engine.ask("ps", "--format", "{{.Names}} {{.Status}}").splitlines()
            return [line for line in shown if "(healthy)" not in line]

        try:
            until(lambda: not sick())
        except AssertionError:
            raise AssertionError(f"not healthy: {', '.join(sick())}") from None

    def tls(self) -> None:
        tls = self.folder / "tls"
        run(
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
            "-addext", "basicConstraints=critical,CA:FALSE", "-addext", f"subjectAltName=IP:127.0.0.1,IP:{HOST}",
            "-keyout", tls / "tls.key", "-out", tls / "tls.crt", log=self.folder / "commands.log",
        )  # fmt: skip
        for file in tls.iterdir():
            os.chown(file, 10001, 10001)
        settings = self.folder / "env"
        settings.write_text(settings.read_text().replace(PLAIN, SECURE))
        self.engine.compose("up", "-d", "--no-build")
        secure = Visitor(SECURE)
        until(lambda: secure.get("/readyz").json["status"] == "ready")
        assert secure.sign_in(EMAIL, self.password).status == 200
        moved = self.visitor.get("/healthz")
        assert (moved.status, moved.headers["Location"]) == (308, f"{SECURE}/healthz")
        self.visitor = secure

    def _keep_logs(self) -> None:
        if self.failed:
            for container in self.engine.ask("ps", "-aq", "--filter", "label=com.docker.compose.project").split():
                name = self.engine.ask("inspect", "-f", "{{.Name}}", container).strip("/")
                print(f"--- {name}\n{self.engine.tail(container)}")


if __name__ == "__main__":
    sys.exit(0 if Journey(Path(sys.argv[1])).run() else 1)
