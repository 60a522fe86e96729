"""Content of notifications in the format of each receiver kind. Pure: a notification in, bytes and headers out.

Webhooks get `Notification.fields()` with the headers of Standard Webhooks: `webhook-id`, `webhook-timestamp` and, with
a key, `webhook-signature`: `v1,` and the HMAC-SHA-256 of `<id>.<timestamp>.<body>` in base64.
Slack: blocks of an incoming webhook. PagerDuty: Events API v2. Teams: an Adaptive Card of a workflow. Opsgenie: Alert
API v2. Alertmanager: its webhook format, version 4.
`picture.py` draws the change by zone: an image in e-mails, a table in chats.
"""

import base64
import binascii
import hashlib
import hmac
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from email.message import EmailMessage
from html import escape
from typing import Any

from pydantic import TypeAdapter

from sinemora.alerts.evaluation.rule import SEVERITIES
from sinemora.alerts.figures import IncidentFigures, cost_sentence, quantity
from sinemora.alerts.notifications import picture

_PAGERDUTY_SEVERITY = {"info": "info", "warning": "warning", "critical": "critical"}
_OPSGENIE_PRIORITY = {"info": "P5", "warning": "P3", "critical": "P1"}
_COLOURS = {"info": "#4c6ef5", "warning": "#f08c00", "critical": "#c92a2a"}
_NEWS = {"opened": "new", "returned": "returned", "repeated": "ongoing", "resolved": "ended"}
_LOOKS_LIKE = {"*": "\u2217", "_": "\u02cd", "~": "\u223c", "`": "\u02cb"}
_LINES_MAX = 15
_INCIDENTS_MAX = 100
# Slack refuses a text of more than 3,000 characters, which it counts after escaping.
_SLACK_MAX, _TEXT_MAX, _LINE_MAX = 2900, 4000, 400


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification of an incident. `about`: opened, returned, repeated, resolved, late, digest, test or accepted.

    Times as RFC 3339. `figures`: None of tests and digests. `others`: number of other incidents found in the same late
    data. `recurrence`: how often a recurring incident was seen. `incidents`: of a digest, each incident once, with its
    newest notice. `more`, `more_at`: number of notices of the same kind that already wait, and when they are sent
    together with those that follow; None if nothing waits for this one. `recommendation`: moves that were accepted, as
    `recommendations/plans.py` writes them; None of others.
    """

    id: str
    incident_id: str | None
    about: str
    title: str
    severity: str
    mesh: str
    suspect: str
    rules: tuple[str, ...]
    onset_at: str
    opened_at: str
    ended_at: str | None
    runbooks: tuple[str, ...]
    url: str
    mesh_id: str | None = None
    figures: IncidentFigures | None = None
    others: int = 0
    recurrence: str | None = None
    incidents: tuple["Notification", ...] = ()
    more: int = 0
    more_at: str | None = None
    recommendation: dict[str, Any] | None = None

    def headline(self) -> str:
        """Return the headline, one line: “[Warning] prod: zone a to zone b: delay increased (156 µs → 556 µs)”."""
        labels = {"resolved": "Resolved", "test": "Test", "late": "Detected late, ended"}
        labels |= {"repeated": "Ongoing", "returned": "Returned", "digest": "Digest", "accepted": "Accepted"}
        label = labels.get(self.about, self.severity.capitalize())
        return f"[{label}] {self.mesh}: {self.title}{self._size()}"

    def _size(self) -> str:
        """Return how large the change is, for the headline."""
        figures = self.figures
        if figures is None or figures.value is None or figures.unit not in ("ns", "ratio"):
            return ""
        value, usual = (quantity(one, figures.unit) for one in (figures.value, figures.usual))
        return f" ({value})" if figures.usual is None else f" ({usual} → {value})"

    @property
    def paths(self) -> int:
        """Number of affected paths."""
        return sum(one.paths for one in self.incidents) if self.figures is None else self.figures.paths

    def applications(self) -> tuple[str, ...]:
        """Return the cost of each affected application as a sentence."""
        if self.figures is None:
            return _each_once(one.applications() for one in self.incidents)
        return tuple(cost_sentence(one) for one in self.figures.costs)

    def lines(self) -> list[str]:
        """Return the facts, one a line."""
        if self.incidents:
            return [*self._digest_lines(), *self._more_lines()]
        figures = self.figures
        lines = [] if figures is None else list(figures.sentences)
        lines.append(
            f"Since {_moment(self.onset_at)}" + (f", until {_moment(self.ended_at)}." if self.ended_at else ".")
        )
        if figures is not None and self.about in ("resolved", "repeated", "late"):
            lines.append(f"Figures are those of its worst window, {figures.at:%H:%M:%S} UTC.")
        if self.rules:
            lines.append(f"Rules: {', '.join(self.rules)}.")
        if self.recurrence:
            lines.append(f"Recurs: {self.recurrence}.")
        if self.about == "late":
            lines.append("Detected in late data after it had ended.")
        if self.others:
            lines.append(f"Other incidents in the same late data: {self.others}.")
        return lines + self._more_lines()

    def _more_lines(self) -> list[str]:
        """Return when notices of the same kind follow, and how many there are so far."""
        if self.more_at is None:
            return []
        so_far = f"{self.more} so far" if self.more else "none so far"
        at = _moment(self.more_at)
        return [f"More of this kind follow in one notice at {at} ({so_far}); what lasts for minutes is sent by itself."]

    def _digest_lines(self) -> list[str]:
        """Return an incident a line, those that continue first."""
        shown = sorted(self.incidents, key=lambda one: one.ended_at is not None)[:_LINES_MAX]
        lines = [
            f"{one.severity.capitalize()}, {_NEWS[one.about]}: {one.title}{one._size()}. {one.times()}" for one in shown
        ]
        more = len(self.incidents) - len(shown)
        return [*lines, *([f"{more} more."] if more else []), "Notices below critical are sent together."]

    def times(self) -> str:
        """Return when it began and ended, and how it recurs."""
        ended = f", ended: {self.ended_at}" if self.ended_at else ", continues"
        return f"Onset: {self.onset_at}{ended}" + (f"; {self.recurrence}" if self.recurrence else "")

    def links(self) -> list[tuple[str, str]]:
        """Return the pages that help, each with its title: the incident first."""
        links = [("Incidents" if self.incidents else "Incident", self.url)]
        if self.figures is not None:
            links.append(("Heatmap at the onset", self.figures.links.heatmap))
            links += [
                (f"Moves for {cost.name}", url)
                for cost, url in zip(self.figures.costs, self.figures.links.moves, strict=False)
            ]
        return links + [("Runbook", one) for one in self.runbooks]

    def fields(self) -> dict[str, Any]:
        names = ("id", "incident_id", "about", "title", "severity", "mesh", "mesh_id", "suspect", "rules", "paths")
        times = ("onset_at", "opened_at", "ended_at", "runbooks", "url", "others", "recurrence", "more", "more_at")
        fields = {name: getattr(self, name) for name in (*names, *times)}
        figures = (
            None if self.figures is None else asdict(self.figures) | {"at": f"{self.figures.at:%Y-%m-%dT%H:%M:%SZ}"}
        )
        return fields | {
            "applications": self.applications(),
            "evidence": () if self.figures is None else self.figures.sentences,
            "figures": figures,
            "incidents": [one.fields() for one in self.incidents[:_INCIDENTS_MAX]],
            **({} if self.recommendation is None else {"recommendation": self.recommendation}),
        }


_STORED = TypeAdapter(Notification)


def stored(content: Notification) -> dict[str, Any]:
    """Return a notification as JSON to keep, for when its incident is gone."""
    fields: dict[str, Any] = _STORED.dump_python(content, mode="json")
    return fields


def restored(fields: Mapping[str, Any]) -> Notification:
    """Return a notification from what `stored` returned. Raises `ValueError` for what is none."""
    return _STORED.validate_python(fields)


def digest(notices: Sequence[Notification]) -> Notification:
    """Return one notification for notices about several incidents of a mesh, oldest first."""
    newest = {notice.incident_id: notice for notice in notices}
    incidents = tuple(newest.values())
    counts = Counter(_NEWS[one.about] for one in incidents)
    news = ", ".join(f"{count} {word}" for word, count in counts.items())
    severity = next(one for one in reversed(SEVERITIES) if any(one == incident.severity for incident in incidents))
    first = incidents[0]
    return Notification(
        id=notices[0].id,
        incident_id=None,
        about="digest",
        title=f"{len(incidents)} incidents below critical: {news}",
        severity=str(severity),
        mesh=first.mesh,
        mesh_id=first.mesh_id,
        suspect=first.suspect,
        rules=_each_once(one.rules for one in incidents),
        onset_at=min(one.onset_at for one in incidents),
        opened_at=min(one.opened_at for one in incidents),
        ended_at=None,
        runbooks=_each_once(one.runbooks for one in incidents),
        url=f"{first.url.rpartition('/')[0]}?show=all",
        incidents=incidents,
    )


def _each_once(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for some in names for name in some))


def _moment(at: str) -> str:
    """Return an RFC 3339 time in UTC as people read it."""
    return f"{at[:19].replace('T', ' ')} UTC"


def cut(lines: Sequence[str], most: int, written: Callable[[str], str] = str) -> list[str]:
    """Return lines, as `written`, of at most `most` characters together; the last one has the number of the rest."""
    kept: list[str] = []
    left = most - 40  # for the line with the number
    for at, line in enumerate(lines):
        short = written(line if len(line) <= _LINE_MAX else f"{line[: _LINE_MAX - 1]}…")
        left -= len(short) + 1
        if left < 0:
            return [*kept, f"… and {len(lines) - at} more lines."]
        kept.append(short)
    return kept


def webhook(content: Notification, key: str | None, at_s: int) -> tuple[bytes, dict[str, str]]:
    """Return body and headers of a webhook."""
    body = json.dumps(content.fields(), ensure_ascii=False).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Sinemora",
        "webhook-id": content.id,
        "webhook-timestamp": str(at_s),
    }
    if key:
        headers["webhook-signature"] = f"v1,{signature(key, content.id, at_s, body)}"
    return body, headers


def signature(key: str, message_id: str, at_s: int, body: bytes) -> str:
    """Return the HMAC that a receiver computes to verify a webhook, in base64 (Standard Webhooks 1.0)."""
    signed = f"{message_id}.{at_s}.".encode() + body
    return base64.b64encode(hmac.digest(_key_bytes(key), signed, hashlib.sha256)).decode()


def _key_bytes(key: str) -> bytes:
    """Return the bytes of a key: those of the base64 after `whsec_`, else its text."""
    if key.startswith("whsec_"):
        with suppress(binascii.Error):
            return base64.b64decode(key.removeprefix("whsec_"), validate=True)
    return key.encode()


def slack(content: Notification) -> bytes:
    """Return the body for a Slack incoming webhook (Block Kit)."""
    title = f"*<{_slack_url(content.url)}|{_mrkdwn(content.headline())}>*"
    blocks = [_section("\n".join([title, *cut(content.lines(), _SLACK_MAX - len(title), _mrkdwn)]))]
    if (table := _table(content)) is not None:
        blocks.append(
            _section(f"{_mrkdwn(table.caption)}\n```{_escaped(table.text().replace('`', _LOOKS_LIKE['`']))}```")
        )
    links = " · ".join(f"<{_slack_url(url)}|{_mrkdwn(title)}>" for title, url in content.links()[1:6])
    if links:
        blocks.append(_section(links))
    body = {
        "text": _mrkdwn(content.headline()),
        "attachments": [{"color": _COLOURS[content.severity], "blocks": blocks}],
    }
    return json.dumps(body).encode()


def _section(text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "verbatim": True, "text": text}}


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _mrkdwn(text: str) -> str:
    """Return text that Slack shows as it is: names of other people are no mention, no link and no format.

    Signs of formats are replaced at the edge of a word only, so that `db_primary_1` can still be copied.
    """
    return _escaped(re.sub(r"(?<!\w)[*_~`]|[*_~`](?!\w)", lambda sign: _LOOKS_LIKE[sign[0]], text))


def _slack_url(url: str) -> str:
    return _escaped(url).replace("|", "%7C")


def _table(content: Notification) -> picture.Table | None:
    shown = None if content.figures is None else content.figures.picture
    return None if shown is None else picture.table(shown)


def pagerduty(content: Notification, routing_key: str) -> bytes:
    """Return the body for PagerDuty's Events API v2: one alert per incident, by `dedup_key`."""
    event: dict[str, Any] = {
        "routing_key": routing_key,
        "event_action": "resolve" if content.about == "resolved" else "trigger",
        "dedup_key": f"sinemora-{content.incident_id or content.id}",
    }
    if content.about != "resolved":
        event |= {
            "payload": {
                "summary": content.headline()[:1024],
                "source": content.mesh,
                "severity": _PAGERDUTY_SEVERITY[content.severity],
                "timestamp": content.opened_at,
                "component": content.title,
                "class": content.suspect,
                "custom_details": {"summary": content.lines(), **content.fields()},
            },
            "client": "Sinemora",
            "client_url": content.url,
            "links": [{"href": url, "text": title} for title, url in content.links()],
        }
    return json.dumps(event).encode()


def opsgenie(content: Notification, api_key: str) -> tuple[str, bytes, dict[str, str]]:
    """Return path, body and headers for Opsgenie's Alert API v2: one alert per incident, by `alias`."""
    alias = f"sinemora-{content.incident_id or content.id}"
    headers = {"Content-Type": "application/json", "Authorization": f"GenieKey {api_key}"}
    if content.about == "resolved":
        note = {"source": "Sinemora", "note": "\n".join(cut(content.lines(), _TEXT_MAX))}
        return f"/v2/alerts/{alias}/close?identifierType=alias", json.dumps(note).encode(), headers
    links = [f"{title}: {url}" for title, url in content.links()]
    alert = {
        "message": content.headline()[:130],
        "alias": alias,
        "description": "\n".join([*cut(content.lines(), _TEXT_MAX), *links]),
        "entity": content.mesh,
        "source": "Sinemora",
        "priority": _OPSGENIE_PRIORITY[content.severity],
        "details": {"incident": content.url, "suspect": content.suspect, "rules": ", ".join(content.rules)[:1000]},
    }
    return "/v2/alerts", json.dumps(alert).encode(), headers


def alertmanager(content: Notification, external_url: str) -> bytes:
    """Return the body that Alertmanager sends to webhooks (version 4): a group of one alert per incident.

    Labels other than the severity never change, so that the end is that of the alert that began.
    """
    incident = content.incident_id or content.id
    ended = content.about == "resolved"
    labels = {"alertname": "SinemoraIncident", "incident": incident, "mesh": content.mesh, "severity": content.severity}
    runbooks = {"runbook_url": content.runbooks[0]} if content.runbooks else {}
    lines = "\n".join(cut(content.lines(), _TEXT_MAX))
    annotations = {"summary": content.headline(), "description": lines, **runbooks}
    status = "resolved" if ended else "firing"
    alert = {
        "status": status,
        "labels": labels,
        "annotations": annotations,
        "startsAt": content.onset_at,
        "endsAt": content.ended_at if ended and content.ended_at else "0001-01-01T00:00:00Z",
        "generatorURL": content.url,
        "fingerprint": hashlib.sha256(incident.encode()).hexdigest()[:16],
    }
    group = {"incident": incident}
    body = {
        "version": "4",
        "groupKey": f'{{}}:{{incident="{incident}"}}',
        "truncatedAlerts": 0,
        "status": status,
        "receiver": "sinemora",
        "groupLabels": group,
        "commonLabels": labels,
        "commonAnnotations": annotations,
        "externalURL": external_url,
        "alerts": [alert],
    }
    return json.dumps(body).encode()


def heartbeat(about: str, url: str) -> bytes:
    """Return the body of a heartbeat. `about`: heartbeat, or test; `url`: of this installation."""
    return json.dumps({"about": about, "url": url}).encode()


def teams(content: Notification) -> bytes:
    """Return an Adaptive Card for a Teams workflow ("when a webhook request is received").

    Texts are runs of a `RichTextBlock`, which have no Markdown: names are shown as they are.
    """
    body = [_rich(content.headline(), weight="Bolder", size="Medium"), *map(_rich, cut(content.lines(), _TEXT_MAX))]
    if (table := _table(content)) is not None:
        body += [_rich(table.caption), _teams_table(table)]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.5",
        "body": body,
        "actions": [{"type": "Action.OpenUrl", "title": title, "url": url} for title, url in content.links()[:6]],
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return json.dumps({"type": "message", "attachments": [attachment]}).encode()


def _rich(text: str, **style: str) -> dict[str, Any]:
    return {"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": text, **style}]}


def _teams_table(table: picture.Table) -> dict[str, Any]:
    def cell(text: str, share: float | None = None) -> dict[str, Any]:
        style = {"style": "attention"} if share is not None and share > 0.5 else {}
        return {"type": "TableCell", "items": [_rich(text, size="Small")], **style}

    rows = [
        [cell(""), *map(cell, table.names)],
        *([cell(name), *(cell(text, share) for text, share in line)] for name, line in table.rows),
    ]
    return {
        "type": "Table",
        "firstRowAsHeaders": True,
        "columns": [{"width": 1} for _ in rows[0]],
        "rows": [{"type": "TableRow", "cells": cells} for cells in rows],
    }


def email(content: Notification, sender: str, to: Sequence[str]) -> EmailMessage:
    """Return an e-mail as text and as HTML with the picture of the change; e-mails of one incident form one thread."""
    message = EmailMessage()
    message["Subject"] = content.headline()
    message["From"], message["To"] = sender, ", ".join(to)
    domain = sender.rpartition("@")[2].rstrip(">") or "sinemora"
    message["Message-ID"] = f"<{content.id}@{domain}>"
    if content.incident_id:
        message["References"] = f"<incident-{content.incident_id}@{domain}>"
    message["Auto-Submitted"] = "auto-generated"
    table, links = _table(content), content.links()
    lines = [content.headline(), "", *cut(content.lines(), _TEXT_MAX), ""]
    lines += [] if table is None else [table.caption, "", table.text(), ""]
    message.set_content("\n".join([*lines, *(f"{title}: {url}" for title, url in links), ""]))
    message.add_alternative(_html(content, table), subtype="html")
    if table is not None:
        part: Any = message.get_payload()
        name = {"cid": f"<{_IMAGE}>", "disposition": "inline", "filename": "change.png"}
        part[-1].add_related(picture.png(table), maintype="image", subtype="png", **name)
    return message


_IMAGE = "change@sinemora"


def _html(content: Notification, table: picture.Table | None) -> str:
    paragraphs = [f"<p>{escape(line)}</p>" for line in cut(content.lines(), _TEXT_MAX)]
    shown = "" if table is None else picture.html(table, _IMAGE)
    links = " · ".join(f'<a href="{escape(url)}">{escape(title)}</a>' for title, url in content.links())
    body = f"<h2>{escape(content.headline())}</h2>{''.join(paragraphs)}{shown}<p>{links}</p>"
    return f'<!doctype html><html lang="en"><body style="font:14px sans-serif">{body}</body></html>'
