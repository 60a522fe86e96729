"""What receivers are sent, in the words of each service. Pure: a notification in, bytes and headers out.

Webhooks get `Notification.said()`, signed: `Sinemora-Signature: t=<Unix s>,v1=<hex>` with HMAC-SHA-256 of `<t>.<body>`.
Slack gets blocks of an incoming webhook, PagerDuty its Events API v2, Teams an Adaptive Card of a workflow.
"""

import hashlib
import hmac
import json
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from typing import Any

_PAGERDUTY_SEVERITY = {"info": "info", "warning": "warning", "critical": "critical"}
_COLOURS = {"info": "#4c6ef5", "warning": "#f08c00", "critical": "#c92a2a"}
_CELL = 12


@dataclass(frozen=True, slots=True)
class Notification:
    """An incident as receivers hear of it. `about`: opened, repeated, resolved, late or test; times as RFC 3339.

    `others`: how many more were found with one that was found late.
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

    def headline(self) -> str:
        """Return the headline, one line."""
        words = {"resolved": "Resolved", "test": "Test", "repeated": "Still", "late": "Late, over"}
        word = words.get(self.about, self.severity.capitalize())
        return f"[{word}] {self.mesh}: {self.title}"

    def lines(self) -> list[str]:
        """Return the facts, one a line."""
        found = [f"Since {self.onset_at}, {self.paths} paths; rules: {', '.join(self.rules) or '–'}"]
        if self.ended_at:
            found.append(f"Ended {self.ended_at}")
        if self.about == "late":
            found.append("Found in windows that came late; it is over.")
        if self.others:
            found.append(f"{self.others} more of the past were found with it")
        found += [f"Affects {one}" for one in self.applications]
        return found + [f"Runbook: {one}" for one in self.runbooks]

    def said(self) -> dict[str, Any]:
        """Return the notification as JSON."""
        names = ("id", "incident_id", "about", "title", "severity", "mesh", "suspect", "rules", "paths")
        times = ("onset_at", "opened_at", "ended_at", "applications", "runbooks", "url", "others")
        return {name: getattr(self, name) for name in (*names, *times)}


def webhook(told: Notification, key: str | None, at_s: int) -> tuple[bytes, dict[str, str]]:
    """Body and headers of a webhook."""
    body = json.dumps(told.said(), ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json", "User-Agent": "Sinemora", "Sinemora-Delivery": told.id}
    if key:
        headers["Sinemora-Signature"] = f"t={at_s},v1={signature(key, at_s, body)}"
    return body, headers


def signature(key: str, at_s: int, body: bytes) -> str:
    """Return the HMAC that a receiver computes to verify a webhook."""
    return hmac.new(key.encode(), f"{at_s}.".encode() + body, hashlib.sha256).hexdigest()


def slack(told: Notification) -> bytes:
    """Return the body for a Slack incoming webhook (Block Kit)."""
    text = "\n".join([f"*<{told.url}|{_escaped(told.headline())}>*", *map(_escaped, told.lines())])
    block = {"type": "section", "text": {"type": "mrkdwn", "text": text[:2900]}}
    said = {"text": told.headline(), "attachments": [{"color": _COLOURS[told.severity], "blocks": [block]}]}
    return json.dumps(said).encode()


def pagerduty(told: Notification, routing_key: str) -> bytes:
    """Return the body for PagerDuty's Events API v2: one alert per incident, by `dedup_key`."""
    said: dict[str, Any] = {
        "routing_key": routing_key,
        "event_action": "resolve" if told.about == "resolved" else "trigger",
        "dedup_key": f"sinemora-{told.incident_id or told.id}",
    }
    if told.about != "resolved":
        said |= {
            "payload": {
                "summary": told.headline()[:1024],
                "source": told.mesh,
                "severity": _PAGERDUTY_SEVERITY[told.severity],
                "timestamp": told.opened_at,
                "component": told.title,
                "class": told.suspect,
                "custom_details": told.said(),
            },
            "client": "Sinemora",
            "client_url": told.url,
            "links": [{"href": told.url, "text": "Incident"}, *({"href": one} for one in told.runbooks)],
        }
    return json.dumps(said).encode()


def teams(told: Notification) -> bytes:
    """Return an Adaptive Card for a Teams workflow ("when a webhook request is received")."""
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [
            {"type": "TextBlock", "text": told.headline(), "weight": "Bolder", "size": "Medium", "wrap": True},
            *({"type": "TextBlock", "text": line, "wrap": True} for line in told.lines()),
        ],
        "actions": [{"type": "Action.OpenUrl", "title": "Open the incident", "url": told.url}],
    }
    content = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return json.dumps({"type": "message", "attachments": [content]}).encode()


def email(told: Notification, sender: str, to: Sequence[str]) -> EmailMessage:
    """Return an e-mail with the heatmap as a picture; mails of one incident make one thread."""
    made = EmailMessage()
    made["Subject"] = told.headline()
    made["From"], made["To"] = sender, ", ".join(to)
    domain = sender.rpartition("@")[2].rstrip(">") or "sinemora"
    made["Message-ID"] = f"<{told.id}@{domain}>"
    if told.incident_id:
        made["References"] = f"<incident-{told.incident_id}@{domain}>"
    made["Auto-Submitted"] = "auto-generated"
    made.set_content("\n".join([told.headline(), "", *told.lines(), "", told.url, ""]))
    if told.heatmap:
        made.add_attachment(heatmap_png(told.heatmap), maintype="image", subtype="png", filename="heatmap.png")
    return made


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
