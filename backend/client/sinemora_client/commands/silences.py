"""`sinemora silences`: silences over the API."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from typer import Argument, Option, Typer

from sinemora_client.commands import CommandError, Terminal, api_command

_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_FOR = re.compile(r"(\d{1,5})([mhdw])")
_WEEKLY = re.compile(r"(mon|tue|wed|thu|fri|sat|sun) ([01]\d|2[0-3]):([0-5]\d) (\S+)")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

app = Typer(rich_markup_mode=None)
silences = Typer(rich_markup_mode=None)
app.add_typer(silences, name="silences", help="Manage silences of notifications (API key).")

Matchers = Annotated[list[str], Argument(help="label=value or label!=value, as vm=web-* or severity=info.")]
Lasts = Annotated[str, Option("--for", help="Duration: 15m, 4h, 2d or 1w.")]
StartsAt = Annotated[str | None, Option("--from", help="Start, as 2026-11-20T22:00:00Z.", show_default="now")]
Weekly = Annotated[
    str | None, Option(help='Only at this time of each week, in UTC, as "sun 02:00 2h"; --for limits the weeks.')
]


@api_command(silences, "list")
def list_silences(client: Terminal) -> None:
    """List all silences, latest end first."""
    items = list(client.items("/v1/silences"))
    rows = [
        (item["id"], "active" if item["active"] else "", item["ends_at"][:19], _matchers(item), item["comment"])
        for item in items
    ]
    client.print_result(items, ("id", "", "ends", "matchers", "comment"), rows)


def _matchers(silence: Any) -> str:
    return " and ".join(
        f"{matcher['label']}{'!=' if matcher['negate'] else '='}{matcher['value']}" for matcher in silence["matchers"]
    )


@api_command(silences, "preview")
def preview_silence(
    client: Terminal,
    matcher: Matchers,
    lasts: Lasts = "4h",
    starts_at: StartsAt = None,
    weekly: Weekly = None,
    comment: Annotated[str, Option(help="Reason.")] = "preview",
) -> None:
    """List recent incidents that would match."""
    body = _silence(matcher, lasts, starts_at, weekly, comment)
    preview = client.read("/v1/silence-previews", body)
    for note in preview["notes"]:
        client.print_line(note)
    incidents = preview["incidents"]
    client.print_result(incidents, ("opened", "suspect"), [(row["opened_at"][:19], row["title"]) for row in incidents])


@api_command(silences, "add")
def add_silence(
    client: Terminal,
    matcher: Matchers,
    comment: Annotated[str, Option(help="Reason.")],
    lasts: Lasts = "4h",
    starts_at: StartsAt = None,
    weekly: Weekly = None,
) -> None:
    """Create a silence."""
    silence = client.read("/v1/silences", _silence(matcher, lasts, starts_at, weekly, comment))
    row = (silence["id"], silence["ends_at"][:19], _matchers(silence))
    client.print_result(silence, ("id", "ends", "matchers"), [row])


def _silence(
    matchers: list[str], lasts: str, starts_at: str | None, weekly: str | None, comment: str
) -> dict[str, Any]:
    duration = _duration(lasts, "--for")
    try:
        start = datetime.fromisoformat(starts_at) if starts_at else datetime.now(UTC)
    except ValueError:
        raise CommandError(f"Invalid time: --from {starts_at}; write it as 2026-11-20T22:00:00Z.") from None
    body = {
        "comment": comment,
        "matchers": [_matcher(matcher) for matcher in matchers],
        "ends_at": (start + duration).isoformat(),
        "weekly": None if weekly is None else _weekly(weekly),
    }
    return body | ({"starts_at": start.isoformat()} if starts_at else {})


def _duration(text: str, where: str) -> timedelta:
    parts = _FOR.fullmatch(text)
    if parts is None:
        raise CommandError(f"Invalid duration: {where} {text}; write 15m, 4h, 2d or 1w.")
    return timedelta(seconds=int(parts[1]) * _UNITS[parts[2]])


def _weekly(text: str) -> dict[str, int]:
    parts = _WEEKLY.fullmatch(text.lower())
    if parts is None:
        raise CommandError(f'Invalid --weekly {text}: write day, time (UTC) and duration, as "sun 02:00 2h".')
    minutes = _duration(parts[4], "--weekly") // timedelta(minutes=1)
    return {"weekday": _DAYS.index(parts[1]), "minute": int(parts[2]) * 60 + int(parts[3]), "lasts_min": minutes}


def _matcher(text: str) -> dict[str, Any]:
    label, sign, value = text.partition("=")
    if not sign or not value:
        raise CommandError(f"Invalid matcher: {text}; write label=value or label!=value.")
    return {"label": label.removesuffix("!"), "value": value, "negate": label.endswith("!")}


@api_command(silences, "end")
def end_silence(client: Terminal, id: Annotated[str, Argument(help="Id of the silence.")]) -> None:
    """End a silence now."""
    client.read(f"/v1/silences/{id}", method="DELETE")
