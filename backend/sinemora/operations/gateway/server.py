"""Server of a gateway: one process, with TLS whose certificate is read again when it was renewed."""

import asyncio
import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import structlog
import uvicorn
import uvloop
from cryptography import x509

from sinemora.kit import listening_socket
from sinemora.kit.http.connection import HEAD_S, server_options
from sinemora.operations.gateway.app import create_app
from sinemora.operations.gateway.options import GatewayError, Options, Tls

log = structlog.get_logger(__name__)

_LOOK_S = 5.0


class Loop(uvloop.Loop):
    """Event loop whose servers give a TLS handshake as long as the head of a request, in place of a minute."""

    async def create_server(self, *args: Any, **options: Any) -> Any:
        """Create a server."""
        if options.get("ssl"):
            options["ssl_handshake_timeout"] = HEAD_S
        return await super().create_server(*args, **options)


class Server(listening_socket.ReplaceableServer):
    """Server that follows a renewed certificate: new connections get it, open ones stay."""

    def __init__(self, config: uvicorn.Config, tls: Tls | None) -> None:
        super().__init__(config)
        self._tls = tls

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal stops it."""
        looking = asyncio.create_task(self._follow_certificate())
        try:
            await super().serve(sockets)
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking

    async def _follow_certificate(self) -> None:
        if self._tls is None:
            return
        files = (self._tls.certificate, self._tls.key)
        before = _changed_at(files)
        while True:
            await asyncio.sleep(_LOOK_S)
            now = _changed_at(files)
            if now == before or self.config.ssl is None:
                continue
            try:
                # A context keeps a certificate without its key, and then refuses every connection: try both elsewhere.
                ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(*files)
                warn_of_validity(files[0])
                self.config.ssl.load_cert_chain(*files)
            except (OSError, ValueError) as error:
                # The key may follow in a moment; the certificate in use stays.
                log.warning("the renewed certificate cannot be used", error=str(error))
                continue
            before = now
            log.info("the renewed certificate is in use")


def warn_of_validity(certificate: Path) -> None:
    """Log that agents refuse a certificate now. It may be renewed while the gateway runs."""
    leaf = x509.load_pem_x509_certificates(certificate.read_bytes())[0]
    begins, ends = leaf.not_valid_before_utc, leaf.not_valid_after_utc
    if not begins <= datetime.now(UTC) <= ends:
        log.warning(
            "agents refuse the certificate: it is not valid now, or the clock is wrong",
            certificate=str(certificate),
            valid_from=begins.isoformat(),
            valid_until=ends.isoformat(),
        )


def _changed_at(files: Sequence[Path]) -> list[int]:
    return [path.stat().st_mtime_ns if path.exists() else 0 for path in files]


def run(options: Options) -> None:
    """Run a gateway in the foreground until a signal stops it; SIGHUP replaces it, as the API. Raises GatewayError.

    Exits with 3 without its port.
    """
    app = create_app(options)
    config = uvicorn.Config(
        app,
        host=options.host,
        port=options.port,
        **server_options(),
        loop=f"{__name__}:Loop",
        ssl_certfile=None if options.tls is None else options.tls.certificate,
        ssl_keyfile=None if options.tls is None else options.tls.key,
    )
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise GatewayError(f"--tls-certificate, --tls-key: {error}") from error
    if options.tls is not None:
        warn_of_validity(options.tls.certificate)
    listening_socket.run(Server(config, options.tls))
