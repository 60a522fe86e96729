"""Judge the HTTP answer of a receiver: accepted, refused, or to be tried again; and put it in words for the log."""

import json
import re
from contextlib import suppress

from sinemora.alerts.models import ReceiverKind
from sinemora.kit.egress_policy import HttpResponse

# Error codes as Slack documents them. Any other text may be of a server that only the operator should read.
_CODE = re.compile(rb"[a-z_]{3,40}")
_TEAMS_FAILED = b"Webhook message delivery failed"


class PermanentError(Exception):
    """A delivery that fails for good; it is not retried."""


class RetryableError(Exception):
    """A delivery that failed for now; `after_s`: from the receiver's Retry-After."""

    def __init__(self, reason: str, after_s: int | None = None) -> None:
        super().__init__(reason)
        self.after_s = after_s


def summary(kind: ReceiverKind, answer: HttpResponse) -> str:
    """Return the words for an answer that accepts a notification. Raises `PermanentError`, `RetryableError`.

    Slack and Teams answer 200 to some messages that they drop: their texts count. The status of other servers decides,
    and a text that reports an error is mentioned.
    """
    words = f"HTTP status {answer.status}"
    if answer.status in (408, 425, 429) or answer.status >= 500:
        raise RetryableError(words, answer.retry_after_s)
    text = answer.body.strip()
    code = f", {text.decode()}" if kind is ReceiverKind.slack and _CODE.fullmatch(text) else ""
    if not 200 <= answer.status < 300:
        raise PermanentError(f"{words}{code}")
    if kind is ReceiverKind.slack and answer.complete and text not in (b"ok", b""):
        raise PermanentError(f"{words}{code}, but not the text `ok` with which Slack accepts a message")
    if kind is ReceiverKind.teams and _TEAMS_FAILED in text:
        raise RetryableError(f"{words}, but Teams reports that the message was not delivered", answer.retry_after_s)
    if not answer.complete:
        return f"{words}; the text that follows took too long and was not awaited"
    return f"{words}, with a text that reports an error" if _reports_error(text) else words


def _reports_error(text: bytes) -> bool:
    """Return whether a text is a JSON object that reports an error, or begins with this word."""
    if text[:5].lower() == b"error":
        return True
    found = None
    with suppress(ValueError):
        found = json.loads(text)
    if not isinstance(found, dict):
        return False
    failed = found.get("ok") is False or found.get("success") is False
    return failed or bool(found.get("error") or found.get("errors")) or found.get("status") in ("error", "failed")
