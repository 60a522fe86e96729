"""`sinemora recommend` and `recommendations`: search for moves and decide on them over the API."""

import argparse
from typing import Any

from sinemora.kit.client import Client
from sinemora.kit.commands import add_command, add_group, percent, print_line, print_result, signed_percent
from sinemora.placement.costs import Objective
from sinemora.placement.explain import ExplainedArc, as_text
from sinemora.placement.problem import Risk
from sinemora.recommendations.schemas import Percentile, Policy

_DECISIONS = (
    ("accept", "accept a recommendation"),
    ("apply", "mark a recommendation as applied"),
    ("dismiss", "dismiss a recommendation"),
)


def add(commands: Any) -> None:
    """Add the commands."""
    command = add_command(commands, "recommend", "search for moves worth making on a mesh", _recommend)
    command.add_argument("--mesh", required=True, help="name or id")
    command.add_argument("--policy", choices=[policy.value for policy in Policy], default=Policy.EXACT.value)
    command.add_argument("--objective", choices=[objective.value for objective in Objective])
    command.add_argument("--risk", choices=[risk.value for risk in Risk], default=Risk.cvar.value)
    command.add_argument(
        "--statistic", choices=[percentile.value for percentile in Percentile], default=Percentile.P50.value
    )
    command.add_argument("--minutes", type=int, default=30, help="look-back in minutes (default: 30)")
    command.add_argument("--moves-max", type=int, default=10, help="maximum number of moves (default: 10)")
    command.add_argument("--move-cost", type=float, help="minimum gain of a move, as a share")
    command.add_argument("--application", action="append", default=[], help="select an application; repeatable")
    command.add_argument("--explain", action="store_true", help="only nomora: every arc of the solved network")

    recommendations = add_group(commands, "recommendations", "show recommendations, decide on them, read outcomes")
    add_command(recommendations, "list", "list all recommendations, newest first", _list_recommendations)
    add_command(recommendations, "show", "show a recommendation with its moves", _show).add_argument("id")
    for name, about in _DECISIONS:
        command = add_command(recommendations, name, about, _decide)
        command.add_argument("id")
        if name == "dismiss":
            command.add_argument("--reason", default="")
        command.set_defaults(decision=name)
    add_command(recommendations, "accuracy", "show the accuracy of applied recommendations", _accuracy)


def _recommend(client: Client, options: argparse.Namespace) -> None:
    fields = ("mesh", "policy", "objective", "risk", "statistic", "minutes", "moves_max", "move_cost", "explain")
    question = {field: getattr(options, field) for field in fields} | {"applications": options.application}
    job = client.finished(client.read("/v1/recommendations", question))
    _moves(options, client.get(f"/v1/recommendations/{job['result']['recommendation_id']}"))


def _list_recommendations(client: Client, options: argparse.Namespace) -> None:
    recommendations = list(client.items("/v1/recommendations"))
    rows = [
        (item["id"], item["created_at"][:19], item["mesh"]["name"], item["policy"], item["moves"], item["state"],
         signed_percent(item["total"] and item["total"]["gain"]["mean"]))
        for item in recommendations
    ]  # fmt: skip
    print_result(options, recommendations, ("id", "created", "mesh", "policy", "moves", "state", "gain"), rows)


def _show(client: Client, options: argparse.Namespace) -> None:
    _moves(options, client.get(f"/v1/recommendations/{options.id}"))


def _decide(client: Client, options: argparse.Namespace) -> None:
    body = {"reason": options.reason} if options.decision == "dismiss" else None
    recommendation = client.read(f"/v1/recommendations/{options.id}/{options.decision}", body, method="POST")
    print_line(options, recommendation["state"])
    if options.json:
        print_result(options, recommendation, (), [])


def _accuracy(client: Client, options: argparse.Namespace) -> None:
    accuracy = client.get("/v1/recommendations/accuracy")
    rows = [
        (entry["mesh"]["name"], entry["verified_at"][:19], signed_percent(entry["outcome"]["gain_predicted"]),
         signed_percent(entry["outcome"]["gain_observed"]), "yes" if entry["outcome"]["held"] else "no")
        for entry in accuracy["entries"]
    ]  # fmt: skip
    print_line(options, f"{accuracy['held']} of {accuracy['verified']} within the predicted interval")
    print_result(options, accuracy, ("mesh", "verified", "predicted", "observed", "within interval"), rows)


def _moves(options: argparse.Namespace, recommendation: Any) -> None:
    total = recommendation["answer"]["total"]
    if not recommendation["steps"]:
        print_line(options, f"{recommendation['id']}: no moves worth making.")
        for words in recommendation["answer"]["rejected"]:
            print_line(options, f"rejected: {words}")
    elif total is not None:
        before, after = percent(total["before"]["mean"]), percent(total["after"]["mean"])
        interval = f"{signed_percent(total['gain']['low'])} to {signed_percent(total['gain']['high'])}"
        print_line(options, f"{recommendation['id']}: {before} now, {after} after the moves ({interval})")
    rows = [
        (step["position"] + 1, f"{step['application']['name']}/{step['task']['name']}",
         step["source"]["name"] if step["source"] else "waiting", step["target"]["name"], step["explanation"])
        for step in recommendation["steps"]
    ]  # fmt: skip
    print_result(options, recommendation, ("", "task", "from", "to", "why"), rows)
    if recommendation["answer"]["network"]:
        arcs = [tuple(arc[name] for name in ExplainedArc._fields) for arc in recommendation["answer"]["network"]]
        print_line(options, "\n" + as_text([ExplainedArc(*arc) for arc in arcs]))
