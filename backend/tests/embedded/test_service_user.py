"""The service user is created once, however many processes need it at the same time."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

PROCESSES = 6
# Replaces useradd, which needs root. It is slow and overwrites the entry of another useradd that runs at the same time.
USERADD = """#!/bin/sh
echo called >> "$USERS/calls"
sleep 0.3
echo "$$" > "$USERS/entry"
"""
PROGRAM = textwrap.dedent(
    """
    import os, pwd, sys
    from pathlib import Path
    from sinemora.embedded.servers import service_user

    entry = Path(os.environ["USERS"]) / "entry"

    def getpwnam(name):
        if not entry.exists():
            raise KeyError(name)
        return pwd.struct_passwd((name, "x", int(entry.read_text()), 1, "", "/", "/bin/false"))

    service_user.pwd.getpwnam = getpwnam
    service_user.os.geteuid = lambda: 0
    print(service_user.service_user("database").uid)
    """
)


def test_processes_that_start_together_get_one_user(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "useradd").write_text(USERADD)
    (programs / "useradd").chmod(0o755)
    environment = {**os.environ, "USERS": str(tmp_path), "PATH": f"{programs}:{os.environ['PATH']}"}
    started = [
        subprocess.Popen([sys.executable, "-c", PROGRAM], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(PROCESSES)
    ]
    users = {process.communicate(timeout=60)[0].strip() for process in started}
    assert users == {(tmp_path / "entry").read_text().strip()}
    assert (tmp_path / "calls").read_text().split() == ["called"]
