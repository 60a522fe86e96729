"""`infra/proxy/start.sh`: how the proxy ends. The program `nginx` is a script here that notes its signals."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

START = Path(__file__).resolve().parents[2] / "infra" / "proxy" / "start.sh"
MADE = Path("/tmp/proxy")
"""Where the configuration of the image includes from."""

# Like nginx it catches the signals that a shell has its children ignore, and ends when its requests have ended.
NGINX = """#!{python}
import signal, sys, time
def note(word):
    with open("{log}", "a") as log:
        log.write(word + "\\n")
signal.signal(signal.SIGQUIT, lambda *_: None)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGQUIT])
note("started")
signal.sigwait([signal.SIGQUIT])
note("QUIT")
time.sleep(0.5)
note("ended")
sys.exit(7)
"""


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A running start.sh, and what its nginx noted."""
    was_there = MADE.exists()
    log, nginx = tmp_path / "log", tmp_path / "nginx"
    nginx.write_text(NGINX.format(python=sys.executable, log=log))
    nginx.chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    process = subprocess.Popen(["sh", START], env=os.environ | path, start_new_session=True)
    until = time.monotonic() + 20
    while not log.exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    yield process, log
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # nginx too, where a test failed
    process.wait()
    if not was_there:
        shutil.rmtree(MADE, ignore_errors=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT, signal.SIGINT])
def test_a_stopped_proxy_finishes_requests_and_ends_with_nginx(
    proxy: tuple[subprocess.Popen[bytes], Path], number: signal.Signals
) -> None:
    process, log = proxy
    began = time.monotonic()
    process.send_signal(number)
    assert process.wait(20) == 7, "the exit code is that of nginx"
    assert log.read_text().split() == ["started", "QUIT", "ended"]
    # Nothing listens meanwhile: it must not wait for its next look at the certificate, which is every 5 s.
    assert time.monotonic() - began < 3


def test_a_second_signal_does_not_leave_nginx_behind(proxy: tuple[subprocess.Popen[bytes], Path]) -> None:
    process, log = proxy
    for _ in range(2):
        process.send_signal(signal.SIGTERM)
        time.sleep(0.15)
    process.wait(20)
    assert log.read_text().split()[-1] == "ended"
