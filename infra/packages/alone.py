"""Run the static binary in a folder without anything else: no library, no loader, no shell, no user, no certificate.

It must find a name by DNS, which is of NSD, and check the certificate of an HTTPS server. A binary of glibc would need
that glibc's shared libraries of the same version for names (nsswitch).
"""

import contextlib
import http.server
import shutil
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from checking import expect, inside, run

NAME = "backend.sinemora.example"


def test(binary: Path, folder: Path) -> None:
    """Test `binary` in `folder`, which is empty. Needs a network namespace, for the port of DNS."""
    root = folder / "root"
    (root / "etc").mkdir(parents=True)
    shutil.copy2(binary, root / "agent")
    headers = subprocess.run(
        ["readelf", "--wide", "--program-headers", "--dyn-syms", binary], capture_output=True, text=True, check=True
    )
    expect("INTERP" not in headers.stdout, "no loader", headers.stdout)
    expect("(NEEDED)" not in headers.stdout and "GLIBC" not in headers.stdout, "no library", headers.stdout)
    version = inside(root, ["/agent", "--version"])
    expect(version.startswith("sinemora-agent "), "a version where no other file is", version)
    (root / "etc/resolv.conf").write_text("nameserver 127.0.0.1\n", "utf-8")
    run(
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"),
        *("-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}"),
        *("-addext", "basicConstraints=critical,CA:FALSE"),
        *("-keyout", str(folder / "key.pem"), "-out", str(root / "authority.pem")),
    )
    with _names(folder), _backend(folder / "key.pem", root / "authority.pem") as port:
        url = f"https://{NAME}:{port}"
        check = ["/agent", "check", "--state-dir", "/state", "--backend", url]
        refused = inside(root, check, check=False)
        expect("not from an authority" in refused, "a certificate of no known authority is refused", refused)
        checked = inside(root, [*check, "--ca-file", "/authority.pem"], check=False)
        expect(f"{url} is ready" in checked, "a backend found by DNS, over TLS", checked)


@contextlib.contextmanager
def _names(folder: Path) -> Iterator[None]:
    """Serve the address of NAME at port 53 of the loopback interface."""
    (folder / "zone").write_text(
        f"$ORIGIN {NAME}.\n$TTL 60\n@ SOA ns hostmaster 1 60 60 60 60\n@ NS ns\nns A 127.0.0.1\n@ A 127.0.0.1\n",
        "utf-8",
    )
    (folder / "nsd.conf").write_text(
        f'server:\n  ip-address: 127.0.0.1@53\n  username: ""\n  chroot: ""\n  database: ""\n  pidfile: ""\n'
        f'  zonesdir: "{folder}"\n  zonelistfile: "{folder}/zones"\n  xfrdfile: "{folder}/xfrd"\n'
        f'  xfrdir: "{folder}"\n  logfile: "{folder}/nsd.log"\n  server-count: 1\n'
        f'remote-control:\n  control-enable: no\nzone:\n  name: "{NAME}"\n  zonefile: "zone"\n',
        "utf-8",
    )
    nsd = shutil.which("nsd", path="/usr/sbin:/usr/bin:/sbin:/bin")
    server = subprocess.Popen([nsd or "nsd", "-d", "-c", folder / "nsd.conf"], stdin=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 10
        while ":0035 " not in Path("/proc/net/udp").read_text("ascii") and time.monotonic() < until:
            time.sleep(0.1)
        yield
    finally:
        server.terminate()
        server.wait()


@contextlib.contextmanager
def _backend(key: Path, certificate: Path) -> Iterator[int]:
    """Answer as a backend that is ready, over TLS; yield the port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Ready) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield int(server.server_address[1])
        server.shutdown()


class _Ready(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Answer that it is ready."""
        body = b'{"status": "ready"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""
