"""Gateway by which VMs of one's own reach a product on this machine: TLS whose key the command of each VM names.

The API itself stays on loopback. The gateway serves what agents need alone: enrolment, plans, reports and packages.
"""

import base64
import hashlib
import socket
import ssl
import sys
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sinemora.kit.certificates import self_signed
from sinemora.kit.config import Settings
from sinemora.operations.embedded import ports
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.programs import Program
from sinemora.operations.embedded.servers.service_user import ServiceUser, hand_over
from sinemora.operations.embedded.servers.sockets import private_dir

_PORT = 8430
_ANYWHERE = ("192.0.2.1", 9)
"""Documentation address (RFC 5737), which only the default route matches."""


def own_gateway(
    settings: Settings, folder: DataFolder, backend: str, env: dict[str, str], user: ServiceUser
) -> Program | None:
    """Return the gateway as a program of `user`, and add to `env` how the API shows it.

    None where the settings name how agents reach the product, and on a machine without a network.
    """
    named = urlsplit(settings.agents_url)
    host = named.hostname or _own_address()
    if settings.public_url != settings.local_url or settings.agents_pin or named.scheme == "http" or not host:
        return None
    place = private_dir(folder.path / "gateway", user)
    certificate, key = place / "certificate.pem", place / "key.pem"
    if not certificate.exists():
        signed, private = self_signed("sinemora", Encoding.PEM)
        _write(key, private)
        _write(certificate, signed)  # last: a start that was interrupted begins again
    port = (named.port or 443) if named.scheme else _kept_port(place / "port")
    hand_over(place, user)
    shown = f"[{host}]" if ":" in host else host
    env["SINEMORA_AGENTS_URL"] = settings.agents_url or f"https://{shown}:{port}"
    env["SINEMORA_AGENTS_PIN"] = pin_of(certificate)
    # The API counts what the gateway forwards by the address of the VM, not as of a person on this machine.
    if not settings.trusted_proxies:
        env["SINEMORA_TRUSTED_PROXIES"] = "127.0.0.1/32"
    listens = partial(serves, "::1" if ":" in host else "127.0.0.1", port, certificate)
    return Program(
        name="gateway",
        title="Gateway",
        command=[
            *(sys.executable, "-m", "sinemora.cli", "gateway", "--backend", backend, "--directory", str(place)),
            *("--listen", f"{'[::]' if ':' in host else '0.0.0.0'}:{port}"),
            *("--tls-certificate", str(certificate), "--tls-key", str(key)),
        ],
        cwd=Path.cwd(),
        environment=env,
        user=user,
        needs=("api",),
        ready=listens,
        responds=listens,
    )


def pin_of(certificate: Path) -> str:
    """Return the pin of the public key of a certificate in PEM, as curl's `--pinnedpubkey` takes it."""
    key = x509.load_pem_x509_certificate(certificate.read_bytes()).public_key()
    spki = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return f"sha256//{base64.b64encode(hashlib.sha256(spki).digest()).decode()}"


def serves(address: str, port: int, certificate: Path) -> bool:
    """Return whether this gateway, and no other program, listens on a port of this machine."""
    try:
        return ssl.get_server_certificate((address, port), timeout=2) == certificate.read_text()
    except OSError:
        return False


def _write(path: Path, content: bytes) -> None:
    """Write a file that only its owner reads, whole or not at all."""
    part = path.with_suffix(".part")
    part.touch(mode=0o600)
    part.write_bytes(content)
    part.replace(path)


def _kept_port(file: Path) -> int:
    """Return the port of an earlier start, which enrolled agents remember; at first the next free one."""
    if not file.exists():
        free = next(port for port in range(_PORT, 65536) if ports.tcp_free("0.0.0.0", port))
        _write(file, str(free).encode())
    return int(file.read_text())


def _own_address() -> str:
    """Return the address from which this machine reaches others, empty without one. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(_ANYWHERE)
        except OSError:
            return ""
        return str(probe.getsockname()[0])
