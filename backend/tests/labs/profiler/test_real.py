"""A real profile: Valkey in one namespace, a closed-loop client in the other, delaybox between them."""

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import psutil
import pytest

from sinemora.applications.curves.core.upload import parse
from sinemora.cli import main
from sinemora.labs.profiler.interference import QUIET_BELOW
from tests.labs.profiler.programs import PROFILE, client, ended, server
from tests.processes import is_alive
from tests.waits import until

pytestmark = pytest.mark.usefixtures("namespaces")


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    return [
        *(*PROFILE, "--out", str(tmp_path / "out"), "--port", "6379"),
        *("--command", client(tmp_path), "--pointer", "/rate"),
        *("--server", server(), "--at", "2000,8000", "--loads", "2", "--unit", "rounds/s"),
        *("--seconds", "1", "--warm-up", "0", "--repeats", "2,2", "--patience", "0"),
    ]


def wait_for_runs(profile: "subprocess.Popen[str]", journal: Path, lines: int) -> None:
    """Wait until the journal has `lines` lines; fail at once when the profile ends before."""

    def has_them() -> bool:
        enough = journal.exists() and journal.read_text().count("\n") >= lines
        if not enough and profile.poll() is not None:
            assert profile.stderr is not None
            pytest.fail(f"the profile ended with {profile.returncode}: {profile.stderr.read()}")
        return enough

    until(has_them, "runs in the journal")


def test_a_killed_profile_resumes_and_measures_a_closed_loop(command: list[str], tmp_path: Path):
    journal = tmp_path / "out" / "journal.jsonl"
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as first:
        wait_for_runs(first, journal, 3)
        first.kill()
    before = journal.read_text()
    assert before.count("\n") >= 3

    done = ended(command)
    assert "resuming after" in done.stderr
    assert journal.read_text().startswith(before[: before.rindex("\n") + 1])

    result = json.loads((tmp_path / "out" / "profile.json").read_text())
    points = {point["added_us"]: point for point in result["points"]}
    assert list(points) == [0, 2000, 8000]
    assert all(len(point["runs"]) == 2 for point in points.values())
    # One request under way per connection: the round trip is load / rate, and grows by what was added.
    round_trips_us = {us: 2 / point["mean"] * 1e6 for us, point in points.items()}
    for us in (2000, 8000):
        assert us <= points[us]["achieved_us"] < us + 2000
        # No upper limit: client and server wait for a processor on a busy machine, but no answer comes early.
        assert us * 0.95 < round_trips_us[us] - round_trips_us[0]
    samples = parse((tmp_path / "out" / "measurements.csv").read_bytes()).samples()
    assert samples.rows == 6
    assert "<svg" in (tmp_path / "out" / "curve.svg").read_text()


@pytest.fixture
def neighbour() -> Iterator[None]:
    """Run a busy loop, detached from this process."""
    loop = "timeout 600 yes >/dev/null 2>&1 & echo $!"
    started = subprocess.run(["setsid", "sh", "-c", loop], capture_output=True, text=True, timeout=60, check=True)
    yield
    os.kill(int(started.stdout), signal.SIGTERM)  # `timeout` hands it on to its loop


@pytest.mark.usefixtures("neighbour")
def test_disturbed_runs_are_repeated_and_reported(command: list[str], tmp_path: Path):
    done = ended([*command, "--patience", "1", "--repeats", "1,1", "--let-sleep"])
    assert done.stderr.count("run repeated when") >= 1
    assert done.stderr.count("does not become quiet") == 1
    assert "of 3 runs; measure on a quiet machine" in done.stdout
    result = json.loads((tmp_path / "out" / "profile.json").read_text())
    assert all(point["others"] > QUIET_BELOW for point in result["points"])


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_nothing_outlives_a_profile(command: list[str], end: signal.Signals, tmp_path: Path):
    journal = tmp_path / "out" / "journal.jsonl"
    # A benchmark that would go on by itself, and a server that would too and does not mind being asked to end.
    script = tmp_path / "server.sh"
    script.write_text('trap "" TERM\nsetsid sleep 3600 &\n"$@" &\nwait\nsleep 3600\n')
    at = command.index("--server") + 1
    command = [*command[:at], f"sh {shlex.quote(str(script))} {command[at]}", *command[at + 1 :], "--seconds", "2"]
    # Whoever runs the tests may have this signal ignored, as shells do for what they start in the background.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    profile = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=heed)
    wait_for_runs(profile, journal, 2)
    root = psutil.Process(profile.pid)
    started = [root, *root.children(recursive=True)]
    commands = [" ".join(process.cmdline()) for process in started if is_alive(process.pid)]
    assert any("delaybox" in one for one in commands)
    assert any("sleep 3600" in one for one in commands)
    profile.send_signal(end)
    code = profile.wait(180)
    assert code == (-9 if end == signal.SIGKILL else 130)
    until(lambda: not any(is_alive(process.pid) for process in started), lambda: str(started))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "recipe or --command"),
        (["--command", "true"], "--pattern or --pointer"),
        (["memcached", "--repeats", "3"], "invalid list of numbers"),
        (["memcached", "--at", "5"], "at least two latencies"),
        (["memcached", "--upload", "https://x.example"], "SINEMORA_API_KEY"),
        (["redis", "--latency", "p50=/x"], "for --command"),
        (["--command", "true", "--pattern", "(.)", "--latency", "p50"], "NAME=REGEX"),
        (["--command", "true", "--pattern", "(.)", "--latency", "p50=x"], "one group"),
        (["redis", "--shape", "uniform"], "needs --around and --magnitudes"),
        (["redis", "--magnitudes", "5"], "need --shape or --replay"),
        (["redis", "--shape", "uniform", "--around", "100", "--magnitudes", "80"], "Negative latency"),
        (["redis", "--replay", "no-such-file.csv"], "Cannot read"),
    ],
)
def test_options_of_a_profile_are_checked_before_it_begins(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
):
    assert main(["profile", *arguments]) in (1, 2)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--command", "no-such-program", "--pattern", "(.)"], "cannot be found"),
        (["--command", "true", "--pattern", "(.)", "--clients", "99"], "1 … 16"),
        (["--command", "false", "--server", "ls /no-such-file", "--pattern", "(.)"], "No such file or directory"),
    ],
)
def test_errors_of_a_profile_are_reported(arguments: list[str], message: str, tmp_path: Path):
    assert message in ended([*PROFILE, "--out", str(tmp_path), *arguments], code=1).stderr
