"""Programs of the embedded product for given settings."""

import os
import secrets
import signal
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from sinemora.kit import config, secret_files
from sinemora.kit.bundled import bundled
from sinemora.kit.config import Settings
from sinemora.operations.embedded.data_folder import DataFolder, checkout
from sinemora.operations.embedded.programs import Program, PulseCheck, forked
from sinemora.operations.embedded.servers import valkey
from sinemora.operations.embedded.servers.postgres import DATABASE, OWNER_ROLE, SUPERUSER, SYSTEM_ROLE, PostgresServer
from sinemora.operations.embedded.servers.service_user import ServiceUser, service_user
from sinemora.operations.embedded.servers.sockets import private_dir, socket_dir
from sinemora.operations.embedded.servers.valkey import ValkeyServer

_TEMPLATE = "sinemora.operations.embedded.template"
_BUSY_S = 300.0
"""Time that one unit of work may take while it uses the processor, s."""
_EVALUATORS_MAX = 8
"""Most processes that evaluate alerts, one for each core; each takes some 100 MB."""
_RAW_DAYS = 31
"""Days for which windows are kept unless the settings name another number: `make demo` loads thirty days of them."""
_CELERY = (sys.executable, "-m", "celery", "--app", "sinemora.worker", "--quiet")
_PRIVATE = ("SINEMORA_OWNER_PASSWORD", "SINEMORA_DATABASE_OWNER_URL", "SINEMORA_DATABASE_OWNER_PASSWORD")


@dataclass(frozen=True)
class Engines:
    """Embedded servers; None where the settings name an external server."""

    postgres: PostgresServer | None
    valkey: ValkeyServer | None

    @classmethod
    def of(cls, settings: Settings, folder: DataFolder, user: ServiceUser) -> "Engines":
        """Return the servers that `settings` do not name."""
        return cls(
            None if settings.database_url else PostgresServer(folder.path, user),
            None if settings.redis_url else ValkeyServer(folder.path, user),
        )

    def programs(self) -> list[Program]:
        """Prepare the files of the servers and return their programs."""
        programs: list[Program] = []
        if self.postgres:
            self.postgres.prepare()
            programs.append(
                Program(
                    name="postgres",
                    title="PostgreSQL",
                    command=self.postgres.command(),
                    cwd=self.postgres.cluster,
                    environment=self.postgres.environment(),
                    user=self.postgres.user,
                    ready=self.postgres.ready,
                    responds=self.postgres.responds,
                    before_start=self.postgres.stop_leftover,
                    stop_signal=signal.SIGINT,  # fast shutdown: ends sessions, writes a checkpoint
                    stop_timeout_s=20,
                )
            )
        if self.valkey:
            self.valkey.prepare()
            programs.append(
                Program(
                    name="valkey",
                    title="Valkey",
                    command=self.valkey.command(),
                    cwd=self.valkey.folder,
                    environment=self.valkey.environment(),
                    user=self.valkey.user,
                    ready=self.valkey.ready,
                    responds=self.valkey.ready,
                )
            )
        return programs


def environment(settings: Settings, folder: DataFolder, engines: Engines) -> dict[str, str]:
    """Return the environment of the product's processes: the caller's, with the embedded servers."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
    env["SINEMORA_DATA_DIR"] = str(folder.path)
    env["PYTHONUNBUFFERED"] = "1"
    if engines.postgres:
        env["SINEMORA_DATABASE_URL"] = engines.postgres.dsn()
        env["SINEMORA_DATABASE_OWNER_URL"] = engines.postgres.dsn(OWNER_ROLE)
        env["SINEMORA_DATABASE_SYSTEM_URL"] = engines.postgres.dsn(SYSTEM_ROLE)
    elif settings.database_system_url == settings.database_owner_url:
        # The services do not get the URL of the owner, which this one defaults to.
        system = ("SINEMORA_DATABASE_SYSTEM_URL", "SINEMORA_DATABASE_SYSTEM_PASSWORD")
        env = secret_files.forget(env, system) | {system[0]: settings.database_system_url}
    if engines.valkey:
        env["SINEMORA_REDIS_URL"] = engines.valkey.url()
    if "retention_raw_days" not in settings.model_fields_set:
        env["SINEMORA_RETENTION_RAW_DAYS"] = str(_RAW_DAYS)
    if settings.secret_key is None:
        env["SINEMORA_SECRET_KEY"] = _secret_key(folder)
    env["SINEMORA_ARCHIVE"] = "on" if archives(settings, engines) else "off"
    root = checkout()
    if settings.frontend_dir is None and (bundled("frontend") / "index.html").is_file():
        env["SINEMORA_FRONTEND_DIR"] = str(bundled("frontend"))
    if settings.packages_dir is None and root:
        env["SINEMORA_PACKAGES_DIR"] = str(root / "agent" / "dist")  # empty until `make packages`
    return env


def archives(settings: Settings, engines: Engines) -> bool:
    """Return whether the database is archived in object storage."""
    if settings.archive == "auto":
        return engines.postgres is not None and bool(settings.storage_bucket)
    return settings.archive == "on"


def use_settings_of(settings: Settings, folder: DataFolder) -> None:
    """Give this process the settings of the product's processes, for example of the database."""
    user = service_user(settings.service_user)
    os.environ.update(environment(settings, folder, Engines.of(settings, folder, user)))
    config.settings.cache_clear()


def _secret_key(folder: DataFolder) -> str:
    """Return the encryption key, generated once and kept in the data folder, readable by its owner only."""
    path = folder.path / "secret.key"
    if not path.exists():
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(32))
    return path.read_text("utf-8").strip()


def operator_environment(settings: Settings, folder: DataFolder, user: ServiceUser) -> dict[str, str]:
    """Return the environment of an operator's command: the product's settings and PostgreSQL's tools."""
    engines = Engines.of(settings, folder, user)
    return environment(settings, folder, engines) | _database_tools(engines)


def _database_tools(engines: Engines) -> dict[str, str]:
    """Return the variables by which PostgreSQL's programs find the embedded server; none for another one."""
    if engines.postgres is None:
        return {}
    tools = (str(Path(sys.executable).parent), str(engines.postgres.programs), os.environ.get("PATH", os.defpath))
    return {
        "PATH": os.pathsep.join(tools),
        "PGHOST": str(engines.postgres.socket_folder),
        "PGUSER": SUPERUSER,
        "PGDATABASE": DATABASE,
    }


def shared(env: dict[str, str]) -> dict[str, str]:
    """Return the environment without what only the first steps need: the owner's password, the schema owner's URL."""
    return secret_files.forget(env, _PRIVATE)


def template(folder: DataFolder, env: dict[str, str], user: ServiceUser) -> tuple[Program, Path]:
    """Return the program that API, workers and beat are forked from, and its socket."""
    path = socket_dir(folder.path, "template", "socket", user) / "socket"
    program = Program(
        name="template",
        title="Template",
        command=[sys.executable, "-m", _TEMPLATE, str(path), "celery.bin.worker", "sinemora.main", "sinemora.worker"],
        cwd=Path.cwd(),
        environment=shared(env),
        user=user,
        before_start=lambda: path.unlink(missing_ok=True),
        ready=lambda: forked(path, {}) is not None,
        responds=lambda: forked(path, {}) is not None,
    )
    return program, path


def services(settings: Settings, folder: DataFolder, env: dict[str, str], user: ServiceUser) -> list[Program]:
    """Return the programs of API, workers, beat and, if it is set up, the archiver, which run as `user`."""
    own = shared(env)
    here = Path.cwd()
    place = private_dir(folder.path / "run" / "services", user)
    engines = ("postgres", "valkey")
    redis_url = env.get("SINEMORA_REDIS_URL", settings.redis_url)
    beats = PulseCheck(place / "beat-pulse")
    return [
        Program(
            name="api",
            title="API",
            command=[sys.executable, "-m", "sinemora.cli", "serve"],
            cwd=here,
            environment=own,
            user=user,
            needs=engines,
            ready=lambda: answers(local_address(settings) + "/readyz"),
            responds=lambda: answers(local_address(settings) + "/healthz", timeout_s=5),
            stop_timeout_s=6,
        ),
        # Small machines have two cores. Work that must not wait for other work has processes of its own.
        _worker("watcher", "Watcher", "watch", min(_cores(), _EVALUATORS_MAX), own, place, redis_url, user),
        _worker("notifier", "Notifier", "notices,fast", 16, own, place, redis_url, user, pool="threads"),
        _worker("worker", "Worker", "upkeep", 2, own, place, redis_url, user),
        _worker("mover", "Mover", "bulk", 2, own, place, redis_url, user),
        _worker("solver", "Solver", "solve", 1, own, place, redis_url, user),
        Program(
            name="beat",
            title="Beat",
            command=[
                *_CELERY,
                "beat",
                "--loglevel=INFO",
                f"--schedule={place / 'beat-schedule'}",
                "--pidfile=",
            ],
            cwd=here,
            environment=own | {"SINEMORA_WORKER_PULSE_FILE": str(place / "beat-pulse")},
            user=user,
            needs=engines,
            before_start=beats.begin,
            responds=beats.responds,
        ),
        *_archiver(settings, folder, own, user),
    ]


def _archiver(settings: Settings, folder: DataFolder, env: dict[str, str], user: ServiceUser) -> list[Program]:
    """Return the program that archives the database, if one is to run here: not for a database that no URL names."""
    engines = Engines.of(settings, folder, user)
    if not archives(settings, engines) or not (engines.postgres or settings.database_archive_url):
        return []
    spool = private_dir(folder.path / "archive", user)
    return [
        Program(
            name="archiver",
            title="Archiver",
            command=[sys.executable, "-m", "sinemora.cli", "archive", "--storage", f"--spool={spool}"],
            cwd=Path.cwd(),
            environment=env | _database_tools(engines),
            user=user,
            needs=("postgres",),
            stop_timeout_s=15,
        )
    ]


def _cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def _worker(
    name: str,
    title: str,
    queues: str,
    processes: int,
    env: dict[str, str],
    place: Path,
    redis_url: str,
    user: ServiceUser,
    pool: str = "prefork",
) -> Program:
    pulse = place / f"{name}-pulse"
    # No work is expected while the broker is unavailable.
    beats = PulseCheck(pulse, excused=lambda: not valkey.answers(redis_url))
    return Program(
        name=name,
        title=title,
        command=[
            *_CELERY,
            "worker",
            f"--hostname={name}@%h",
            "--loglevel=INFO",
            f"--queues={queues}",
            f"--pool={pool}",
            f"--concurrency={processes}",
            "--without-gossip",
            "--without-mingle",
        ],
        cwd=Path.cwd(),
        environment=env | {"SINEMORA_WORKER_PULSE_FILE": str(pulse)},
        user=user,
        needs=("postgres", "valkey"),
        before_start=beats.begin,
        responds=beats.responds,
        stuck_s=_BUSY_S,
        stop_timeout_s=10,
    )


def local_address(settings: Settings) -> str:
    """Return the API's URL on this machine: loopback for a server on all addresses."""
    host = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "[::1]"}.get(settings.host, settings.host)
    return f"http://{host}:{settings.port}"


def answers(url: str, timeout_s: float = 2) -> bool:
    """Return whether a GET of `url` succeeds within `timeout_s` seconds, without a proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=timeout_s) as response:
            return bool(response.status == 200)
    except (OSError, urllib.error.URLError):
        return False
