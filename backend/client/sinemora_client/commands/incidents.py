"""`sinemora incidents`: incidents over the API."""

from enum import StrEnum
from typing import Annotated, Any

from typer import Argument, Option, Typer

from sinemora_client.commands import Terminal, api_command
from sinemora_client.commands.percent import percent

# Typer reads a list of an enumeration, and none of a literal type.
Severity = StrEnum("Severity", ["info", "warning", "critical"])

app = Typer(rich_markup_mode=None)
incidents = Typer(rich_markup_mode=None)
app.add_typer(incidents, name="incidents", help="List, acknowledge and resolve incidents (API key).")

IncidentId = Annotated[str, Argument(help="Id of the incident.")]
Text = Annotated[str, Option(help="Text for the timeline.")]


@api_command(incidents, "list")
def list_incidents(
    client: Terminal,
    mesh: Annotated[str | None, Option(help="Only of this mesh: name or id.")] = None,
    severity: Annotated[list[Severity] | None, Option(help="Only of this severity; repeatable.")] = None,
    all: Annotated[bool, Option("--all", help="Include incidents that have ended.")] = False,
) -> None:
    """List incidents that have not ended, newest first."""
    mesh_id = None if mesh is None else client.mesh_id(mesh)
    state = None if all else ["open", "acknowledged"]
    items = list(client.items("/v1/incidents", mesh_id=mesh_id, state=state, severity=severity))
    rows = [
        (item["id"], item["opened_at"][:19], item["severity"], item["state"], item["mesh"]["name"], item["title"],
         item["assignee"] or "", item["silenced_by"] or "")
        for item in items
    ]  # fmt: skip
    client.print_result(
        items, ("id", "opened", "severity", "state", "mesh", "suspect", "assignee", "silenced_by"), rows
    )


@api_command(incidents)
def show(client: Terminal, id: IncidentId) -> None:
    """Show an incident: suspect, evidence, affected applications, timeline."""
    _print_incident(client, client.get(f"/v1/incidents/{id}"))


def _print_incident(client: Terminal, incident: Any) -> None:
    client.print_line(
        f"{incident['title']} ({incident['severity']}, {incident['state']}), since {incident['onset_at'][:19]}"
    )
    client.print_line(f"{incident['paths']} paths; rules: {', '.join(incident['rules'])}")
    for line in incident["figures"]["sentences"]:
        client.print_line(line)
    client.print_line(f"heatmap at the onset: {incident['figures']['links']['heatmap']}")
    client.print_line(f"verdict: {incident['verdict']['kind']} ({_reasons(incident['verdict'])})")
    for runbook in incident["runbooks"]:
        client.print_line(f"  runbook of {runbook['rule']}: {runbook['url']}")
    rows = [(entry["at"][:19], entry["kind"], entry["actor"], entry["text"]) for entry in incident["timeline"]]
    client.print_result(incident, ("at", "event", "actor", "text"), rows)


def _reasons(verdict: Any) -> str:
    """Return the reasons of a verdict: "one way up +391.0 µs, round trip changed +402.0 µs"."""
    words = []
    for reason in verdict["reasons"]:
        change, loss = reason["change_ns"], reason["loss"]
        figure = "" if change is None else f" {change / 1000:+,.1f} µs"
        figure += "" if loss is None else f" {percent(loss)}"
        names = f": {', '.join(reason['applications'])}" if reason["applications"] else ""
        words.append(reason["code"].replace("_", " ") + figure + names)
    return ", ".join(words)


@api_command(incidents)
def acknowledge(client: Terminal, id: IncidentId, text: Text = "") -> None:
    """Acknowledge an incident: its notifications are not repeated."""
    _decide(client, f"{id}/acknowledge", text)


@api_command(incidents)
def resolve(client: Terminal, id: IncidentId, text: Text = "") -> None:
    """Resolve an incident."""
    _decide(client, f"{id}/resolve", text)


@api_command(incidents)
def reopen(client: Terminal, id: IncidentId, text: Text = "") -> None:
    """Reopen a resolved incident."""
    _decide(client, f"{id}/reopen", text)


def _decide(client: Terminal, decision: str, text: str) -> None:
    incident = client.read(f"/v1/incidents/{decision}", {"text": text})
    client.print_result(incident, ("state",), [(incident["state"],)])


@api_command(incidents)
def note(client: Terminal, id: IncidentId, text: Annotated[str, Argument(help="Text of the note.")]) -> None:
    """Add a note to the timeline."""
    _print_incident(client, client.read(f"/v1/incidents/{id}/notes", {"text": text}))


@api_command(incidents)
def assign(
    client: Terminal, id: IncidentId, assignee: Annotated[str | None, Argument(help="Name of the assignee.")] = None
) -> None:
    """Assign an incident; without a name: unassign it."""
    body = {"assignee": assignee}
    incident = client.read(f"/v1/incidents/{id}/assignees", body, method="PUT", if_match="*")
    client.print_result(incident, ("assignee",), [(incident["assignee"] or "none",)])
