"""An OpenID provider as a process (`e2e/support/provider.ts`, the npm package `oidc-provider`), and its browser."""

import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx2

from sinemora.access.signin.identity_provider import CALLBACK

ROOT = Path(__file__).parents[4]
REDIRECT = "http://127.0.0.1:8420" + CALLBACK
SECRET = "secret of the tests, long enough"
_START_S = 60


@dataclass
class Provider:
    """A running provider."""

    issuer: str

    def rotate(self) -> None:
        """Have the provider sign with another key from now on."""
        self._post("/rotate", b"")

    def people(self, people: dict[str, dict[str, Any]]) -> None:
        """Replace the claims of people, by login."""
        self._post("/people", json.dumps(people).encode())

    def _post(self, path: str, body: bytes) -> None:
        with urllib.request.urlopen(urllib.request.Request(self.issuer + path, body), timeout=30) as response:
            assert response.status == 200

    def sign_in(self, url: str, login: str) -> dict[str, str]:
        """Open an authorization URL in a fresh browser and log in; return the query of the way back."""
        with httpx2.Client() as browser:
            answer = browser.get(url)
            while answer.is_redirect:
                target = urljoin(str(answer.url), answer.headers["location"])
                if not target.startswith(self.issuer):
                    return dict(parse_qsl(urlsplit(target).query))
                answer = browser.get(target)
                if answer.status_code == 200:
                    answer = browser.post(answer.url, data={"login": login})
            raise AssertionError(f"the provider answers {answer.status_code}: {answer.text[:500]}")


@contextmanager
def running(people: dict[str, dict[str, Any]]) -> Iterator[Provider]:
    """Run a provider on a free port."""
    own = ROOT / ".tools/node/bin/node"  # this machine may have another one, too old for TypeScript
    node = str(own) if own.exists() else shutil.which("node")
    assert node, "Node is missing: make setup"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    env = {**os.environ, "PORT": str(port), "REDIRECT_URI": REDIRECT, "PEOPLE": json.dumps(people)}
    process = subprocess.Popen([node, ROOT / "e2e/support/provider.ts"], env=env, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + _START_S
        while True:
            assert process.poll() is None, "the provider ended while it started: make setup"
            assert time.monotonic() < end, "the provider does not answer"
            try:
                with socket.create_connection(("127.0.0.1", port), 1):
                    break
            except OSError:
                time.sleep(0.1)
        yield Provider(f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait(30)
