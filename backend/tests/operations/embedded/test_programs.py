"""How soon a program that dies comes back, in which order programs stop, how logs are kept short and followed."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sinemora.operations.embedded import programs
from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.logs import _new_lines, follow
from sinemora.operations.embedded.programs import Child, Program, delay_s
from sinemora.operations.embedded.supervisor import stoppable

FAILED = 1 << 8


def program(name: str, *, needs: tuple[str, ...] = (), command: tuple[str, ...] = ("true",)) -> Program:
    return Program(name, name.title(), list(command), Path("/"), {}, needs=needs)


def child(name: str = "api", needs: tuple[str, ...] = ()) -> Child:
    return Child(program(name, needs=needs), Path(os.devnull))


def test_first_restart_is_immediate_then_it_waits_longer_up_to_a_limit() -> None:
    delays = [delay_s(failures) for failures in range(1, 12)]
    assert delays[0] == 0
    assert delays == sorted(delays)
    assert delays[-1] == programs.LONGEST_DELAY_S


@pytest.mark.parametrize(
    ("lived_s", "was_up", "failures"),
    [
        pytest.param(1.0, False, 4, id="never came up"),
        pytest.param(1.0, True, 4, id="came up and died"),
        pytest.param(programs.STABLE_S, True, 1, id="ran well for a while"),
        pytest.param(programs.STABLE_S, False, 4, id="long, but never came up"),
    ],
)
def test_a_program_that_ran_well_starts_counting_anew(lived_s: float, was_up: bool, failures: int) -> None:
    running = child()
    running.failures, running.is_up, running.started_at = 3, was_up, 100.0
    running.ended(FAILED, 100.0 + lived_s)
    assert running.failures == failures
    assert running.due_at == 100.0 + lived_s + delay_s(failures)


def test_programs_stop_before_what_they_need() -> None:
    engines = ("postgres", "valkey")
    started = [
        child("postgres"),
        child("valkey"),
        child("api", engines),
        child("worker", engines),
        child("agent-1", ("api",)),
        child("agent-2", ("api",)),
    ]
    for number, entry in enumerate(started):
        entry.pid = number + 1
    order: list[set[str]] = []
    while ready := stoppable(started):
        order.append({entry.program.name for entry in ready})
        for entry in ready:
            entry.pid = None
    assert order == [{"agent-1", "agent-2", "worker"}, {"api"}, {"postgres", "valkey"}]


def test_a_long_log_is_set_aside_and_goes_on_in_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "LOG_LIMIT_BYTES", 10)
    running = Child(program("api"), tmp_path / "api.log")
    with running.log.open("ab") as held_by_the_process:
        for number in range(programs.LOG_KEPT + 2):
            held_by_the_process.write(b"%d: twelve bytes\n" % number)
            held_by_the_process.flush()
            running.rotate_log()
        held_by_the_process.write(b"fresh\n")
    assert running.log.read_text() == "fresh\n"
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert kept == ["api.log", *(f"api.log.{number}" for number in range(1, programs.LOG_KEPT + 1))]
    assert (tmp_path / "api.log.1").read_text().startswith(f"{programs.LOG_KEPT + 1}:")


def test_a_program_is_started_by_itself_while_its_template_does_not_answer(tmp_path: Path) -> None:
    running = Child(replace(program("api"), template=tmp_path / "nobody"), tmp_path / "api.log")
    running.start(0.0)
    assert running.pid is not None
    running.ended(os.waitpid(running.pid, 0)[1], 0.0)
    assert running.last_end == "ended with 0"


def test_each_line_is_told_once_and_only_when_whole(tmp_path: Path) -> None:
    log, read_to = tmp_path / "api.log", dict[Path, int]()
    log.write_text("one\ntwo\nthr")
    assert _new_lines(log, read_to) == ["one", "two"]
    assert _new_lines(log, read_to) == []
    log.write_text("one\ntwo\nthree\n")
    assert _new_lines(log, read_to) == ["three"]
    log.write_text("four\n")  # rotated: emptied in place, shorter than before
    assert _new_lines(log, read_to) == ["four"]


def test_a_long_log_starts_near_its_end_with_a_whole_line(tmp_path: Path) -> None:
    log = tmp_path / "api.log"
    log.write_text("".join(f"line {number}\n" for number in range(2000)))
    lines = _new_lines(log, {})
    assert lines[-1] == "line 1999"
    assert all(line.startswith("line ") for line in lines)
    assert len(lines) < 2000


def test_an_unknown_process_is_answered_with_those_there_are(tmp_path: Path) -> None:
    (tmp_path / "api.log").touch()
    with pytest.raises(EmbeddedError, match="no log of ap") as caught:
        follow(tmp_path, ["ap"], endless=False)
    assert "api" in caught.value.advice


def test_lines_carry_the_name_of_their_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "api.log").write_text("hello\n")
    (tmp_path / "worker.log").write_text("there\n")
    follow(tmp_path, [], endless=False)
    assert capsys.readouterr().out == "api      | hello\nworker   | there\n"
