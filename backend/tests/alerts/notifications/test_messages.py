"""Texts of notices: every kind of rule and of culprit, hostile and long names, renamed and deleted VMs."""

import json
import struct
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from email import message_from_bytes, policy
from html import unescape
from itertools import product
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import pytest
from sqlalchemy.orm import Session

from sinemora.alerts.evaluation.root_cause import Suspect
from sinemora.alerts.figures import FiguresPicture
from sinemora.alerts.models import Incident, IncidentState
from sinemora.alerts.notifications import messages, picture
from sinemora.alerts.notifications.messages import Notification, digest
from sinemora.alerts.summary import figures_of
from sinemora.kit.db import tenant_session
from tests.api_clients import Member, bare_vm

ROSE = "156 µs → 556 µs (+400 µs, limit 330 µs) on 4 of 4 paths"
AT = datetime(2026, 11, 28, 13, 47, tzinfo=UTC)


@pytest.fixture
def session(owner: Member) -> Iterator[Session]:
    with tenant_session(owner.tenant_id) as opened:
        yield opened


def place(name: str) -> dict[str, str]:
    return {"id": str(uuid4()), "name": name}


def impact(metric: str = "one_way_delay", kind: str = "baseline", **changes: Any) -> dict[str, Any]:
    value, usual, limit = (0.141, None, 0.05) if metric == "loss" else (556_000, 156_000, 330_000)
    worst = {"source": place("a-1"), "target": place("b-1"), "value": value, "usual": usual, "limit": limit}
    statistic = {"loss": "mean", "spike": "max"}.get(metric if metric == "loss" else kind, "p50")
    found = {"rule": "Rule", "kind": kind, "metric": metric, "statistic": statistic, "worst": [worst]}
    return found | {"value": value, "usual": usual, "limit": limit} | changes


def row(suspect: str, evidence: dict[str, Any], words: str = "", **columns: Any) -> Incident:
    """Return an incident that is not in the database."""
    ends = {"path": ("a-1", "b-1"), "pair": ("a-1", "b-1"), "zone_pair": ("a", "b"), "mesh": (), "application": ()}
    at, other = (*map(place, ends.get(suspect, () if suspect.endswith("shares") else ("a-1",))), None, None)[:2]
    hypothesis = {"suspect": suspect, "words": words or suspect, "explained": 4, "bad": 4, "known": 4, "score": 1.0}
    known = {"paths": 4 if "impact" in evidence else 0, "hypotheses": [hypothesis], "at_s": int(AT.timestamp())}
    defaults: dict[str, Any] = {
        "id": uuid4(),
        "mesh_id": uuid4(),
        "state": IncidentState.open,
        "severity": "warning",
        "title": "title",
        "suspect": suspect,
        "culprit": {"suspect": suspect, "at": at, "other": other, "words": words or suspect},
        "evidence": known | evidence,
        "rules": [{"id": str(uuid4()), "name": "Rule", "paths": 4}],
        "applications": [],
        "onset_at": AT,
        "opened_at": AT,
        "seen_at": AT,
        "ended_at": None,
    }
    return Incident(**defaults | columns)


def said(session: Session, incident: Incident) -> tuple[str, ...]:
    return figures_of(session, incident).sentences


WAITS = {"name": "a-1", "stalled": 0.12, "stolen": 0.08, "throttled": None, "longest_ns": 31_000_000}
WAITS |= {"spikes": 4, "spikes_waiting": 0}
UNEVEN = "Fairness index 0.710 among 4 {}, limit 0.883: a-1 has 40 % of the mean share."


def shares(among: str, path: list[str] | None = None) -> dict[str, Any]:
    members = [{"name": "a-1", "share": 1.0, "relative": 0.4}]
    fairness = {"index": 0.71, "below": 0.883, "among": among, "path": path, "count": 4, "members": members}
    return {"fairness": fairness}


@pytest.mark.parametrize(
    ("suspect", "evidence", "sentence"),
    [
        ("zone_pair", {"impact": impact()}, f"One-way delay, p50: {ROSE} from zone a to zone b."),
        (
            "egress",
            {"impact": impact("loss", "threshold")},
            "Packet loss: 14.1 % (limit 5.0 %) on 4 of 4 paths from a-1.",
        ),
        (
            "vm",
            {"impact": impact("loss", "loss", value=0.0051, limit=0.002, over_s=3600)},
            "Packet loss over 60 min: 0.51 % (limit 0.20 %) on 4 of 4 paths from and to a-1.",
        ),
        (
            "path",
            {"impact": impact(kind="spike")},
            "Largest one-way delay of a window: 556 µs, 400 µs above the median of 156 µs (limit 330 µs) on the path"
            " from a-1 to b-1.",
        ),
        (
            "pair",
            {"impact": impact("asymmetry", "threshold", usual=None)},
            "Asymmetry of the two directions, p50: 556 µs (limit 330 µs) on 4 of 4 paths between a-1 and b-1. No usual"
            " value is known yet.",
        ),
        ("clock", {"impact": impact("clock_error")}, f"Clock error: {ROSE} from and to a-1."),
        ("mesh", {"impact": impact("jitter")}, f"Jitter, p50: {ROSE}."),
        ("ingress", {"impact": impact("round_trip")}, f"Round trip, p50: {ROSE} to a-1."),
        ("agent", {"symptoms": ["silence"]}, "No reports arrive from VM a-1."),
        ("zone", {"symptoms": ["silence"]}, "No reports arrive from 4 agents in zone a-1."),
        (
            "bucket",
            {"token_bucket": {"use_mbit": 95.0, "rate_mbit": 80.0, "empty_in_s": 12.0}},
            "Token bucket: 95 Mbit/s against a rate of 80, empty in 12 s.",
        ),
        (
            "host",
            {"hosts": [WAITS]},
            "In a minute a-1 waited for a processor 12.0 % of the time (stolen by the hypervisor 8.0 %), and"
            " once 31 ms.",
        ),
        ("vm_shares", shares("vms"), UNEVEN.format("VMs")),
        ("application_shares", shares("applications"), UNEVEN.format("applications")),
        ("flow_shares", shares("flows", ["a-1", "b-1"]), UNEVEN.format("flows between a-1 and b-1")),
    ],
)
def test_every_kind_of_rule_and_culprit_has_its_sentence(
    session: Session, suspect: str, evidence: dict[str, Any], sentence: str
):
    assert said(session, row(suspect, evidence))[0] == sentence


def test_each_suspect_is_named_with_each_measure(session: Session):
    for suspect, metric in product(Suspect, ("one_way_delay", "loss", "clock_error")):
        sentences = said(session, row(suspect.value, {"impact": impact(metric)}, words="the culprit"))
        assert any("the culprit (4 of 4 affected paths explained, 4 of all 4 bad);" in line for line in sentences)
        assert not any("None" in line or "  " in line for line in sentences), sentences


COSTLY = {"performance": 0.6, "cost": 0.361, "objective": 0.9, "worst_cost": 0.4, "worst_performance": 0.55}


def test_lost_performance_is_in_points_and_never_called_loss(session: Session):
    applications = [
        {"id": str(uuid4()), "name": "checkout", **COSTLY},
        {"id": str(uuid4()), "name": "idle", "cost": 0.0},
    ]
    applications[1] |= {"performance": 1.0, "objective": None}
    incident = row("zone_pair", {"impact": impact()}, applications=applications)
    figures = figures_of(session, incident)
    (line,) = [one for one in figures.sentences if one.startswith("checkout")]
    lost, reached = line.split(", now at ")
    assert lost == "checkout: 36.1 points of performance lost on these paths (predicted)"
    assert reached == "60.0 % of its best, objective 90.0 %."
    assert not any("loss" in line for line in figures.sentences)
    scope = {"mesh": incident.mesh_id, "incident": incident.id, "application": applications[0]["id"]}
    assert [url.rpartition("/recommendations?")[2] for url in figures.links.moves] == [urlencode(scope)]
    incident.ended_at = AT
    (ended,) = figures_of(session, incident).links.moves
    assert ended.endswith(f"/applications/{applications[0]['id']}")
    (worst, _) = figures_of(session, incident).costs
    assert (worst.points, worst.performance) == (40.0, 55.0)


def test_an_application_below_its_objective_names_its_cause(session: Session):
    incident = row("application", {"application": "checkout"}, "application checkout")
    incident.applications = [{"id": str(uuid4()), "name": "checkout", **COSTLY}]
    first, *_ = said(session, incident)
    assert first == "Performance of application checkout: 60.0 % of its best, objective 90.0 %."


HOSTILE = "<!channel> *b* [x](http://evil.example) & `a`\"'</td>"


def notice(session: Session, incident: Incident, about: str = "opened", mesh: str = "prod") -> Notification:
    at = AT.isoformat()
    return Notification(
        id=str(uuid4()),
        incident_id=str(incident.id),
        about=about,
        title=incident.title,
        severity="warning",
        mesh=mesh,
        suspect=incident.suspect,
        rules=("Rule",),
        onset_at=at,
        opened_at=at,
        ended_at=None,
        runbooks=(),
        url="https://sinemora.example/incidents/1",
        figures=figures_of(session, incident),
    )


def hostile(name: str = HOSTILE) -> Incident:
    cells = {"by": "zone", "ids": [str(uuid4())] * 2, "names": [name, "b"], "of": 2, "unit": "ns", "is_change": True}
    worst = impact()["worst"][0] | {"source": place(name)}
    applications = [{"id": str(uuid4()), "name": name, **COSTLY}]
    evidence = {"impact": impact(worst=[worst]), "picture": cells | {"values": [[0, 400_000], [None, -900]]}}
    return row("zone_pair", evidence, f"zone {name}", title=f"zone {name}: delay increased", applications=applications)


def test_names_of_other_people_are_shown_as_they_are_in_every_format(session: Session):
    content = notice(session, hostile(), mesh=HOSTILE)
    slack = messages.slack(content).decode()
    assert "<!channel>" not in slack
    assert "*b*" not in slack.partition("```")[0]  # the table is text of equal width: nothing in it is a format
    body = json.loads(slack)
    assert "&lt;!channel&gt;" in body["text"]
    assert all(part["text"]["verbatim"] for part in body["attachments"][0]["blocks"])
    card = json.loads(messages.teams(content))["attachments"][0]["content"]
    texts = [part["inlines"][0]["text"] for part in card["body"] if part["type"] == "RichTextBlock"]
    assert any(HOSTILE in text for text in texts)  # runs of text have no Markdown
    assert {part["type"] for part in card["body"]} == {"RichTextBlock", "Table"}
    mail = message_from_bytes(bytes(messages.email(content, "a@example.com", ["b@example.com"])), policy=policy.default)
    html = mail.get_body(("html",))
    assert HOSTILE[:20] not in html.get_content()
    assert HOSTILE in unescape(html.get_content())
    assert HOSTILE in str(mail["Subject"])
    hook = json.loads(messages.webhook(content, None, 0)[0])
    assert hook["figures"]["picture"]["names"][0] == HOSTILE


def test_a_mail_has_the_picture_inline_and_a_chat_as_a_table(session: Session):
    content = notice(session, hostile("eu-1a"))
    mail = message_from_bytes(bytes(messages.email(content, "a@example.com", ["b@example.com"])), policy=policy.default)
    image = next(part for part in mail.walk() if part.get_content_type() == "image/png")
    assert f"cid:{image['Content-ID'].strip('<>')}" in mail.get_body(("html",)).get_content()
    assert image.get_content_disposition() == "inline"
    plain = mail.get_body(("plain",)).get_content()
    assert "eu-1a        0  +400 µs\n" in plain
    assert "b            –  −900 ns\n" in plain
    assert "+400 µs" in json.loads(messages.slack(content))["attachments"][0]["blocks"][1]["text"]["text"]
    assert "Heatmap at the onset: " in plain


def test_the_picture_is_a_png_of_its_cells():
    values = ((None, 400_000.0), (0.0, -400_000.0))
    shown = picture.png(picture.table(FiguresPicture("zone", ("1", "2"), ("a", "b"), 2, "ns", True, values)))
    assert shown.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", shown[16:24])
    size = struct.unpack(">I", shown[33:37])[0]
    lines = zlib.decompress(shown[41 : 41 + size])
    assert (width, height, len(lines)) == (48, 48, 48 * (1 + 3 * 48))
    at = {(row, column): (row * 24) * (1 + 3 * 48) + 1 + 3 * 24 * column for row, column in product(range(2), range(2))}
    unknown, rise, none, fall = (tuple(lines[at[cell] : at[cell] + 3]) for cell in at)
    assert (unknown, rise, none, fall) == ((222, 226, 230), (84, 39, 136), (255, 255, 255), (179, 88, 6))


def test_long_lists_and_names_are_cut_with_a_number(session: Session):
    incident = hostile("<" * 100)
    paths = [impact()["worst"][0] for _ in range(12)]
    incident.evidence |= {"impact": impact(worst=paths)}
    incident.applications = [{"id": str(uuid4()), "name": f"{n}" + "&" * 90, **COSTLY} for n in range(40)]
    content = notice(session, incident)
    assert "35 more applications are affected." in content.lines()
    for part in json.loads(messages.slack(content))["attachments"][0]["blocks"]:
        assert len(part["text"]["text"]) <= 3000
    assert messages.cut(["x" * 90] * 50, 1000)[-1] == "… and 40 more lines."
    many = digest([notice(session, row("path", {"impact": impact()})) for _ in range(200)])
    assert (len(json.loads(messages.webhook(many, None, 0)[0])["incidents"]), many.paths) == (100, 800)
    assert "185 more." in many.lines()


def test_the_heatmap_of_a_notice_marks_both_ends_of_a_path(session: Session):
    incident = row("path", {"impact": impact()})
    source, target = incident.culprit["at"], incident.culprit["other"]
    link = figures_of(session, incident).links.heatmap
    assert link.endswith(f"&select={source['id']}&find={target['name']}")
    assert figures_of(session, row("path", {"impact": impact("loss")})).links.heatmap.endswith("&metric=loss")


def test_a_notice_outlives_its_incident_with_all_its_figures(session: Session):
    content = digest([notice(session, hostile()), notice(session, row("agent", {"symptoms": ["silence"]}))])
    assert messages.restored(json.loads(json.dumps(messages.stored(content)))) == content


def test_a_renamed_and_a_deleted_vm_are_named_with_what_became_of_them(session: Session, owner: Member):
    vm = bare_vm(owner, "web-1")
    incident = row("egress", {"impact": impact(worst=[])})
    incident.culprit |= {"at": {"id": vm["id"], "name": "c-1"}}
    assert said(session, incident)[-1] == "VM c-1 is now named web-1."
    assert owner.delete(f"/v1/vms/{vm['id']}").status_code == 204
    assert said(session, incident)[-1] == "VM c-1 was deleted."
