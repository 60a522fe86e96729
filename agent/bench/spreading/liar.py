"""A peer that sends every block with one wrong bit: `liar.py ADDRESS BACKEND TOKEN ARTIFACT NAME`.

It enrols like an agent, reports a complete copy, and serves blocks as in agent/transfer/src/artifacts/server.rs.
"""

import json
import os
import socketserver
import sys
import threading
import time
import urllib.request
from typing import Any

ADDRESS, BACKEND, TOKEN, ARTIFACT, NAME = sys.argv[1:]
_ENTRY_BYTES = 36


class Backend:
    """The agents' part of the API."""

    def __init__(self) -> None:
        zone = {"provider": "lab", "region": "west", "name": "west"}
        body = {"token": TOKEN, "hostname": NAME, "zone": zone, "probe_address": ADDRESS, "event_port": 319}
        body |= {"general_port": 320, "agent_version": "0.1.0", "description": {}}
        self.credential = ""
        self.credential = json.loads(self.ask("/v1/agents/enrol", body))["credential"]

    def ask(self, path: str, body: dict[str, Any] | None = None) -> bytes:
        """Return the body of an answer."""
        fields = {"Content-Type": "application/json", "Authorization": f"Bearer {self.credential}"}
        payload = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(BACKEND + path, payload, fields)) as answer:
            found: bytes = answer.read()
        return found


class Connection(socketserver.StreamRequestHandler):
    """A connection of another agent."""

    server: "Server"

    def handle(self) -> None:
        """Answer requests until the other closes."""
        self.wfile.write(b"SNB1" + os.urandom(16))
        self.rfile.read(44)
        while kind := self.rfile.read(1):
            if kind == b"\x01":
                self.rfile.read(16)
                self.answer(b"\xff" * -(-self.server.blocks // 8))
            else:
                digest = self.rfile.read(32).hex()
                block = bytearray(self.server.backend.ask(f"/v1/agents/self/artifact-blocks/{digest}"))
                block[len(block) // 2] ^= 1
                self.answer(bytes(block))
                print("corrupt block sent", flush=True)

    def answer(self, data: bytes) -> None:
        """Send an answer."""
        self.wfile.write(len(data).to_bytes(4, "little") + data)


class Server(socketserver.ThreadingTCPServer):
    """The server of blocks."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__((ADDRESS, 8421), Connection)
        self.backend = Backend()
        self.blocks = 0

    def report(self) -> None:
        """Say again and again that the copy is complete."""
        while True:
            copy = {"artifact_id": ARTIFACT, "state": "complete", "blocks_held": self.blocks}
            self.backend.ask("/v1/agents/self/artifacts", {"port": 8421, "copies": [copy] if self.blocks else []})
            time.sleep(2)


def main() -> None:
    """Serve until ended."""
    server = Server()
    server.blocks = len(server.backend.ask(f"/v1/agents/self/artifacts/{ARTIFACT}/manifest")) // _ENTRY_BYTES
    threading.Thread(target=server.report, daemon=True).start()
    time.sleep(1)
    print("serving", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
