"""`sinemora what-if`: evaluate changes and keep scenarios over the API."""

from pathlib import Path
from typing import Annotated

import yaml
from typer import Argument, Option, Typer

from sinemora_client.commands import CommandError, Terminal, api_command, write_text, yaml_of
from sinemora_client.commands.percent import percent, signed_percent

app = Typer(rich_markup_mode=None)
what_if = Typer(rich_markup_mode=None)
app.add_typer(what_if, name="what-if", help="Evaluate changes for all applications; manage scenarios (API key).")

Name = Annotated[str, Argument(help="Name of the scenario.")]


@api_command(what_if)
def ask(
    client: Terminal,
    file: Annotated[Path | None, Argument(help="YAML file with mesh and changes; - for standard input.")] = None,
    scenario: Annotated[str | None, Option(help="Name of a scenario, instead of a file.")] = None,
) -> None:
    """Evaluate a YAML file or a scenario."""
    if scenario is not None and file is None:
        saved = client.named("/v1/scenarios", scenario, "scenario")
        request = saved["request"] | {"mesh": saved["mesh"]["name"]}
    elif file is not None and scenario is None:
        request = yaml_of(file)
    else:
        raise CommandError("Invalid request: give either a YAML file or --scenario.")
    result = client.read("/v1/what-if", request)
    rows = [
        (impact["application"]["name"], percent(impact["before"] and impact["before"]["mean"]),
         percent(impact["after"] and impact["after"]["mean"]),
         signed_percent(impact["gain"] and impact["gain"]["gain"]["mean"]),
         impact["waiting"] or "", "below its objective" if impact["below_objective"] else "")
        for impact in result["applications"]
    ]  # fmt: skip
    client.print_result(result, ("application", "now", "then", "change", "waiting", ""), rows)
    period = "the newest windows" if result["minutes"] is None else f"the last {result['minutes']} minutes, mean"
    client.print_line(f"Performance at the {result['statistic']} of round trips in {period}.")
    for placed in result["placed"]:
        client.print_line(
            f"{placed['application']['name']}/{placed['task']['name']} is placed on {placed['vm']['name']}"
        )
    for words in result["broken"]:
        client.print_line(f"violated: {words}")


@api_command(what_if, "list")
def list_scenarios(client: Terminal) -> None:
    """List all scenarios."""
    scenarios = list(client.items("/v1/scenarios"))
    rows = [(scenario["name"], scenario["mesh"]["name"], len(scenario["request"]["changes"])) for scenario in scenarios]
    client.print_result(scenarios, ("scenario", "mesh", "changes"), rows)


@api_command(what_if)
def keep(
    client: Terminal, name: Name, file: Annotated[Path, Argument(help="YAML file; - for standard input.")]
) -> None:
    """Save a YAML file as a scenario; replace the scenario of that name."""
    request = yaml_of(file)
    existing = next((item for item in client.items("/v1/scenarios") if item["name"] == name), None)
    if existing is None:
        scenario = client.read("/v1/scenarios", request | {"name": name})
    else:
        changed = {field: value for field, value in request.items() if field != "mesh"}
        scenario = client.read(
            f"/v1/scenarios/{existing['id']}", changed, method="PATCH", if_match=f'"{existing["version"]}"'
        )
    client.print_result(scenario, ("scenario", "changes"), [(scenario["name"], len(scenario["request"]["changes"]))])


@api_command(what_if)
def export(client: Terminal, name: Name) -> None:
    """Export a scenario as YAML."""
    saved = client.named("/v1/scenarios", name, "scenario")
    document = {"mesh": saved["mesh"]["name"]} | saved["request"]
    write_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), None)


@api_command(what_if)
def delete(client: Terminal, name: Name) -> None:
    """Delete a scenario."""
    client.read(f"/v1/scenarios/{client.named('/v1/scenarios', name, 'scenario')['id']}", method="DELETE")
