"""Install the agent from its packages in a temporary copy of this machine, and run its binary where nothing else is.

The copy is an overlay over `/` in separate mount and network namespaces: dpkg, rpm, the maintainer scripts and the
install script are the real ones, and the machine itself does not change. Needs root, Debian's dpkg and rpm, and
overlayfs.
"""

import contextlib
import functools
import http.server
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path

import alone
import build
import static
from checking import expect, inside, run

DIST = build.DIST
INSIDE = "SINEMORA_TRIAL_ROOT"
# A version before every real one, for upgrades and downgrades.
OLDER = "0.0.1"


def main() -> None:
    """Enter namespaces, then test the packages in the copy."""
    if os.geteuid() != 0 or not shutil.which("dpkg") or not shutil.which("rpm"):
        sys.exit("This needs root, dpkg and rpm.\nWhat to do: make test-packages as root on Debian or its kin")
    if INSIDE not in os.environ:
        with tempfile.TemporaryDirectory(prefix="sinemora-trial-") as folder:
            command = ["unshare", "--mount", "--net", "--propagation", "private", sys.executable, *sys.argv]
            sys.exit(subprocess.run(command, env=os.environ | {INSIDE: folder}, check=False).returncode)
    scratch = Path(os.environ[INSIDE])
    run("ip", "link", "set", "lo", "up")
    run("mount", "-t", "tmpfs", "trial", str(scratch))
    for name in ("upper", "work", "root", "older", "signed", "alone"):
        (scratch / name).mkdir()
    root = scratch / "root"
    layers = f"lowerdir=/,upperdir={scratch}/upper,workdir={scratch}/work"
    run("mount", "-t", "overlay", "overlay", "-o", layers, str(root))
    for place in ("proc", "sys", "dev"):
        run("mount", "--rbind", f"/{place}", str(root / place))
    alone.test(DIST / f"sinemora-agent-{build.version()}-{platform.machine()}", scratch / "alone")
    name = f"sinemora-agent-{OLDER}-{platform.machine()}"
    build.deb(platform.machine(), scratch / "older" / f"{name}.deb", OLDER)
    build.rpm(platform.machine(), scratch / "older" / f"{name}.rpm", OLDER)
    build.offer(scratch / "older")
    try:
        deb(root, scratch / "older")
        signature(root, scratch / "signed")
        rpm(root)
        rpm_by_script(root, scratch / "older")
    finally:
        run("umount", "--recursive", "--lazy", str(root))
    print("The packages install, run, upgrade, downgrade and uninstall.")


def deb(root: Path, older: Path) -> None:
    """Test the .deb with the install script: install, downgrade, upgrade, remove and purge."""
    script = (DIST / "install.sh").read_text("utf-8")
    with serving(DIST) as url, serving(older) as url_older:
        arguments = ["--backend", url, "--token", "sme_0123456789", "--event-port", "10319", "--insecure-http"]
        arguments += ["--bulk-sender", "true"]
        corrupt = re.sub(r"^[0-9a-f]{64}  ", f"{'0' * 64}  ", script, flags=re.MULTILINE)
        refused = inside(root, ["sh", "-s", "--", *arguments], corrupt, check=False)
        expect("does not match; nothing was installed" in refused, "a wrong checksum is refused", refused)
        expect(not (root / "usr/bin/sinemora-agent").exists(), "nothing installed", refused)

        inside(root, ["sh", "-s", "--", *arguments], script)
        for program in static.PROGRAMS:
            version = inside(root, [program, "--version"])
            expect(version.startswith(f"{program} "), "a version", version)
        env_file = root / "etc/sinemora/agent.env"
        expect(env_file.stat().st_mode & 0o777 == 0o600, "a private token", oct(env_file.stat().st_mode))
        settings = (root / "etc/sinemora/agent.toml").read_text("utf-8")
        expect(f'backend = "{url}"' in settings and 'event_port = "10319"' in settings, "settings", settings)
        expect('bulk_sender = "true"' in settings, "settings of sinemora-transfer", settings)
        checked = inside(root, ["sinemora-agent", "check", "--state-dir", "/var/tmp/trial"], check=False)
        expect("10319 (/etc/sinemora/agent.toml)" in checked, "settings in force", checked)
        for program in static.PROGRAMS:
            unit = (root / f"usr/lib/systemd/system/{program}.service").read_text("utf-8")
            expect(f"ExecStart=/usr/bin/{program} " in unit, "the unit", unit)

        # As a person may write it: a form that is not the one of the script.
        (root / "etc/sinemora/agent.toml").write_text(settings.replace("\nbackend = ", "\nbackend="), "utf-8")
        inside(root, ["sh", "-s", "--", "--backend", url, "--event-port", "20319"], script)
        settings = (root / "etc/sinemora/agent.toml").read_text("utf-8")
        expect(tomllib.loads(settings)["backend"] == url, "one backend", settings)
        expect(
            settings.count("event_port = ") == 2 and '"20319"' in settings, "one value of each, and the hint", settings
        )
        expect(env_file.exists(), "the former token", "deleted")

        installed = ["dpkg-query", "--show", "--showformat=${Version}", "sinemora-agent"]
        for folder, address, wanted in ((older, url_older, OLDER), (DIST, url, build.version())):
            inside(root, ["sh", "-s", "--", "--backend", address], (folder / "install.sh").read_text("utf-8"))
            expect(inside(root, installed) == wanted, f"version {wanted} of the .deb", inside(root, installed))
            settings = (root / "etc/sinemora/agent.toml").read_text("utf-8")
            expect('"20319"' in settings and env_file.exists(), "settings and token kept", settings)
    inside(root, ["dpkg", "--remove", "sinemora-agent"])
    expect(not (root / "usr/bin/sinemora-agent").exists() and env_file.exists(), "secrets stay", "")
    inside(root, ["dpkg", "--purge", "sinemora-agent"])
    expect(not env_file.exists(), "nothing left after the purge", "")


def signature(root: Path, folder: Path) -> None:
    """Test that the script with a public key installs only what was signed with the private one."""
    shutil.copytree(DIST, folder, dirs_exist_ok=True)
    for name in ("key", "other"):
        run("openssl", "genpkey", "-algorithm", "ed25519", "-out", str(folder / name))
        run("openssl", "pkey", "-in", str(folder / name), "-pubout", "-out", str(root / f"var/tmp/{name}.pub"))
    os.environ["SINEMORA_SIGNING_KEY"] = str(folder / "key")
    build.sign(folder / "SHA256SUMS")
    with serving(folder) as url:
        line = ["sh", "-s", "--", "--backend", url, "--insecure-http", "--public-key"]
        script = (folder / "install.sh").read_text("utf-8")
        refused = inside(root, [*line, "/var/tmp/other.pub"], script, check=False)
        expect("not signed with the key" in refused, "the signature of another key is refused", refused)
        expect(not (root / "usr/bin/sinemora-agent").exists(), "nothing installed", refused)
        inside(root, [*line, "/var/tmp/key.pub"], script)
        expect((root / "usr/bin/sinemora-agent").exists(), "what was signed is installed", "")
    inside(root, ["dpkg", "--purge", "sinemora-agent"])


def rpm(root: Path) -> None:
    """Test the .rpm with rpm: install, upgrade with changed settings, and erase."""
    (package,) = DIST.glob("*.rpm")
    copy = root / "var/tmp" / package.name
    shutil.copy(package, copy)
    settings, inside_copy = root / "etc/sinemora/agent.toml", f"/var/tmp/{package.name}"
    # Debian has no rpm database yet.
    inside(root, ["rpm", "--initdb"])
    inside(root, ["rpm", "--install", inside_copy])
    version = inside(root, ["sinemora-agent", "--version"])
    expect(version.startswith("sinemora-agent "), "a version from the rpm", version)
    changes = inside(root, ["rpm", "--verify", "sinemora-agent"])
    expect(changes == "", "every file as it was packed", changes)
    settings.write_text('backend = "https://sinemora.example.com"\n', "utf-8")
    inside(root, ["rpm", "--upgrade", "--replacepkgs", inside_copy])
    expect("sinemora.example.com" in settings.read_text("utf-8"), "own settings kept by an upgrade", "")
    inside(root, ["rpm", "--erase", "sinemora-agent"])
    left = [str(path) for path in (root / "usr/bin/sinemora-agent", settings) if path.exists()]
    expect(not left, "nothing in force after it is erased", " ".join(left))


def rpm_by_script(root: Path, older: Path) -> None:
    """Test the install script on a machine without dpkg: install, downgrade, upgrade and erase the .rpm."""
    shutil.move(root / "usr/bin/dpkg", root / "usr/bin/dpkg.hidden")
    (root / "etc/sinemora").mkdir(exist_ok=True)
    installed = ["rpm", "--query", "--queryformat", "%{VERSION}", "sinemora-agent"]
    with serving(DIST) as url, serving(older) as url_older:
        for folder, address, wanted in (
            (DIST, url, build.version()),
            (older, url_older, OLDER),
            (DIST, url, build.version()),
        ):
            line = ["sh", "-s", "--", "--backend", address, "--insecure-http"]
            inside(root, line, (folder / "install.sh").read_text("utf-8"))
            expect(inside(root, installed) == wanted, f"version {wanted} of the .rpm", inside(root, installed))
    inside(root, ["rpm", "--erase", "sinemora-agent"])
    shutil.move(root / "usr/bin/dpkg.hidden", root / "usr/bin/dpkg")


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve the files of a folder under `/packages/`, as a backend does; yield the URL of that backend."""
    handler = functools.partial(_Packages, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class _Packages(http.server.SimpleHTTPRequestHandler):
    def translate_path(self, path: str) -> str:
        return super().translate_path(path.replace("/packages/", "/", 1))

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


if __name__ == "__main__":
    main()
