"""`sinemora incidents`, `rules` and `silences`: alerts over the API. Receivers and routes: `receiver_command.py`."""

import argparse
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sinemora.alerts import receiver_command
from sinemora.alerts.evaluation.rule import Severity
from sinemora.alerts.models import IncidentState
from sinemora.kit.client import Client, RequestRefused
from sinemora.kit.commands import (
    add_command,
    add_group,
    bytes_of,
    percent,
    print_line,
    print_result,
    write_text,
    yaml_of,
)

_DECISIONS = {"acknowledge": "somebody is at it", "resolve": "it is over", "reopen": "it is not over"}
_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_FOR = re.compile(r"(\d{1,5})([mhdw])")
_WEEKLY = re.compile(r"(mon|tue|wed|thu|fri|sat|sun) ([01]\d|2[0-3]):([0-5]\d) (\S+)")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_HOURS = {"try": 24, "preview": 3}


def add(commands: Any) -> None:
    """Add the commands."""
    incidents = add_group(commands, "incidents", "list incidents, decide on them")
    command = add_command(incidents, "list", "list incidents that have not ended, newest first", _list_incidents)
    command.add_argument("--mesh", help="only of this mesh: name or id")
    command.add_argument("--severity", action="append", choices=[one.value for one in Severity], help="repeatable")
    command.add_argument("--all", action="store_true", help="include incidents that have ended")
    add_command(
        incidents, "show", "show an incident: suspect, evidence, affected applications, timeline", _show
    ).add_argument("id")
    for name, about in _DECISIONS.items():
        command = add_command(incidents, name, f"say that {about}", _decide)
        command.add_argument("id")
        command.add_argument("--text", default="", help="text for the timeline")
        command.set_defaults(decision=name)
    command = add_command(incidents, "note", "add a note to the timeline", _note)
    command.add_argument("id")
    command.add_argument("text")
    command = add_command(incidents, "assign", "assign an incident; without a name: unassign it", _assign)
    command.add_argument("id")
    command.add_argument("assignee", nargs="?")

    rules = add_group(commands, "rules", "manage alert rules")
    for name, about, action in (
        ("list", "the rules of a mesh", _list_rules),
        ("export", "the rules of a mesh as YAML", _export_rules),
        ("import", "make rules of a mesh what a YAML file says", _import_rules),
        ("on", "switch a rule on", _switch),
        ("off", "switch a rule off", _switch),
        ("delete", "forget a rule; its incidents stay", _delete_rule),
        ("try", "what a rule would have found in what was stored", _try),
        ("preview", "a rule on one path: when it would have fired", _preview_rule),
    ):
        command = add_command(rules, name, about, action)
        command.add_argument("--mesh", required=True, help="name or id")
        if name == "export":
            command.add_argument("--output", type=Path, help="file to write (default: standard output)")
        elif name == "import":
            command.add_argument("file", type=Path, help="- for standard input")
        elif name != "list":
            command.add_argument("name", help="name or id")
        if name in _HOURS:
            command.add_argument("--hours", type=int, default=_HOURS[name], help="look-back (default: %(default)s)")
            command.add_argument("--file", type=Path, help="YAML file with the rule, before it is imported")
        if name == "preview":
            command.add_argument("--source", required=True, help="VM: name or id")
            command.add_argument("--target", required=True, help="VM: name or id")
        command.set_defaults(enabled=name == "on")

    silences = add_group(commands, "silences", "manage silences of notifications")
    add_command(silences, "list", "list all silences, the last to end first", _list_silences)
    for name, about in (
        ("preview", "list recent incidents that would match"),
        ("add", "make one"),
    ):
        command = add_command(silences, name, about, _silence)
        command.add_argument("matcher", nargs="+", help="label=value or label!=value, as vm=web-* or severity=info")
        command.add_argument("--for", dest="lasts", default="4h", help="15m, 4h, 2d or 1w (default: %(default)s)")
        command.add_argument("--from", dest="starts_at", help="start, as 2026-11-20T22:00:00Z (default: now)")
        command.add_argument("--weekly", help='only then, in UTC, as "sun 02:00 2h"; --for says how long so')
        command.add_argument("--comment", default="", required=name == "add", help="reason")
        command.set_defaults(saved=name == "add")
    add_command(silences, "end", "end a silence now", _end_silence).add_argument("id")

    receiver_command.add(commands)


def _list_incidents(client: Client, options: argparse.Namespace) -> None:
    mesh_id = None if options.mesh is None else client.mesh_id(options.mesh)
    state = None if options.all else [IncidentState.open.value, IncidentState.acknowledged.value]
    found = list(client.items("/v1/incidents", mesh_id=mesh_id, state=state, severity=options.severity))
    rows = [
        (one["id"], one["opened_at"][:19], one["severity"], one["state"], one["mesh"]["name"], one["title"],
         one["assignee"] or "", one["silenced_by"] or "")
        for one in found
    ]  # fmt: skip
    print_result(
        options, found, ("id", "opened", "severity", "state", "mesh", "suspect", "assignee", "silenced_by"), rows
    )


def _show(client: Client, options: argparse.Namespace) -> None:
    _shown(options, client.get(f"/v1/incidents/{options.id}"))


def _shown(options: argparse.Namespace, found: Any) -> None:
    print_line(options, f"{found['title']} ({found['severity']}, {found['state']}), since {found['onset_at'][:19]}")
    print_line(options, f"{found['paths']} paths; rules: {', '.join(found['rules'])}")
    for one in found["evidence"]["hypotheses"]:
        print_line(options, f"  {one['words']}: {one['bad']} of {one['known']} paths look bad, score {one['score']}")
    for one in found["applications"]:
        print_line(options, f"  application {one['name']}: predicted {percent(one['performance'])} of its best")
    rows = [(one["at"][:19], one["kind"], one["actor"], one["text"]) for one in found["timeline"]]
    print_result(options, found, ("at", "", "who", "text"), rows)


def _decide(client: Client, options: argparse.Namespace) -> None:
    found = client.read(f"/v1/incidents/{options.id}/{options.decision}", {"text": options.text})
    print_result(options, found, ("state",), [(found["state"],)])


def _note(client: Client, options: argparse.Namespace) -> None:
    _shown(options, client.read(f"/v1/incidents/{options.id}/notes", {"text": options.text}))


def _assign(client: Client, options: argparse.Namespace) -> None:
    body = {"assignee": options.assignee}
    found = client.read(f"/v1/incidents/{options.id}/assignees", body, method="PUT", If_Match="*")
    print_result(options, found, ("assignee",), [(found["assignee"] or "nobody",)])


def _list_rules(client: Client, options: argparse.Namespace) -> None:
    found = list(client.items("/v1/alert-rules", mesh_id=client.mesh_id(options.mesh)))
    rows = [
        (one["name"], "on" if one["enabled"] else "off", one["severity"], one["condition"]["kind"],
         f"{one['windows_x']} of {one['windows_y']}", one["sources_min"])
        for one in found
    ]  # fmt: skip
    print_result(options, found, ("rule", "", "severity", "condition", "windows", "seen by"), rows)


def _export_rules(client: Client, options: argparse.Namespace) -> None:
    with client.open(f"/v1/alert-rules/manifest?mesh_id={client.mesh_id(options.mesh)}") as answer:
        write_text(answer.read().decode(), options.output)


def _import_rules(client: Client, options: argparse.Namespace) -> None:
    path = f"/v1/alert-rules/manifest?mesh_id={client.mesh_id(options.mesh)}"
    found = client.read(path, bytes_of(options.file), media_type="application/yaml")
    print_result(options, found, ("what", "rules"), [(what, ", ".join(names) or "-") for what, names in found.items()])


def _switch(client: Client, options: argparse.Namespace) -> None:
    rule = _rule(client, options)
    tag = {"If_Match": f'"{rule["version"]}"'}
    found = client.read(f"/v1/alert-rules/{rule['id']}", {"enabled": options.enabled}, method="PATCH", **tag)
    print_result(options, found, ("rule", ""), [(found["name"], "on" if found["enabled"] else "off")])


def _delete_rule(client: Client, options: argparse.Namespace) -> None:
    client.read(f"/v1/alert-rules/{_rule(client, options)['id']}", method="DELETE")


def _try(client: Client, options: argparse.Namespace) -> None:
    result = client.finished(client.read("/v1/alert-back-tests", _rule_and_look_back(client, options)))["result"]
    print_line(options, "\n".join([f"{result['incidents']} incidents in {result['hours']} hours", *result["notes"]]))
    rows = [
        (one["opened_at"][:19], one["seen_at"][:19], one["paths"], one["culprit"]["words"]) for one in result["found"]
    ]
    print_result(options, result, ("opened", "seen until", "paths", "suspect"), rows)


def _preview_rule(client: Client, options: argparse.Namespace) -> None:
    ends = {f"{end}_id": client.named("/v1/vms", getattr(options, end), "vm")["id"] for end in ("source", "target")}
    found = client.read("/v1/alert-rule-previews", _rule_and_look_back(client, options) | ends)
    at, firing = found["points_at"], found["firing"]
    known = sum(one is not None for one in found["values"])
    fires = f"fires in {sum(firing)} of {len(at)} windows; of {known} something is known"
    print_line(options, "\n".join([fires, *found["notes"]]))
    begins = [n for n in range(len(at)) if firing[n] and not (n and firing[n - 1])]
    ends_at = [n for n in range(len(at)) if firing[n] and firing[n + 1 : n + 2] != [True]]
    rows = [
        (at[first][:19], at[last][:19], _greatest(found["values"][first : last + 1]),
         _greatest(found["limits"][first : last + 1]))
        for first, last in zip(begins, ends_at, strict=True)
    ]  # fmt: skip
    print_result(options, found, ("from window", "to window", "largest value", "largest limit"), rows)


def _greatest(values: list[float | None]) -> str:
    return max((f"{one:g}" for one in values if one is not None), key=float, default="-")


def _rule_and_look_back(client: Client, options: argparse.Namespace) -> dict[str, Any]:
    """Return the rule, saved or from a file, with the look-back in hours."""
    if options.file is None:
        rule, left = _rule(client, options), {"id", "version", "origin", "created_at", "updated_at"}
        return {name: value for name, value in rule.items() if name not in left} | {"hours": options.hours}
    found = yaml_of(options.file).get("rules")
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict) and one.get("name") == options.name:
            return {**one, "mesh_id": client.mesh_id(options.mesh), "hours": options.hours}
    raise RequestRefused(f"{options.file} has no rule {options.name} under rules.", "alert_rule_unknown")


def _rule(client: Client, options: argparse.Namespace) -> Any:
    mesh_id = client.mesh_id(options.mesh)
    for one in client.items("/v1/alert-rules", mesh_id=mesh_id):
        if options.name in (one["id"], one["name"]):
            return one
    raise RequestRefused(f"The mesh has no rule {options.name}.", "alert_rule_unknown")


def _list_silences(client: Client, options: argparse.Namespace) -> None:
    found = list(client.items("/v1/silences"))
    rows = [
        (one["id"], "in force" if one["active"] else "", one["ends_at"][:19], _matchers(one), one["comment"])
        for one in found
    ]
    print_result(options, found, ("id", "", "ends", "mutes", "why"), rows)


def _matchers(silence: Any) -> str:
    said = (f"{one['label']}{'!=' if one['negate'] else '='}{one['value']}" for one in silence["matchers"])
    return " and ".join(said)


def _silence(client: Client, options: argparse.Namespace) -> None:
    lasts = _duration(options.lasts, "--for")
    try:
        starts_at = datetime.fromisoformat(options.starts_at) if options.starts_at else datetime.now(UTC)
    except ValueError:
        raise RequestRefused(f"--from {options.starts_at}: write a time as 2026-11-20T22:00:00Z.") from None
    body = {
        "comment": options.comment or "preview",
        "matchers": [_matcher(one) for one in options.matcher],
        "ends_at": (starts_at + lasts).isoformat(),
        "weekly": None if options.weekly is None else _weekly(options.weekly),
    }
    if options.starts_at:
        body["starts_at"] = starts_at.isoformat()
    if options.saved:
        made = client.read("/v1/silences", body)
        print_result(options, made, ("id", "ends", "mutes"), [(made["id"], made["ends_at"][:19], _matchers(made))])
        return
    incidents = client.read("/v1/silence-previews", body)["incidents"]
    print_result(
        options, incidents, ("opened", "suspect"), [(row["opened_at"][:19], row["title"]) for row in incidents]
    )


def _duration(text: str, where: str) -> timedelta:
    found = _FOR.fullmatch(text)
    if found is None:
        raise RequestRefused(f"{where} {text}: write 15m, 4h, 2d or 1w.")
    return timedelta(seconds=int(found[1]) * _UNITS[found[2]])


def _weekly(text: str) -> dict[str, int]:
    found = _WEEKLY.fullmatch(text.lower())
    if found is None:
        raise RequestRefused(f'--weekly {text}: write a day, a time of UTC and how long, as "sun 02:00 2h".')
    minutes = _duration(found[4], "--weekly") // timedelta(minutes=1)
    return {"weekday": _DAYS.index(found[1]), "minute": int(found[2]) * 60 + int(found[3]), "lasts_min": minutes}


def _matcher(text: str) -> dict[str, Any]:
    label, sign, value = text.partition("=")
    if not sign or not value:
        raise RequestRefused(f"{text}: a matcher is label=value or label!=value.")
    return {"label": label.removesuffix("!"), "value": value, "negate": label.endswith("!")}


def _end_silence(client: Client, options: argparse.Namespace) -> None:
    client.read(f"/v1/silences/{options.id}", method="DELETE")
