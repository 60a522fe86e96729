"""`sinemora what-if`: evaluate changes and keep scenarios over the API."""

import argparse
import sys
from pathlib import Path
from typing import Any

import yaml

from sinemora.kit.client import Client, RequestRefused
from sinemora.kit.commands import add_command, add_group, percent, print_line, print_result, signed_percent, yaml_of


def add(commands: Any) -> None:
    """Add the commands."""
    what_if = add_group(commands, "what-if", "evaluate changes for all applications; manage scenarios")
    command = add_command(what_if, "ask", "evaluate a YAML file or a scenario", _what_if)
    command.add_argument("file", type=Path, nargs="?", help="YAML: mesh and changes")
    command.add_argument("--scenario", help="name of a scenario, instead of a file")

    add_command(what_if, "list", "list all scenarios", _list_scenarios)
    command = add_command(what_if, "keep", "save a YAML file as a scenario; replaces one of that name", _keep)
    command.add_argument("name")
    command.add_argument("file", type=Path)
    for name, about, action in (
        ("export", "export a scenario as YAML", _export_scenario),
        ("delete", "delete a scenario", _delete_scenario),
    ):
        add_command(what_if, name, about, action).add_argument("name")


def _what_if(client: Client, options: argparse.Namespace) -> None:
    if (options.file is None) == (options.scenario is None):
        raise RequestRefused("Ambiguous request: give either a YAML file or --scenario.")
    if options.scenario is not None:
        kept = client.named("/v1/scenarios", options.scenario, "scenario")
        question = kept["question"] | {"mesh": kept["mesh"]["name"]}
    else:
        question = yaml_of(options.file)
    answer = client.read("/v1/what-if", question)
    rows = [
        (impact["application"]["name"], percent(impact["before"] and impact["before"]["mean"]),
         percent(impact["after"] and impact["after"]["mean"]),
         signed_percent(impact["gain"] and impact["gain"]["gain"]["mean"]),
         impact["waiting"] or "", "below its objective" if impact["below_objective"] else "")
        for impact in answer["applications"]
    ]  # fmt: skip
    print_result(options, answer, ("application", "now", "then", "change", "waiting", ""), rows)
    for placed in answer["placed"]:
        print_line(
            options, f"{placed['application']['name']}/{placed['task']['name']} is placed on {placed['vm']['name']}"
        )
    for words in answer["broken"]:
        print_line(options, f"violated: {words}")


def _list_scenarios(client: Client, options: argparse.Namespace) -> None:
    scenarios = list(client.items("/v1/scenarios"))
    rows = [
        (scenario["name"], scenario["mesh"]["name"], len(scenario["question"]["changes"])) for scenario in scenarios
    ]
    print_result(options, scenarios, ("scenario", "mesh", "changes"), rows)


def _keep(client: Client, options: argparse.Namespace) -> None:
    question = yaml_of(options.file)
    there = next((item for item in client.items("/v1/scenarios") if item["name"] == options.name), None)
    if there is None:
        scenario = client.read("/v1/scenarios", question | {"name": options.name})
    else:
        changed = {field: value for field, value in question.items() if field != "mesh"}
        tag = {"If_Match": f'"{there["version"]}"'}
        scenario = client.read(f"/v1/scenarios/{there['id']}", changed, method="PATCH", **tag)
    print_result(options, scenario, ("scenario", "changes"), [(scenario["name"], len(scenario["question"]["changes"]))])


def _export_scenario(client: Client, options: argparse.Namespace) -> None:
    kept = client.named("/v1/scenarios", options.name, "scenario")
    yaml.safe_dump({"mesh": kept["mesh"]["name"]} | kept["question"], sys.stdout, sort_keys=False, allow_unicode=True)


def _delete_scenario(client: Client, options: argparse.Namespace) -> None:
    client.read(f"/v1/scenarios/{client.named('/v1/scenarios', options.name, 'scenario')['id']}", method="DELETE")
