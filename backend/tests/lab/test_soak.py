"""Parts of the soak that judge: when faults are due, which failures and tracebacks they explain, what grows."""

import numpy as np
import pytest

from lab.soak import logs
from lab.soak.__main__ import FAULTS
from lab.soak.logs import LogReader, errors_of
from lab.soak.outages import MARGIN_S, Injected, failures_of, fault_at, gap_s, outage_s, p99_s, plan, unexplained
from lab.soak.processes import LIFE_S, WARM_S, Sample, growth

KILLED = Injected("database killed", 100.0, 100.5, 110.0)
REPLACED = Injected("replace", 200.0, 230.0, 230.0)
API = """\
2026-11-27T10:00:00Z [info     ] started
2026-11-27T10:00:01Z [error    ] Exception in ASGI application
Traceback (most recent call last):
  File "a.py", line 1, in call
    connect()
psycopg.OperationalError: the connection is lost

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "b.py", line 2, in call
    {kind}
{kind}: {text}
2026-11-27T10:00:02Z [info     ] goes on
""".splitlines()


@pytest.mark.parametrize(("hours", "rounds"), [(0.03, 1), (0.5, 1), (3, 2), (24, 12)])
def test_each_round_has_every_fault_once_and_a_quiet_half(hours: float, rounds: int):
    planned = plan(3600 * hours, list(FAULTS))
    round_s = 3600 * hours / rounds
    for number in range(rounds):
        of_round = [one for one in planned if number * round_s <= one.at_s < (number + 1) * round_s]
        assert [one.fault for one in of_round] == list(FAULTS)
        assert max(one.at_s for one in of_round) < (number + 0.5) * round_s
    assert len(planned) == rounds * len(FAULTS)


def test_a_fault_explains_what_happens_until_shortly_after_recovery():
    failures = [(99.0, "503"), (100.2, "503"), (108.0, "connection refused"), (110 + MARGIN_S, "503"), (116.0, "503")]
    assert unexplained(failures, [KILLED, REPLACED]) == [(99.0, "503"), (116.0, "503")]
    assert outage_s(failures_of(KILLED, failures, [KILLED, REPLACED])) == pytest.approx(14.8)
    assert outage_s(failures_of(REPLACED, failures, [KILLED, REPLACED])) == 0


def test_what_happens_in_two_faults_belongs_to_the_newer_one():
    newer = Injected("api killed", 111.0, 111.1, 115.0)
    assert fault_at(112.0, [KILLED, newer]) == "api killed"
    failures = [(105.0, "503"), (112.0, "connection refused")]
    assert failures_of(KILLED, failures, [KILLED, newer]) == failures[:1]
    assert failures_of(newer, failures, [KILLED, newer]) == failures[1:]


@pytest.mark.parametrize(
    ("times", "since", "longest_s"),
    [
        ([1, 2, 7, 9], 0, 5),
        ([1, 2, 7, 9], 5, 2),  # nobody could work before: the gap counts from then on
        ([9, 1], 0, 8),
        ([1, 2], 0, 8),  # to the end
        ([30], 0, 10),
        ([], 4, 6),
    ],
)
def test_a_gap_counts_from_when_the_product_could_work(times: list[float], since: float, longest_s: float):
    assert gap_s(times, 0, since, 10) == longest_s


def test_the_percentile_leaves_out_what_began_or_ended_in_a_fault():
    slow = [(98.0, 4.0), (105.0, 0.5)]
    calm = [(float(at), 0.01) for at in range(300, 500)]
    assert p99_s([*slow, *calm], [KILLED]) == pytest.approx(0.01)
    assert p99_s(calm[:99], [KILLED]) is None


def errors(kind: str, text: str, at: float) -> list[logs.LogError]:
    return errors_of([line.format(kind=kind, text=text) for line in API], at, "api")


def test_chained_tracebacks_are_one_error_of_the_last_kind():
    line, traceback = errors("sqlalchemy.exc.OperationalError", "server closed", 105.0)
    assert (line.kind, line.is_traceback) == ("ERROR", False)
    assert (traceback.kind, traceback.is_traceback) == ("OperationalError", True)
    assert traceback.text.endswith("server closed")


@pytest.mark.parametrize(
    ("kind", "at", "strange"),
    [("OperationalError", 105.0, 0), ("OperationalError", 150.0, 1), ("KeyError", 105.0, 1), ("KeyError", 150.0, 1)],
)
def test_a_fault_explains_failed_connections_and_nothing_else(kind: str, at: float, strange: int):
    assert len(logs.unexplained(errors(kind, "text", at), [KILLED])) == strange


def test_logs_of_servers_and_workers_have_levels():
    lines = [
        "2026-11-27 13:19:33.577 UTC [28212] sinemora_app@sinemora ERROR:  duplicate key value",
        "[2026-11-27 13:19:34,000: ERROR/MainProcess] consumer: Cannot connect to redis",
        "2026-11-27 13:19:35.000 UTC [1] LOG:  the text ERROR is no level",
    ]
    assert [one.kind for one in errors_of(lines, 0.0, "any")] == ["ERROR", "ERROR"]


def test_a_reader_returns_each_error_once_also_over_a_rotation(tmp_path):
    log, reader = tmp_path / "api.log", LogReader([tmp_path])
    log.write_text("[error    ] one\n")
    assert len(reader.read(1.0)) == 1
    with log.open("a") as more:
        more.write("[error    ] two\n[error    ] half")
    assert [one.text for one in reader.read(2.0)] == ["[error    ] two"]
    with log.open("a") as more:
        more.write(" three\n")
    (tmp_path / "api.log.1").write_bytes(log.read_bytes())
    log.write_text("[error    ] four\n")
    assert [one.text for one in reader.read(3.0)] == ["[error    ] half three", "[error    ] four"]
    assert reader.read(4.0) == []


def test_growth_is_that_within_the_lives_of_a_program():
    rng = np.random.default_rng(1)

    def life(name: str, begin_s: float, seconds: float, start_mib: float, mib_per_h: float) -> list[Sample]:
        at = np.arange(begin_s, begin_s + seconds, 15.0)
        memory = start_mib + mib_per_h * (at - begin_s) / 3600 + rng.normal(0, 0.05, at.size)
        return [Sample(t, "api", name, m, 50) for t, m in zip(at.tolist(), memory.tolist(), strict=True)]

    long_s = 4 * (WARM_S + LIFE_S)
    leaking = [*life("1", 0.0, long_s, 100.0, 30.0), *life("2", long_s, long_s, 100.0, 30.0)]
    assert growth(leaking)["api"].mib_per_h == pytest.approx(30.0, rel=0.05)
    assert growth(leaking)["api"].files_per_h == 0.0
    short = life("1", 0.0, WARM_S + LIFE_S / 2, 100.0, 30.0)
    assert growth(short)["api"].mib_per_h is None
