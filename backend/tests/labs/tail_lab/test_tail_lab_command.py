"""`sinemora tail-lab` in this process."""

import json
from pathlib import Path

import pytest

from sinemora.cli import main

FEW = ["tail-lab", "--workload", "w4", "--flows", "1000", "--evaluations", "5", "--policy", "d_tail_blind"]


def test_a_study_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*FEW, "--classes", "4"]) == 0
    printed = capsys.readouterr()
    assert "W4 Facebook Hadoop, 1,000 flows" in printed.out
    assert "D-TAIL blind, 4 classes" in printed.out
    assert "pFabric: D-TAIL blind below LAS, tail_mean" in printed.out
    assert "sudo sinemora-guard on --interface eth0 --rate 10gbit --mode " in printed.out
    assert "evaluation 5 of 5" in printed.err


def test_own_sizes_are_read_and_the_study_written_as_json(run, tmp_path: Path) -> None:
    file = tmp_path / "sizes.csv"
    file.write_text("bytes,count\n500,9\n90000,1\n")
    study = json.loads(run(*FEW, "--sizes", str(file), "--alpha", "1.5", "--json"))
    assert (study["workload"], study["outcomes"][-1]["alpha"], study["searches"]) == ("own", 1.5, [])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--load", "2"], "--load: Must be at most 0.95."),
        (["--sizes", "nowhere.csv"], "nowhere.csv cannot be read"),
        (["--workload", "w5", "--flows", "1000000"], "ask for fewer flows"),
        (["--policy", "edf"], "'fcfs', 'ps', 'las'"),
    ],
)
def test_what_is_not_understood_is_named(arguments: list[str], words: str, run) -> None:
    assert words in run("tail-lab", *arguments, code=2)
