"""A real server with the S3 API on loopback, for tests and benchmarks: versitygw over a folder."""

import secrets
import signal
import socket
import ssl
import subprocess
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lab.waits import until
from sinemora.kit.object_storage import Location

_ROOT = Path(__file__).resolve().parents[2]
BUCKET = "measurements"
_START_S = 20.0


class Certificate(NamedTuple):
    """PEM files of a server's certificate and key, and of the authority that signed it."""

    chain: Path
    key: Path
    authority: Path


class ObjectStorageServer:
    """Server that keeps its objects as files below `folder`; `start` returns when it answers.

    With a `certificate` of 127.0.0.1 it speaks TLS.
    """

    def __init__(self, folder: Path, certificate: Certificate | None = None) -> None:
        self._folder = folder
        self._certificate = certificate
        self.bucket_folder = folder / "buckets" / BUCKET
        self._keys = secrets.token_hex(8), secrets.token_hex(16)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def location(self) -> Location:
        """Return the bucket of the server with its keys."""
        ca_file = None if self._certificate is None else self._certificate.authority
        return Location(self._url, BUCKET, "us-east-1", *self._keys, ca_file)

    def settings(self) -> dict[str, str]:
        """Return the settings of a product that uses the server."""
        location = self.location
        return {
            "SINEMORA_STORAGE_ENDPOINT": location.endpoint,
            "SINEMORA_STORAGE_BUCKET": location.bucket,
            "SINEMORA_STORAGE_ACCESS_KEY": location.access_key,
            "SINEMORA_STORAGE_SECRET_KEY": location.secret_key,
            "SINEMORA_STORAGE_CA_FILE": "" if location.ca_file is None else str(location.ca_file),
        }

    def start(self) -> None:
        """Start the server, with its bucket."""
        self.bucket_folder.mkdir(parents=True, exist_ok=True)
        sidecar = self._folder / "attributes"
        sidecar.mkdir(exist_ok=True)
        access, secret = self._keys
        command = [_program(), "--access", access, "--secret", secret, "--port", f"127.0.0.1:{self.port}", "--quiet"]
        if self._certificate is not None:
            command += ["--cert", str(self._certificate.chain), "--key", str(self._certificate.key)]
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "posix", "--sidecar", str(sidecar), str(self._folder / "buckets")],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,  # Ctrl-C at a terminal reaches the caller, who stops it
            )
        until(self._answers, lambda: f"the storage: {(self._folder / 'server.log').read_text()[-2000:]}", _START_S)

    def stop(self) -> None:
        """Stop the server; its objects stay."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Let the server accept connections and answer nothing."""
        if self._process is None:
            raise RuntimeError("the storage is not started")
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    @property
    def _url(self) -> str:
        return f"{'http' if self._certificate is None else 'https'}://127.0.0.1:{self.port}"

    def _answers(self) -> bool:
        trust = None if self._certificate is None else ssl.create_default_context(cafile=self._certificate.authority)
        try:
            urllib.request.urlopen(f"{self._url}/", timeout=2, context=trust).close()
        except urllib.error.HTTPError:
            return True  # it refuses who did not sign, so it is there
        except OSError:
            return False
        return True


def _program() -> str:
    """Return the path of the server's program. LookupError when the set-up has not brought it."""
    pin = tomllib.loads((_ROOT / "infra" / "toolchain" / "versions.toml").read_text("utf-8"))["versitygw"]["pinned"]
    program = _ROOT / ".tools" / "versitygw" / pin / "versitygw"
    if not program.exists():
        raise LookupError(f"{program} is missing: make test-backend brings it")
    return str(program)
