"""The service user is created once, and all processes of the product run as it where that is possible."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from sinemora.kit.config import Settings
from sinemora.operations.embedded.data_folder import DataFolder
from sinemora.operations.embedded.demo import machines
from sinemora.operations.embedded.demo import programs as demo_programs
from sinemora.operations.embedded.servers import service_user
from sinemora.operations.embedded.servers.service_user import ServiceUser, hand_over, product_user
from sinemora.operations.embedded.services import services

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
    from sinemora.operations.embedded.servers import service_user

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


NOBODY = ServiceUser("nobody", 65534, 65534)
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change its user")


def test_every_process_of_the_product_runs_as_the_given_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = ServiceUser("product", os.geteuid(), os.getegid())
    folder = DataFolder(tmp_path)
    (tmp_path / "run").mkdir()
    monkeypatch.setattr(demo_programs, "_built", lambda program, _: Path(program))
    vms = machines.machines(2, folder, "127.20.9", 20319)
    programs = services(Settings(), folder, {}, user)
    programs.append(demo_programs.network(vms, tmp_path / "demo", {}, (), user, story=True))
    programs += demo_programs.agents(vms, "", [], "http://127.0.0.1:1", {}, (), user)
    assert len(programs) == 12
    assert {program.user for program in programs} == {user}


@as_root
def test_a_closed_interpreter_is_the_reason_to_stay_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "python").touch()
    monkeypatch.setattr(sys, "executable", str(closed / "python"))
    user, reason = product_user(NOBODY, 8420)
    assert user.uid == 0
    assert reason.endswith("is closed to the user nobody")


@as_root
def test_an_open_interpreter_and_port_give_up_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ServiceUser, "can", lambda *_: True)
    assert product_user(NOBODY, 8420) == (NOBODY, "")
    user, reason = product_user(NOBODY, 1 if service_user._first_free_port() > 1 else 0)
    assert (user.uid, reason.startswith("no other user may listen")) == (0, True) or user is NOBODY


@as_root
def test_files_of_an_earlier_start_are_handed_over_without_following_links(tmp_path: Path) -> None:
    place, outside = tmp_path / "demo", tmp_path / "outside"
    (place / "a-1").mkdir(parents=True)
    (place / "a-1" / "identity.json").touch()
    outside.touch()
    (place / "link").symlink_to(outside)
    hand_over(place, NOBODY)
    assert (place / "a-1" / "identity.json").stat().st_uid == NOBODY.uid
    assert outside.stat().st_uid == 0
