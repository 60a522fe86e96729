"""`sinemora applications`, `recommend`, `recommendations` and `what-if`: the recommender over the API."""

import argparse
import sys
from pathlib import Path
from typing import Any

import yaml

from sinemora.kit.client import Client, RequestRefused
from sinemora.kit.commands import (
    add_command,
    add_group,
    bytes_of,
    percent,
    print_line,
    print_result,
    signed_percent,
    yaml_of,
)
from sinemora.placement.costs import Objective
from sinemora.placement.explain import ExplainedArc, as_text
from sinemora.placement.problem import Risk
from sinemora.recommendations.schemas import Percentile, Policy

_DECISIONS = ("accept", "apply", "dismiss")


def add(commands: Any) -> None:
    """Add the commands."""
    applications = add_group(commands, "applications", "what runs where, and how it does")
    add_command(applications, "list", "all applications", _list_applications)
    for name, about, action in (
        ("performance", "how an application does now, link by link", _performance),
        ("options", "role swaps, VMs made anew elsewhere, VMs rented to keep the best", _options),
        ("delete", "forget an application; its VMs stay", _delete_application),
    ):
        add_command(applications, name, about, action).add_argument("name", help="name or id")
    add_command(applications, "export", "all applications as YAML", _export).add_argument(
        "--output", type=Path, help="file to write (default: standard output)"
    )
    add_command(applications, "import", "make applications what a YAML file says", _import).add_argument(
        "file", type=Path
    )

    command = add_command(commands, "recommend", "look for moves worth making on a mesh", _recommend)
    command.add_argument("--mesh", required=True, help="name or id")
    command.add_argument("--policy", choices=[one.value for one in Policy], default=Policy.EXACT.value)
    command.add_argument("--objective", choices=[one.value for one in Objective])
    command.add_argument("--risk", choices=[one.value for one in Risk], default=Risk.cvar.value)
    command.add_argument("--statistic", choices=[one.value for one in Percentile], default=Percentile.P50.value)
    command.add_argument("--minutes", type=int, default=30, help="how far back windows are looked at")
    command.add_argument("--moves-max", type=int, default=10)
    command.add_argument("--move-cost", type=float, help="what each move must gain at least, as a share")
    command.add_argument("--application", action="append", default=[], help="only these; repeatable")
    command.add_argument("--explain", action="store_true", help="under nomora: every arc of the solved network")

    recommendations = add_group(commands, "recommendations", "what was recommended, and what came of it")
    add_command(recommendations, "list", "all recommendations, newest first", _list_recommendations)
    add_command(recommendations, "show", "one, with its moves", _show).add_argument("id")
    for name, about in zip(_DECISIONS, ("it will be done", "it was done", "it will not be done"), strict=True):
        command = add_command(recommendations, name, f"say that {about}", _decide)
        command.add_argument("id")
        if name == "dismiss":
            command.add_argument("--reason", default="")
        command.set_defaults(decision=name)
    add_command(recommendations, "accuracy", "how right those were that were applied", _accuracy)

    what_if = add_group(commands, "what-if", "what becomes of all applications after changes; scenarios that are kept")
    command = add_command(what_if, "ask", "ask it of a YAML file or of a scenario", _what_if)
    command.add_argument("file", type=Path, nargs="?", help="YAML: mesh and changes")
    command.add_argument("--scenario", help="a kept scenario instead of a file")

    add_command(what_if, "list", "all scenarios", _list_scenarios)
    command = add_command(what_if, "keep", "keep a YAML file under a name, in place of what was there", _keep)
    command.add_argument("name")
    command.add_argument("file", type=Path)
    for name, about, action in (
        ("export", "one as YAML", _export_scenario),
        ("delete", "forget one", _delete_scenario),
    ):
        add_command(what_if, name, about, action).add_argument("name")


def _list_applications(client: Client, options: argparse.Namespace) -> None:
    found = list(client.items("/v1/applications"))
    rows = [(one["name"], one["mesh"]["name"], one["shape"], len(one["tasks"]), one["curve"]["name"]) for one in found]
    print_result(options, found, ("application", "mesh", "shape", "tasks", "curve"), rows)


def _performance(client: Client, options: argparse.Namespace) -> None:
    found = client.get(f"/v1/applications/{_application(client, options.name)['id']}/performance")
    rows = [(one["source"], one["target"], _us(one["round_trip_ns"]), percent(one["performance"]), one["state"])
            for one in found["detail"]]  # fmt: skip
    below = ", below its objective" if found["below_objective"] else ""
    print_line(options, f"{found['name']}: {percent(found['performance'])}{below}")
    print_result(options, found, ("from", "to", "round trip", "performance", "state"), rows)


def _options(client: Client, options: argparse.Namespace) -> None:
    found = client.get(f"/v1/applications/{_application(client, options.name)['id']}/options")
    rows = [
        (signed_percent(one["gain"]["gain"]["mean"]), percent(one["gain"]["after"]["mean"]), one["words"])
        for one in found["options"]
    ]
    print_result(options, found, ("change", "then", "option"), rows)


def _delete_application(client: Client, options: argparse.Namespace) -> None:
    client.read(f"/v1/applications/{_application(client, options.name)['id']}", method="DELETE")


def _export(client: Client, options: argparse.Namespace) -> None:
    with client.open("/v1/applications/manifest") as answer:
        text = answer.read()
    if options.output:
        options.output.write_bytes(text)
    else:
        sys.stdout.write(text.decode())


def _import(client: Client, options: argparse.Namespace) -> None:
    found = client.read("/v1/applications/manifest", bytes_of(options.file), media_type="application/yaml")
    print_result(
        options, found, ("what", "applications"), [(what, ", ".join(names) or "-") for what, names in found.items()]
    )


def _recommend(client: Client, options: argparse.Namespace) -> None:
    fields = ("mesh", "policy", "objective", "risk", "statistic", "minutes", "moves_max", "move_cost", "explain")
    question = {field: getattr(options, field) for field in fields} | {"applications": options.application}
    job = client.finished(client.read("/v1/recommendations", question))
    _moves(options, client.get(f"/v1/recommendations/{job['result']['recommendation_id']}"))


def _list_recommendations(client: Client, options: argparse.Namespace) -> None:
    found = list(client.items("/v1/recommendations"))
    rows = [
        (one["id"], one["created_at"][:19], one["mesh"]["name"], one["policy"], one["moves"], one["state"],
         signed_percent(one["total"] and one["total"]["gain"]["mean"]))
        for one in found
    ]  # fmt: skip
    print_result(options, found, ("id", "made", "mesh", "policy", "moves", "state", "gain"), rows)


def _show(client: Client, options: argparse.Namespace) -> None:
    _moves(options, client.get(f"/v1/recommendations/{options.id}"))


def _decide(client: Client, options: argparse.Namespace) -> None:
    body = {"reason": options.reason} if options.decision == "dismiss" else None
    found = client.read(f"/v1/recommendations/{options.id}/{options.decision}", body, method="POST")
    print_line(options, found["state"])
    if options.json:
        print_result(options, found, (), [])


def _accuracy(client: Client, options: argparse.Namespace) -> None:
    found = client.get("/v1/recommendations/accuracy")
    rows = [
        (one["mesh"]["name"], one["verified_at"][:19], signed_percent(one["outcome"]["gain_predicted"]),
         signed_percent(one["outcome"]["gain_observed"]), "yes" if one["outcome"]["held"] else "no")
        for one in found["entries"]
    ]  # fmt: skip
    print_line(options, f"{found['held']} of {found['verified']} came out as stated")
    print_result(options, found, ("mesh", "verified", "promised", "brought", "as stated"), rows)


def _what_if(client: Client, options: argparse.Namespace) -> None:
    if (options.file is None) == (options.scenario is None):
        raise RequestRefused("Give a YAML file or --scenario, one of them.")
    if options.scenario is not None:
        kept = client.named("/v1/scenarios", options.scenario, "scenario")
        question = kept["question"] | {"mesh": kept["mesh"]["name"]}
    else:
        question = yaml_of(options.file)
    found = client.read("/v1/what-if", question)
    rows = [
        (one["application"]["name"], percent(one["before"] and one["before"]["mean"]),
         percent(one["after"] and one["after"]["mean"]), signed_percent(one["gain"] and one["gain"]["gain"]["mean"]),
         one["waiting"] or "", "below its objective" if one["below_objective"] else "")
        for one in found["applications"]
    ]  # fmt: skip
    print_result(options, found, ("application", "now", "then", "change", "waiting", ""), rows)
    for one in found["placed"]:
        print_line(options, f"{one['application']['name']}/{one['task']['name']} finds {one['vm']['name']}")
    for words in found["broken"]:
        print_line(options, f"would not hold: {words}")


def _list_scenarios(client: Client, options: argparse.Namespace) -> None:
    found = list(client.items("/v1/scenarios"))
    rows = [(one["name"], one["mesh"]["name"], len(one["question"]["changes"])) for one in found]
    print_result(options, found, ("scenario", "mesh", "changes"), rows)


def _keep(client: Client, options: argparse.Namespace) -> None:
    question = yaml_of(options.file)
    there = next((one for one in client.items("/v1/scenarios") if one["name"] == options.name), None)
    if there is None:
        found = client.read("/v1/scenarios", question | {"name": options.name})
    else:
        said = {field: value for field, value in question.items() if field != "mesh"}
        tag = {"If_Match": f'"{there["version"]}"'}
        found = client.read(f"/v1/scenarios/{there['id']}", said, method="PATCH", **tag)
    print_result(options, found, ("scenario", "changes"), [(found["name"], len(found["question"]["changes"]))])


def _export_scenario(client: Client, options: argparse.Namespace) -> None:
    kept = client.named("/v1/scenarios", options.name, "scenario")
    yaml.safe_dump({"mesh": kept["mesh"]["name"]} | kept["question"], sys.stdout, sort_keys=False, allow_unicode=True)


def _delete_scenario(client: Client, options: argparse.Namespace) -> None:
    client.read(f"/v1/scenarios/{client.named('/v1/scenarios', options.name, 'scenario')['id']}", method="DELETE")


def _application(client: Client, name: str) -> Any:
    return client.named("/v1/applications", name, "application")


def _moves(options: argparse.Namespace, found: Any) -> None:
    total = found["answer"]["total"]
    if not found["steps"]:
        print_line(options, f"{found['id']}: everything should stay where it is.")
        for words in found["answer"]["rejected"]:
            print_line(options, f"looked at and left: {words}")
    elif total is not None:
        before, after = percent(total["before"]["mean"]), percent(total["after"]["mean"])
        interval = f"{signed_percent(total['gain']['low'])} to {signed_percent(total['gain']['high'])}"
        print_line(options, f"{found['id']}: {before} now, {after} afterwards ({interval})")
    rows = [
        (one["position"] + 1, f"{one['application']['name']}/{one['task']['name']}",
         one["source"]["name"] if one["source"] else "waiting", one["target"]["name"], one["explanation"])
        for one in found["steps"]
    ]  # fmt: skip
    print_result(options, found, ("", "task", "from", "to", "why"), rows)
    if found["answer"]["network"]:
        arcs = [tuple(arc[name] for name in ExplainedArc._fields) for arc in found["answer"]["network"]]
        print_line(options, "\n" + as_text([ExplainedArc(*arc) for arc in arcs]))


def _us(value: int | None) -> str:
    return "-" if value is None else f"{value / 1e3:.0f} µs"
