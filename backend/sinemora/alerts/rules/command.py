"""`sinemora incidents`, `rules` and `silences`: alerts over the API. Receivers and routes: `receivers/command.py`."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option, Typer

from sinemora.alerts.evaluation.rule import Severity
from sinemora.alerts.models import IncidentState
from sinemora.alerts.receivers import command as receiver_command
from sinemora.kit.client import Client, RequestRefused
from sinemora.kit.commands import Terminal, bytes_of, calls_api, percent, write_text, yaml_of

_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_FOR = re.compile(r"(\d{1,5})([mhdw])")
_WEEKLY = re.compile(r"(mon|tue|wed|thu|fri|sat|sun) ([01]\d|2[0-3]):([0-5]\d) (\S+)")
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

app = Typer(rich_markup_mode=None)
incidents = Typer(rich_markup_mode=None)
rules = Typer(rich_markup_mode=None)
silences = Typer(rich_markup_mode=None)
app.add_typer(incidents, name="incidents", help="List incidents, decide on them (API key).")
app.add_typer(rules, name="rules", help="Manage alert rules (API key).")
app.add_typer(silences, name="silences", help="Manage silences of notifications (API key).")

IncidentId = Annotated[str, Argument(help="Id of the incident.")]
Text = Annotated[str, Option(help="Text for the timeline.")]
Mesh = Annotated[str, Option(help="Name or id of the mesh.")]
RuleName = Annotated[str, Argument(help="Name or id of the rule.")]
Hours = Annotated[int, Option(help="Look-back in hours.")]
RuleFile = Annotated[Path | None, Option(help="YAML file with the rule, before it is imported.")]
Matchers = Annotated[list[str], Argument(help="label=value or label!=value, as vm=web-* or severity=info.")]
Lasts = Annotated[str, Option("--for", help="Duration: 15m, 4h, 2d or 1w.")]
StartsAt = Annotated[str | None, Option("--from", help="Start, as 2026-11-20T22:00:00Z.", show_default="now")]
Weekly = Annotated[
    str | None, Option(help='Only at this time of each week, in UTC, as "sun 02:00 2h"; --for limits the weeks.')
]


@incidents.command("list")
@calls_api
def list_incidents(
    client: Terminal,
    mesh: Annotated[str | None, Option(help="Only of this mesh: name or id.")] = None,
    severity: Annotated[list[Severity] | None, Option(help="Only of this severity; repeatable.")] = None,
    all: Annotated[bool, Option("--all", help="Include incidents that have ended.")] = False,
) -> None:
    """List incidents that have not ended, newest first."""
    mesh_id = None if mesh is None else client.mesh_id(mesh)
    state = None if all else [IncidentState.open.value, IncidentState.acknowledged.value]
    items = list(client.items("/v1/incidents", mesh_id=mesh_id, state=state, severity=severity))
    rows = [
        (item["id"], item["opened_at"][:19], item["severity"], item["state"], item["mesh"]["name"], item["title"],
         item["assignee"] or "", item["silenced_by"] or "")
        for item in items
    ]  # fmt: skip
    client.print_result(
        items, ("id", "opened", "severity", "state", "mesh", "suspect", "assignee", "silenced_by"), rows
    )


@incidents.command()
@calls_api
def show(client: Terminal, id: IncidentId) -> None:
    """Show an incident: suspect, evidence, affected applications, timeline."""
    _print_incident(client, client.get(f"/v1/incidents/{id}"))


def _print_incident(client: Terminal, incident: Any) -> None:
    client.print_line(
        f"{incident['title']} ({incident['severity']}, {incident['state']}), since {incident['onset_at'][:19]}"
    )
    client.print_line(f"{incident['paths']} paths; rules: {', '.join(incident['rules'])}")
    for suspect in incident["evidence"]["hypotheses"]:
        paths = f"{suspect['bad']} of {suspect['known']} paths look bad"
        client.print_line(f"  {suspect['words']}: {paths}, score {suspect['score']}")
    for affected in incident["applications"]:
        share = percent(affected["performance"])
        client.print_line(f"  application {affected['name']}: predicted {share} of its best")
    rows = [(entry["at"][:19], entry["kind"], entry["actor"], entry["text"]) for entry in incident["timeline"]]
    client.print_result(incident, ("at", "", "who", "text"), rows)


@incidents.command()
@calls_api
def acknowledge(client: Terminal, id: IncidentId, text: Text = "") -> None:
    """Say that somebody is at it."""
    _decide(client, f"{id}/acknowledge", text)


@incidents.command()
@calls_api
def resolve(client: Terminal, id: IncidentId, text: Text = "") -> None:
    """Say that it is over."""
    _decide(client, f"{id}/resolve", text)


@incidents.command()
@calls_api
def reopen(client: Terminal, id: IncidentId, text: Text = "") -> None:
    """Say that it is not over."""
    _decide(client, f"{id}/reopen", text)


def _decide(client: Terminal, decision: str, text: str) -> None:
    incident = client.read(f"/v1/incidents/{decision}", {"text": text})
    client.print_result(incident, ("state",), [(incident["state"],)])


@incidents.command()
@calls_api
def note(client: Terminal, id: IncidentId, text: Annotated[str, Argument(help="Text of the note.")]) -> None:
    """Add a note to the timeline."""
    _print_incident(client, client.read(f"/v1/incidents/{id}/notes", {"text": text}))


@incidents.command()
@calls_api
def assign(
    client: Terminal, id: IncidentId, assignee: Annotated[str | None, Argument(help="Name of the assignee.")] = None
) -> None:
    """Assign an incident; without a name: unassign it."""
    body = {"assignee": assignee}
    incident = client.read(f"/v1/incidents/{id}/assignees", body, method="PUT", If_Match="*")
    client.print_result(incident, ("assignee",), [(incident["assignee"] or "nobody",)])


@rules.command("list")
@calls_api
def list_rules(client: Terminal, mesh: Mesh) -> None:
    """List the rules of a mesh."""
    items = list(client.items("/v1/alert-rules", mesh_id=client.mesh_id(mesh)))
    rows = [
        (item["name"], "on" if item["enabled"] else "off", item["severity"], item["condition"]["kind"],
         f"{item['windows_x']} of {item['windows_y']}", item["sources_min"])
        for item in items
    ]  # fmt: skip
    client.print_result(items, ("rule", "", "severity", "condition", "windows", "seen by"), rows)


@rules.command("export")
@calls_api
def export_rules(
    client: Terminal,
    mesh: Mesh,
    output: Annotated[Path | None, Option(help="File to write.", show_default="standard output")] = None,
) -> None:
    """Export the rules of a mesh as YAML."""
    with client.open(f"/v1/alert-rules/manifest?mesh_id={client.mesh_id(mesh)}") as response:
        write_text(response.read().decode(), output)


@rules.command("import")
@calls_api
def import_rules(
    client: Terminal, file: Annotated[Path, Argument(help="YAML file; - for standard input.")], mesh: Mesh
) -> None:
    """Make the rules of a mesh those of a YAML file."""
    path = f"/v1/alert-rules/manifest?mesh_id={client.mesh_id(mesh)}"
    changes = client.read(path, bytes_of(file), media_type="application/yaml")
    rows = [(change, ", ".join(names) or "-") for change, names in changes.items()]
    client.print_result(changes, ("change", "rules"), rows)


@rules.command("on")
@calls_api
def switch_on(client: Terminal, name: RuleName, mesh: Mesh) -> None:
    """Switch a rule on."""
    _switch(client, mesh, name, True)


@rules.command("off")
@calls_api
def switch_off(client: Terminal, name: RuleName, mesh: Mesh) -> None:
    """Switch a rule off."""
    _switch(client, mesh, name, False)


def _switch(client: Terminal, mesh: str, name: str, enabled: bool) -> None:
    rule = _rule(client, mesh, name)
    tag = {"If_Match": f'"{rule["version"]}"'}
    changed = client.read(f"/v1/alert-rules/{rule['id']}", {"enabled": enabled}, method="PATCH", **tag)
    client.print_result(changed, ("rule", ""), [(changed["name"], "on" if changed["enabled"] else "off")])


@rules.command("delete")
@calls_api
def delete_rule(client: Terminal, name: RuleName, mesh: Mesh) -> None:
    """Delete a rule; its incidents stay."""
    client.read(f"/v1/alert-rules/{_rule(client, mesh, name)['id']}", method="DELETE")


@rules.command("try")
@calls_api
def back_test(client: Terminal, name: RuleName, mesh: Mesh, hours: Hours = 24, file: RuleFile = None) -> None:
    """Evaluate a rule on stored measurements: the incidents it would have opened."""
    body = _rule_and_look_back(client, mesh, name, hours, file)
    result = client.finished(client.read("/v1/alert-back-tests", body))["result"]
    client.print_line("\n".join([f"{result['incidents']} incidents in {result['hours']} hours", *result["notes"]]))
    rows = [
        (incident["opened_at"][:19], incident["seen_at"][:19], incident["paths"], incident["culprit"]["words"])
        for incident in result["found"]
    ]
    client.print_result(result, ("opened", "seen until", "paths", "suspect"), rows)


@rules.command("preview")
@calls_api
def preview_rule(
    client: Terminal,
    name: RuleName,
    mesh: Mesh,
    source: Annotated[str, Option(help="Name or id of the sending VM.")],
    target: Annotated[str, Option(help="Name or id of the receiving VM.")],
    hours: Hours = 3,
    file: RuleFile = None,
) -> None:
    """Evaluate a rule on one path: when it would have fired."""
    ends = {
        f"{end}_id": client.named("/v1/vms", vm, "vm")["id"] for end, vm in (("source", source), ("target", target))
    }
    result = client.read("/v1/alert-rule-previews", _rule_and_look_back(client, mesh, name, hours, file) | ends)
    at, firing = result["points_at"], result["firing"]
    known = sum(value is not None for value in result["values"])
    fires = f"fires in {sum(firing)} of {len(at)} windows; of {known} something is known"
    client.print_line("\n".join([fires, *result["notes"]]))
    begins = [n for n in range(len(at)) if firing[n] and not (n and firing[n - 1])]
    ends_at = [n for n in range(len(at)) if firing[n] and firing[n + 1 : n + 2] != [True]]
    rows = [
        (at[first][:19], at[last][:19], _greatest(result["values"][first : last + 1]),
         _greatest(result["limits"][first : last + 1]))
        for first, last in zip(begins, ends_at, strict=True)
    ]  # fmt: skip
    client.print_result(result, ("from window", "to window", "largest value", "largest limit"), rows)


def _greatest(values: list[float | None]) -> str:
    return max((f"{value:g}" for value in values if value is not None), key=float, default="-")


def _rule_and_look_back(client: Client, mesh: str, name: str, hours: int, file: Path | None) -> dict[str, Any]:
    """Return the rule, saved or from a file, with the look-back in hours."""
    if file is None:
        left = {"id", "version", "origin", "created_at", "updated_at"}
        rule = _rule(client, mesh, name)
        return {field: value for field, value in rule.items() if field not in left} | {"hours": hours}
    manifest = yaml_of(file).get("rules")
    for rule in manifest if isinstance(manifest, list) else ():
        if isinstance(rule, dict) and rule.get("name") == name:
            return {**rule, "mesh_id": client.mesh_id(mesh), "hours": hours}
    raise RequestRefused(f"{file} has no rule {name} under rules.", "alert_rule_unknown")


def _rule(client: Client, mesh: str, name: str) -> Any:
    for rule in client.items("/v1/alert-rules", mesh_id=client.mesh_id(mesh)):
        if name in (rule["id"], rule["name"]):
            return rule
    raise RequestRefused(f"The mesh has no rule {name}.", "alert_rule_unknown")


@silences.command("list")
@calls_api
def list_silences(client: Terminal) -> None:
    """List all silences, the last to end first."""
    items = list(client.items("/v1/silences"))
    rows = [
        (item["id"], "in force" if item["active"] else "", item["ends_at"][:19], _matchers(item), item["comment"])
        for item in items
    ]
    client.print_result(items, ("id", "", "ends", "mutes", "why"), rows)


def _matchers(silence: Any) -> str:
    return " and ".join(
        f"{matcher['label']}{'!=' if matcher['negate'] else '='}{matcher['value']}" for matcher in silence["matchers"]
    )


@silences.command("preview")
@calls_api
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
    found = client.read("/v1/silence-previews", body)["incidents"]
    client.print_result(found, ("opened", "suspect"), [(row["opened_at"][:19], row["title"]) for row in found])


@silences.command("add")
@calls_api
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
    client.print_result(silence, ("id", "ends", "mutes"), [row])


def _silence(
    matchers: list[str], lasts: str, starts_at: str | None, weekly: str | None, comment: str
) -> dict[str, Any]:
    duration = _duration(lasts, "--for")
    try:
        start = datetime.fromisoformat(starts_at) if starts_at else datetime.now(UTC)
    except ValueError:
        raise RequestRefused(f"--from {starts_at}: write a time as 2026-11-20T22:00:00Z.") from None
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
        raise RequestRefused(f"{where} {text}: write 15m, 4h, 2d or 1w.")
    return timedelta(seconds=int(parts[1]) * _UNITS[parts[2]])


def _weekly(text: str) -> dict[str, int]:
    parts = _WEEKLY.fullmatch(text.lower())
    if parts is None:
        raise RequestRefused(f'--weekly {text}: write a day, a time of UTC and how long, as "sun 02:00 2h".')
    minutes = _duration(parts[4], "--weekly") // timedelta(minutes=1)
    return {"weekday": _DAYS.index(parts[1]), "minute": int(parts[2]) * 60 + int(parts[3]), "lasts_min": minutes}


def _matcher(text: str) -> dict[str, Any]:
    label, sign, value = text.partition("=")
    if not sign or not value:
        raise RequestRefused(f"{text}: a matcher is label=value or label!=value.")
    return {"label": label.removesuffix("!"), "value": value, "negate": label.endswith("!")}


@silences.command("end")
@calls_api
def end_silence(client: Terminal, id: Annotated[str, Argument(help="Id of the silence.")]) -> None:
    """End a silence now."""
    client.read(f"/v1/silences/{id}", method="DELETE")
