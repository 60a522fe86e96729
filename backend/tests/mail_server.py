"""A mail server as RFC 5321 wants it, as far as one message needs it; with RFC 3207 (STARTTLS) and RFC 4954 (AUTH)."""

import base64
import socketserver
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests import certificates
from tests.waits import WAIT_MOST_S


class MailServer(socketserver.ThreadingTCPServer):
    """Keeps messages in `got` with their recipients. With `tls` it takes them encrypted only, with `login` only from
    clients that know user and password. `refusals` are the answers to recipients that it refuses. It greets while
    `greets` is set; `asked`: a client has come.
    """

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, tls: ssl.SSLContext | None = None, login: tuple[str, str] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Mail)
        self.got: list[tuple[list[str], bytes]] = []
        self.tls, self.login = tls, login
        self.refusals: dict[str, str] = {}
        self.asked = False
        self.greets = threading.Event()
        self.greets.set()

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Mail(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        server: Any = self.server
        server.asked = True
        server.greets.wait(WAIT_MOST_S)
        self.secure = self.known = False
        self.to: list[str] = []
        self._say("220 mail.test ESMTP")
        while line := self.rfile.readline():
            word, _, rest = line.decode().strip().partition(" ")
            if word.upper() == "QUIT":
                self._say("221 bye")
                return
            self._take(word.upper(), rest)

    def _take(self, word: str, rest: str) -> None:
        server: Any = self.server
        if word == "EHLO":
            offers = ["STARTTLS"] if server.tls and not self.secure else []
            offers += ["AUTH PLAIN"] if server.login and (self.secure or not server.tls) else []
            lines = ["mail.test", *offers]
            for at, one in enumerate(lines):
                self._say(f"250{' ' if at == len(lines) - 1 else '-'}{one}")
        elif word == "STARTTLS":
            self._say("220 go on")
            plain = self.connection
            self.connection = server.tls.wrap_socket(plain, server_side=True)
            self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
            self.secure = True
        elif word == "AUTH":
            _, user, password = base64.b64decode(rest.split()[1]).decode().split("\0")
            self.known = (user, password) == server.login
            self._say("235 welcome" if self.known else "535 who are you")
        elif server.tls and not self.secure:
            self._say("530 encrypt first")
        elif server.login and not self.known:
            self._say("530 sign in first")
        elif word == "DATA":
            self._say("354 go on")
            lines = []
            while (part := self.rfile.readline()) != b".\r\n":
                lines.append(part)
            server.got.append((self.to, b"".join(lines)))  # type: ignore[arg-type]
            self._say("250 kept")
        else:
            answer = "250 fine"
            if word == "RCPT":
                recipient = rest.split("<")[1].split(">")[0]
                answer = server.refusals.get(recipient, answer)
                self.to += [recipient] if answer.startswith("250") else []
            self._say(answer)

    def _say(self, line: str) -> None:
        self.wfile.write(line.encode() + b"\r\n")


def certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """Return the TLS context of a server on `localhost`, and the certificate file that clients trust."""
    made = certificates.certificate(folder, host="localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.chain, made.key)
    return context, made.authority


def serve(server: socketserver.BaseServer) -> Iterator[Any]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
