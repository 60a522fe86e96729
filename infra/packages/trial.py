"""Install the agent from its packages in a temporary copy of this machine.

The copy is an overlay over `/` in a separate mount namespace: dpkg, rpm, the maintainer scripts and the install
script are the real ones, and the machine itself does not change. Needs root, Debian's dpkg and rpm, and overlayfs.
"""

import functools
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import tomllib
from pathlib import Path

DIST = Path(__file__).resolve().parents[2] / "agent" / "dist"
INSIDE = "SINEMORA_TRIAL_ROOT"


def main() -> None:
    """Enter a mount namespace, then test the packages in the copy."""
    if os.geteuid() != 0 or not shutil.which("dpkg") or not shutil.which("rpm"):
        sys.exit("This needs root, dpkg and rpm.\nWhat to do: make test-packages as root on Debian or its kin")
    if INSIDE not in os.environ:
        with tempfile.TemporaryDirectory(prefix="sinemora-trial-") as folder:
            command = ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv]
            sys.exit(subprocess.run(command, env=os.environ | {INSIDE: folder}, check=False).returncode)
    scratch = Path(os.environ[INSIDE])
    run("mount", "-t", "tmpfs", "trial", str(scratch))
    for name in ("upper", "work", "root"):
        (scratch / name).mkdir()
    root = scratch / "root"
    layers = f"lowerdir=/,upperdir={scratch}/upper,workdir={scratch}/work"
    run("mount", "-t", "overlay", "overlay", "-o", layers, str(root))
    for place in ("proc", "sys", "dev"):
        run("mount", "--rbind", f"/{place}", str(root / place))
    try:
        deb(root)
        rpm(root)
    finally:
        run("umount", "--recursive", "--lazy", str(root))
    print("The packages install, run, upgrade and uninstall.")


def deb(root: Path) -> None:
    """Test the .deb with the install script: install, upgrade, remove and purge."""
    handler = functools.partial(Quiet, directory=str(DIST.parent))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    script = (DIST / "install.sh").read_text("utf-8")
    arguments = ["--backend", url, "--token", "sme_0123456789", "--event-port", "10319", "--insecure-http"]

    corrupt = script.replace("SUMS='\n", "SUMS='\n0", 1)
    refused = inside(root, ["sh", "-s", "--", *arguments], corrupt, check=False)
    expect("nothing was installed" in refused or "there is no deb" in refused, "a wrong checksum is refused", refused)
    expect(not (root / "usr/bin/sinemora-agent").exists(), "nothing installed", refused)

    inside(root, ["sh", "-s", "--", *arguments], script)
    version = inside(root, ["sinemora-agent", "--version"])
    expect(version.startswith("sinemora-agent "), "a version", version)
    env_file = root / "etc/sinemora/agent.env"
    expect(env_file.stat().st_mode & 0o777 == 0o600, "a private token", oct(env_file.stat().st_mode))
    settings = (root / "etc/sinemora/agent.toml").read_text("utf-8")
    expect(f'backend = "{url}"' in settings and 'event_port = "10319"' in settings, "settings", settings)
    checked = inside(root, ["sinemora-agent", "check", "--state-dir", "/var/tmp/trial"], check=False)
    expect("10319 (/etc/sinemora/agent.toml)" in checked, "settings in force", checked)
    unit = root / "usr/lib/systemd/system/sinemora-agent.service"
    expect("ExecStart=/usr/bin/sinemora-agent run" in unit.read_text("utf-8"), "the unit", unit.read_text("utf-8"))

    # As a person may write it: a form that is not the one of the script.
    (root / "etc/sinemora/agent.toml").write_text(settings.replace("\nbackend = ", "\nbackend="), "utf-8")
    inside(root, ["sh", "-s", "--", "--backend", url, "--event-port", "20319"], script)
    settings = (root / "etc/sinemora/agent.toml").read_text("utf-8")
    expect(tomllib.loads(settings)["backend"] == url, "one backend", settings)
    expect(settings.count("event_port = ") == 2 and '"20319"' in settings, "one value of each, and the hint", settings)
    expect(env_file.exists(), "the former token", "deleted")
    inside(root, ["dpkg", "--remove", "sinemora-agent"])
    expect(not (root / "usr/bin/sinemora-agent").exists() and env_file.exists(), "secrets stay", "")
    inside(root, ["dpkg", "--purge", "sinemora-agent"])
    expect(not env_file.exists(), "nothing left after the purge", "")


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


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Server of agent/dist as /packages."""

    def translate_path(self, path: str) -> str:
        """Map `/packages/x` to `agent/dist/x`."""
        return super().translate_path(path.replace("/packages/", "/dist/", 1))

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


def inside(root: Path, command: list[str], stdin: str = "", *, check: bool = True) -> str:
    """Run a command in the copy and return its output."""
    clean = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C"}
    done = subprocess.run(
        ["chroot", str(root), *command], input=stdin, capture_output=True, text=True, env=clean, check=False
    )
    output = done.stdout + done.stderr
    if check and done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{output}")
    return output


def expect(holds: bool, what: str, output: str) -> None:
    """Exit with the output unless the condition holds."""
    if not holds:
        sys.exit(f"Expected {what}:\n{output}")
    print(f"ok  {what}")


def run(*command: str) -> None:
    """Run a command; exit if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")


if __name__ == "__main__":
    main()
