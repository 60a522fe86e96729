"""A gateway whose backend does not answer says what is wrong with its TLS, and what would be right."""

import asyncio
import ssl
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography.x509.oid import ExtendedKeyUsageOID

from lab.object_storage_server import Certificate
from sinemora.operations.gateway.backend import Backend
from tests.certificates import certificate


def _of_other_authority(folder: Path) -> Certificate:
    made = certificate(folder)
    (folder / "other").mkdir()
    return Certificate(made.chain, made.key, certificate(folder / "other").authority)


async def _asked(served: Certificate | None, authority: Path) -> str:
    """Return why a backend with a certificate (None: without TLS) does not answer; empty if it does."""
    context = None
    if served is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(served.chain, served.key)

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    backend = Backend(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}", authority)
    verdict = await backend.ask("GET", "/readyz", [])
    await backend.close()
    server.close()
    return verdict.why


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (certificate, "HTTP 204"),
        (lambda at: certificate(at, timedelta(days=-2)), "its certificate has expired: renew it on the backend"),
        (
            lambda at: certificate(at, timedelta(days=3), begin=timedelta(days=2)),
            "its certificate is valid only from a later time: correct this",
        ),
        (lambda at: certificate(at, host="127.0.0.2"), "is for another host: use a host name of the certificate"),
        (
            lambda at: certificate(at, purpose=ExtendedKeyUsageOID.CLIENT_AUTH),
            "is not meant for servers: make one whose extendedKeyUsage has serverAuth",
        ),
        (_of_other_authority, "is not from an authority this gateway trusts: set --ca-file to the right one"),
    ],
    ids=["right", "expired", "not valid yet", "other host", "for clients", "other authority"],
)
def test_a_faulty_certificate_is_explained(make: Callable[[Path], Certificate], words: str, tmp_path: Path) -> None:
    made = make(tmp_path)
    assert words in asyncio.run(_asked(made, made.authority))


def test_a_server_without_tls_is_named(tmp_path: Path) -> None:
    assert "does not use TLS: the port is wrong" in asyncio.run(_asked(None, certificate(tmp_path).authority))
