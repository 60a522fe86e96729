"""`infra/proxy/start.sh` with a real nginx: how the proxy starts and ends, and whose address it believes."""

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import psutil
import pytest

from lab import proxy_stand
from lab.proxy_stand import Stand
from tests.http_server import Answer, answering
from tests.waits import WAIT_MOST_S, until

PATH = f"{os.environ['PATH']}:/usr/sbin"
NGINX = shutil.which("nginx", path=PATH)

pytestmark = pytest.mark.skipif(
    not (NGINX and shutil.which("haproxy", path=PATH)),
    reason="HAProxy or nginx is not installed (make test-backend)",
)


ARRIVED = threading.Event()


def answer(request: BaseHTTPRequestHandler, _body: bytes) -> Answer:
    """Answer with the headers of the request, after `?wait` seconds."""
    ARRIVED.set()
    time.sleep(float(request.path.partition("?")[2] or 0))
    return 200, {}, json.dumps(dict(request.headers)).encode()


@pytest.fixture
def stand() -> Iterator[Stand]:
    with answering(answer) as port, proxy_stand.running(port) as running:
        assert get(running), "the entrance has found the proxy"
        yield running


def get(stand: Stand, path: str = "/", **headers: str) -> dict[str, str]:
    """GET through the entrance: the headers that the API got, in lower case."""
    request = urllib.request.Request(f"http://127.0.0.1:{stand.port}{path}", headers=headers)
    with urllib.request.urlopen(request, timeout=WAIT_MOST_S) as answer:
        return {name.lower(): value for name, value in json.loads(answer.read()).items()}


def nginx_of(proxy: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Return the processes of nginx that a proxy has started."""
    return [one for one in psutil.process_iter(["name"]) if one.name() == "nginx" and os.getpgid(one.pid) == proxy.pid]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT])
def test_a_stopped_proxy_finishes_requests_and_ends(stand: Stand, number: signal.Signals) -> None:
    answered: list[dict[str, str]] = []
    ARRIVED.clear()
    asking = threading.Thread(target=lambda: answered.append(get(stand, "/?2")))
    asking.start()
    assert ARRIVED.wait(WAIT_MOST_S)
    proxy = stand.proxies[-1]
    proxy.send_signal(number)
    until(lambda: not stand.current.is_symlink(), "the entrance leads nowhere")
    assert proxy.wait(WAIT_MOST_S) == 0, "the exit code is that of nginx"
    asking.join()
    assert answered, "the open request was answered"
    assert not list(stand.current.parent.iterdir()), "its sockets are gone"


def test_a_second_signal_does_not_leave_nginx_behind(stand: Stand) -> None:
    proxy = stand.proxies[-1]
    for _ in range(2):
        proxy.send_signal(signal.SIGTERM)
        time.sleep(0.15)
    proxy.wait(WAIT_MOST_S)
    assert not nginx_of(proxy)


@pytest.mark.parametrize("after_s", [0.2, 1.0])
def test_a_proxy_that_still_starts_is_stopped_too(stand: Stand, tmp_path: Path, after_s: float) -> None:
    """nginx ignores the signal until it has read its configuration: here that takes it a while."""
    slow = tmp_path / "nginx"
    slow.write_text(f'#!/bin/sh\nsleep 0.7\nexec {NGINX} "$@"\n')
    slow.chmod(0o755)
    starting = stand.begin_proxy(PATH=f"{tmp_path}:{PATH}")
    time.sleep(after_s)
    starting.send_signal(signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        starting.wait(WAIT_MOST_S / 4)
    assert starting.poll() is not None, "it goes on"
    assert not nginx_of(starting)
    assert get(stand), "the proxy before still serves"


def test_a_tag_that_compression_made_weak_is_what_the_api_sent(stand: Stand) -> None:
    for sent, reaches in (('W/"3"', '"3"'), ('"3"', '"3"'), ("*", "*"), ("3", "3"), ('"W/3"', '"W/3"')):
        assert get(stand, **{"If-Match": sent})["if-match"] == reaches


def test_only_a_trusted_load_balancer_names_the_caller(stand: Stand) -> None:
    got = get(stand, **{"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"})
    assert (got["x-forwarded-for"], got["x-forwarded-proto"]) == ("127.0.0.1", "http")

    for trusted, headers, address, scheme in (
        ("127.0.0.0/8", {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}, "203.0.113.9", "https"),
        ("127.0.0.0/8 203.0.113.9", {"X-Forwarded-For": "198.51.100.7, 203.0.113.9"}, "198.51.100.7", "http"),
        ("127.0.0.0/8", {}, "127.0.0.1", "http"),
        ("192.0.2.1", {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}, "127.0.0.1", "http"),
    ):
        stand.start_proxy(SINEMORA_PROXY_TRUSTED=trusted)
        got = get(stand, **headers)
        assert (got["x-forwarded-for"], got["x-forwarded-proto"]) == (address, scheme)


def test_a_connection_made_while_the_proxy_is_away_is_served_by_the_next(stand: Stand) -> None:
    stand.kill_proxy()
    with socket.create_connection(("127.0.0.1", stand.port), WAIT_MOST_S) as waiting:
        waiting.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        time.sleep(1.5)
        stand.start_proxy()
        assert waiting.recv(4096).startswith(b"HTTP/1.1 200")
