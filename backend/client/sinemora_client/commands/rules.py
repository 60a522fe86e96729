"""`sinemora rules`: alert rules over the API."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option, Typer

from sinemora_client.commands import CommandError, Mesh, Terminal, api_command, bytes_of, write_text, yaml_of

app = Typer(rich_markup_mode=None)
rules = Typer(rich_markup_mode=None)
app.add_typer(rules, name="rules", help="Manage alert rules (API key).")

RuleName = Annotated[str, Argument(help="Name or id of the rule.")]
Hours = Annotated[int, Option(help="Look-back in hours.")]
RuleFile = Annotated[Path | None, Option(help="YAML file with the rule, before it is imported.")]


@api_command(rules, "list")
def list_rules(client: Terminal, mesh: Mesh = None) -> None:
    """List the rules of a mesh."""
    items = list(client.items("/v1/alert-rules", mesh_id=client.mesh_id(mesh)))
    rows = [
        (item["name"], "on" if item["enabled"] else "off", item["severity"], item["condition"]["kind"],
         f"{item['windows_x']} of {item['windows_y']}", item["sources_min"])
        for item in items
    ]  # fmt: skip
    client.print_result(items, ("rule", "", "severity", "condition", "windows", "seen by"), rows)


@api_command(rules, "export")
def export_rules(
    client: Terminal,
    mesh: Mesh = None,
    output: Annotated[Path | None, Option(help="File to write.", show_default="standard output")] = None,
) -> None:
    """Write the rules of a mesh as YAML."""
    write_text(client.export_alert_rules(mesh_id=client.mesh_id(mesh)), output)


@api_command(rules, "import")
def import_rules(
    client: Terminal, file: Annotated[Path, Argument(help="YAML file; - for standard input.")], mesh: Mesh = None
) -> None:
    """Create and change rules of a mesh from a YAML file."""
    path = f"/v1/alert-rules/manifest?mesh_id={client.mesh_id(mesh)}"
    changes = client.read(path, bytes_of(file), media_type="application/yaml")
    rows = [(change, ", ".join(names) or "-") for change, names in changes.items()]
    client.print_result(changes, ("change", "rules"), rows)


@api_command(rules, "on")
def switch_on(client: Terminal, name: RuleName, mesh: Mesh = None) -> None:
    """Enable a rule."""
    _switch(client, mesh, name, True)


@api_command(rules, "off")
def switch_off(client: Terminal, name: RuleName, mesh: Mesh = None) -> None:
    """Disable a rule."""
    _switch(client, mesh, name, False)


def _switch(client: Terminal, mesh: str | None, name: str, enabled: bool) -> None:
    rule = _rule(client, mesh, name)
    changed = client.update_alert_rule(rule["id"], {"enabled": enabled}, version=rule["version"])
    client.print_result(changed, ("rule", ""), [(changed["name"], "on" if changed["enabled"] else "off")])


@api_command(rules, "delete")
def delete_rule(client: Terminal, name: RuleName, mesh: Mesh = None) -> None:
    """Delete a rule; its incidents stay."""
    client.read(f"/v1/alert-rules/{_rule(client, mesh, name)['id']}", method="DELETE")


@api_command(rules, "try")
def back_test(client: Terminal, name: RuleName, mesh: Mesh = None, hours: Hours = 24, file: RuleFile = None) -> None:
    """Back-test a rule on stored windows: the incidents it would have opened."""
    body = _rule_and_look_back(client, mesh, name, hours, file)
    result = client.result_of(client.read("/v1/alert-back-tests", body))
    client.print_line("\n".join([f"{result['incidents']} incidents in {result['hours']} hours", *result["notes"]]))
    rows = [
        (incident["opened_at"][:19], incident["seen_at"][:19], incident["paths"], incident["culprit"]["words"])
        for incident in result["found"]
    ]
    client.print_result(result, ("opened", "seen until", "paths", "suspect"), rows)


@api_command(rules, "preview")
def preview_rule(
    client: Terminal,
    name: RuleName,
    source: Annotated[str, Option(help="Name or id of the sending VM.")],
    target: Annotated[str, Option(help="Name or id of the receiving VM.")],
    mesh: Mesh = None,
    hours: Hours = 3,
    file: RuleFile = None,
) -> None:
    """Preview a rule on one path: when it would have fired."""
    ends = {
        f"{end}_id": client.named("/v1/vms", vm, "vm")["id"] for end, vm in (("source", source), ("target", target))
    }
    result = client.read("/v1/alert-rule-previews", _rule_and_look_back(client, mesh, name, hours, file) | ends)
    at, firing = result["points_at"], result["firing"]
    known = sum(value is not None for value in result["values"])
    fires = f"fires in {sum(firing)} of {len(at)} windows, {known} of them with data"
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


def _rule_and_look_back(client: Terminal, mesh: str | None, name: str, hours: int, file: Path | None) -> dict[str, Any]:
    """Return the rule, saved or from a file, with the look-back in hours."""
    if file is None:
        omitted = {"id", "version", "origin", "created_at", "updated_at"}
        rule = _rule(client, mesh, name)
        return {field: value for field, value in rule.items() if field not in omitted} | {"hours": hours}
    manifest = yaml_of(file).get("rules")
    for rule in manifest if isinstance(manifest, list) else ():
        if isinstance(rule, dict) and rule.get("name") == name:
            return {**rule, "mesh_id": client.mesh_id(mesh), "hours": hours}
    raise CommandError(f"Unknown rule: {file} has no rule {name} under rules.", "alert_rule_unknown")


def _rule(client: Terminal, mesh: str | None, name: str) -> Any:
    for rule in client.items("/v1/alert-rules", mesh_id=client.mesh_id(mesh)):
        if name in (rule["id"], rule["name"]):
            return rule
    raise CommandError(f"Unknown rule: the mesh has no rule {name}.", "alert_rule_unknown")
