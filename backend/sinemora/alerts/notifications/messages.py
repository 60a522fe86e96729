"""Content of notifications in the format of each receiver kind. Pure: a notification in, bytes and headers out.

Webhooks get `Notification.fields()` with the headers of Standard Webhooks: `webhook-id`, `webhook-timestamp` and, with
a key, `webhook-signature`: `v1,` and the HMAC-SHA-256 of `<id>.<timestamp>.<body>` in base64.
Slack: blocks of an incoming webhook. PagerDuty: Events API v2. Teams: an Adaptive Card of a workflow.
"""

import base64
import binascii
import hashlib
import hmac
import json
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from typing import Any

from sinemora.alerts.evaluation.rule import SEVERITIES

_PAGERDUTY_SEVERITY = {"info": "info", "warning": "warning", "critical": "critical"}
_COLOURS = {"info": "#4c6ef5", "warning": "#f08c00", "critical": "#c92a2a"}
_CELL = 12
_NEWS = {"opened": "new", "returned": "returned", "repeated": "ongoing", "resolved": "ended"}
# Slack cuts a text at 3,000 characters.
_LINES_MAX = 15
_INCIDENTS_MAX = 100


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification of an incident. `about`: opened, returned, repeated, resolved, late, digest or test.

    Times as RFC 3339. `others`: number of other incidents found in the same late data. `recurrence`: how often a
    recurring incident was seen. `evidence`: figures behind it, a sentence each. `incidents`: of a digest, each incident
    once, with its newest notice.
    """

    id: str
    incident_id: str | None
    about: str
    title: str
    severity: str
    mesh: str
    suspect: str
    rules: tuple[str, ...]
    paths: int
    onset_at: str
    opened_at: str
    ended_at: str | None
    applications: tuple[str, ...]
    runbooks: tuple[str, ...]
    url: str
    heatmap: tuple[tuple[float | None, ...], ...] = ()
    others: int = 0
    recurrence: str | None = None
    evidence: tuple[str, ...] = ()
    incidents: tuple["Notification", ...] = ()

    def headline(self) -> str:
        """Return the headline, one line."""
        labels = {"resolved": "Resolved", "test": "Test", "late": "Detected late, ended"}
        labels |= {"repeated": "Ongoing", "returned": "Returned", "digest": "Digest"}
        label = labels.get(self.about, self.severity.capitalize())
        return f"[{label}] {self.mesh}: {self.title}"

    def lines(self) -> list[str]:
        """Return the facts, one a line."""
        if self.incidents:
            return self._digest_lines()
        lines = [f"Onset: {self.onset_at}, paths: {self.paths}, rules: {', '.join(self.rules) or '–'}"]
        lines += self.evidence
        if self.recurrence:
            lines.append(f"Recurs: {self.recurrence}")
        if self.ended_at:
            lines.append(f"Ended: {self.ended_at}")
        if self.about == "late":
            lines.append("Detected in late data after it had ended.")
        if self.others:
            lines.append(f"Other incidents in the same late data: {self.others}")
        lines += [f"Affected application: {one}" for one in self.applications]
        return lines + [f"Runbook: {one}" for one in self.runbooks]

    def _digest_lines(self) -> list[str]:
        """Return an incident a line, those that continue first."""
        shown = sorted(self.incidents, key=lambda one: one.ended_at is not None)[:_LINES_MAX]
        lines = [f"{one.severity.capitalize()}, {_NEWS[one.about]}: {one.title}. {one.times()}" for one in shown]
        more = len(self.incidents) - len(shown)
        return [*lines, *([f"{more} more."] if more else []), "Notices below critical are sent together."]

    def times(self) -> str:
        """Return when it began and ended, and how it recurs."""
        ended = f", ended: {self.ended_at}" if self.ended_at else ", continues"
        return f"Onset: {self.onset_at}{ended}" + (f"; {self.recurrence}" if self.recurrence else "")

    def fields(self) -> dict[str, Any]:
        """Return the notification as JSON."""
        names = ("id", "incident_id", "about", "title", "severity", "mesh", "suspect", "rules", "paths")
        times = ("onset_at", "opened_at", "ended_at", "applications", "runbooks", "url", "others")
        fields = {name: getattr(self, name) for name in (*names, *times, "recurrence", "evidence")}
        return fields | {"incidents": [one.fields() for one in self.incidents[:_INCIDENTS_MAX]]}


def restored(fields: Mapping[str, Any]) -> Notification:
    """Return a notification from its fields as JSON."""
    values: dict[str, Any] = {name: tuple(one) if isinstance(one, list) else one for name, one in fields.items()}
    return Notification(**values)


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
        suspect=first.suspect,
        rules=_each_once(one.rules for one in incidents),
        paths=sum(one.paths for one in incidents),
        onset_at=min(one.onset_at for one in incidents),
        opened_at=min(one.opened_at for one in incidents),
        ended_at=None,
        applications=_each_once(one.applications for one in incidents),
        runbooks=_each_once(one.runbooks for one in incidents),
        url=f"{first.url.rpartition('/')[0]}?show=all",
        incidents=incidents,
    )


def _each_once(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for some in names for name in some))


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
    text = "\n".join([f"*<{content.url}|{_escaped(content.headline())}>*", *map(_escaped, content.lines())])
    block = {"type": "section", "text": {"type": "mrkdwn", "text": text[:2900]}}
    body = {"text": content.headline(), "attachments": [{"color": _COLOURS[content.severity], "blocks": [block]}]}
    return json.dumps(body).encode()


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
                "custom_details": content.fields(),
            },
            "client": "Sinemora",
            "client_url": content.url,
            "links": [{"href": content.url, "text": "Incident"}, *({"href": one} for one in content.runbooks)],
        }
    return json.dumps(event).encode()


def heartbeat(about: str, url: str) -> bytes:
    """Return the body of a heartbeat. `about`: heartbeat, or test; `url`: of this installation."""
    return json.dumps({"about": about, "url": url}).encode()


def teams(content: Notification) -> bytes:
    """Return an Adaptive Card for a Teams workflow ("when a webhook request is received")."""
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [
            {"type": "TextBlock", "text": content.headline(), "weight": "Bolder", "size": "Medium", "wrap": True},
            *({"type": "TextBlock", "text": line, "wrap": True} for line in content.lines()),
        ],
        "actions": [{"type": "Action.OpenUrl", "title": "Open the incident", "url": content.url}],
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return json.dumps({"type": "message", "attachments": [attachment]}).encode()


def email(content: Notification, sender: str, to: Sequence[str]) -> EmailMessage:
    """Return an e-mail with the heatmap as an image; e-mails of one incident form one thread."""
    message = EmailMessage()
    message["Subject"] = content.headline()
    message["From"], message["To"] = sender, ", ".join(to)
    domain = sender.rpartition("@")[2].rstrip(">") or "sinemora"
    message["Message-ID"] = f"<{content.id}@{domain}>"
    if content.incident_id:
        message["References"] = f"<incident-{content.incident_id}@{domain}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content("\n".join([content.headline(), "", *content.lines(), "", content.url, ""]))
    if content.heatmap:
        message.add_attachment(heatmap_png(content.heatmap), maintype="image", subtype="png", filename="heatmap.png")
    return message


def heatmap_png(values: Sequence[Sequence[float | None]]) -> bytes:
    """Return a PNG of a square of numbers: white at 0 or less, dark red from 12 (deviations), grey where unknown."""
    largest = max((one for row in values for one in row if one is not None), default=1.0)
    scale = 12.0 if largest > 1.0 else 1.0
    lines = []
    for row in values:
        pixels = b"".join(_pixel(one, scale) * _CELL for one in row)
        lines.append((b"\0" + pixels) * _CELL)
    size = struct.pack(">IIBBBBB", len(values[0]) * _CELL, len(values) * _CELL, 8, 2, 0, 0, 0)
    parts = (b"IHDR", size), (b"IDAT", zlib.compress(b"".join(lines), 9)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )


def _pixel(value: float | None, scale: float) -> bytes:
    if value is None:
        return bytes((222, 226, 230))
    share = min(max(value / scale, 0.0), 1.0)
    return bytes(round(255 + share * (low - 255)) for low in (134, 20, 20))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
