"""Following logs: whole lines, the name in front, rotation noticed."""

from pathlib import Path

import pytest

from sinemora.operations.embedded.errors import EmbeddedError
from sinemora.operations.embedded.logs import _new_lines, follow


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
