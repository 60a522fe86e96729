"""`sinemora recommend` and `recommendations`: search for moves and decide on them over the API."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option, Typer

from sinemora_client.commands import CommandError, Mesh, Terminal, api_command, table, write_text
from sinemora_client.commands.percent import percent, signed_percent
from sinemora_client.models import Objective, Percentile, PlanFormat, Policy, Risk

app = Typer(rich_markup_mode=None)
recommendations = Typer(rich_markup_mode=None)
app.add_typer(
    recommendations,
    name="recommendations",
    help="Show recommendations, decide on them, read outcomes (API key).",
)

_POINTS = "100 divided by the predicted performance: 105 is a loss of 5 %."
Id = Annotated[str, Argument(help="Id of the recommendation.")]


@api_command(app)
def recommend(
    client: Terminal,
    mesh: Mesh = None,
    policy: Annotated[Policy, Option(help="Placement policy.")] = "best",
    objective: Annotated[Objective | None, Option(help="Objective to minimise.", show_default="of the policy")] = None,
    risk: Annotated[Risk | None, Option(help="Risk measure of a path's latency.", show_default="none")] = None,
    statistic: Annotated[Percentile, Option(help="Statistic of each window's round trips.")] = "p50",
    minutes: Annotated[int, Option(help="Look-back in minutes.")] = 30,
    moves_max: Annotated[int, Option(help="Maximum number of moves.")] = 10,
    move_cost: Annotated[float | None, Option(help="Minimum gain of a move, as a share.")] = None,
    artifact: Annotated[
        list[str] | None,
        Option(help="Artifact that the tasks of an application need on their VM: APPLICATION=ARTIFACT; repeatable."),
    ] = None,
    bringing_cost: Annotated[
        float, Option(help="Further minimum gain of a move for each minute that bringing its artifact takes.")
    ] = 0.0,
    application: Annotated[list[str] | None, Option(help="Only this application; repeatable.")] = None,
    p_m: Annotated[int | None, Option(help=f"Only nomora: cost up to which a VM is preferred. {_POINTS}")] = None,
    p_r: Annotated[int | None, Option(help="Only nomora: cost up to which a rack is preferred.")] = None,
    omega: Annotated[float | None, Option(help="Only nomora: cost of a waiting task per second.")] = None,
    gamma: Annotated[int | None, Option(help="Only nomora: cost of a waiting task.")] = None,
    beta: Annotated[float | None, Option(help="Only nomora: discount of a task's VM per second of its run.")] = None,
    explain: Annotated[bool, Option("--explain", help="Only nomora: print every arc of the solved network.")] = False,
) -> None:
    """Search for moves worth making on a mesh (API key)."""
    given = {"p_m": p_m, "p_r": p_r, "omega": omega, "gamma": gamma, "beta": beta}
    parameters = {name: value for name, value in given.items() if value is not None}
    request = {
        "mesh": mesh,
        "policy": policy,
        "objective": objective,
        "risk": risk,
        "statistic": statistic,
        "minutes": minutes,
        "moves_max": moves_max,
        "move_cost": move_cost,
        "artifacts": _pairs(artifact or []),
        "bringing_cost": bringing_cost,
        "nomora": parameters or None,
        "explain": explain,
        "applications": application or [],
    }
    found = client.result_of(client.read("/v1/recommendations", request))
    _print_moves(client, client.get(f"/v1/recommendations/{found['recommendation_id']}"))


@api_command(recommendations, "list")
def list_recommendations(client: Terminal) -> None:
    """List all recommendations, newest first."""
    items = list(client.items("/v1/recommendations"))
    rows = [
        (item["id"], item["created_at"][:19], item["mesh"]["name"], item["policy"], item["moves"], item["state"],
         signed_percent(item["total"] and item["total"]["gain"]["mean"]))
        for item in items
    ]  # fmt: skip
    client.print_result(items, ("id", "created", "mesh", "policy", "moves", "state", "gain"), rows)


@api_command(recommendations)
def show(client: Terminal, id: Id) -> None:
    """Show a recommendation with its moves."""
    _print_moves(client, client.get(f"/v1/recommendations/{id}"))


@api_command(recommendations)
def plan(
    client: Terminal,
    id: Id,
    form: Annotated[PlanFormat, Option("--format", help="Format of the plan.")] = "kubernetes",
    back: Annotated[bool, Option("--back", help="Write the way back.")] = False,
    output: Annotated[Path | None, Option(help="File to write.", show_default="standard output")] = None,
) -> None:
    """Write the moves as a plan to carry out."""
    write_text(client.read_recommendation_plan(id, format=form, back=back), output)


@api_command(recommendations)
def accept(client: Terminal, id: Id) -> None:
    """Accept a recommendation."""
    _decide(client, f"{id}/accept")


@api_command(recommendations)
def apply(client: Terminal, id: Id) -> None:
    """Mark a recommendation as applied."""
    _decide(client, f"{id}/apply")


@api_command(recommendations)
def dismiss(client: Terminal, id: Id, reason: Annotated[str, Option(help="Reason, for other users.")] = "") -> None:
    """Dismiss a recommendation."""
    _decide(client, f"{id}/dismiss", {"reason": reason})


@api_command(recommendations)
def accuracy(client: Terminal) -> None:
    """Show the accuracy of applied recommendations."""
    result = client.get("/v1/recommendations/accuracy")
    rows = [
        (entry["mesh"]["name"], entry["verified_at"][:19], entry["outcome"]["verdict"].replace("_", " "),
         entry["outcome"]["judged_by"], signed_percent(entry["outcome"]["promised"]["mean"]),
         signed_percent(entry["outcome"]["observed"] and entry["outcome"]["observed"]["mean"]),
         entry["outcome"]["reason"])
        for entry in result["entries"]
    ]  # fmt: skip
    judged = result["held"] + result["not_held"]
    excluded = f"{result['cannot_tell']} undecided, {result['undone']} undone"
    client.print_line(f"{result['held']} of {judged} held; {excluded}")
    heads = ("mesh", "verified", "verdict", "judged by", "promised", "observed", "reason")
    client.print_result(result, heads, rows)


def _pairs(named: list[str]) -> dict[str, str]:
    pairs = dict(one.partition("=")[::2] for one in named)
    if wrong := [name for name, artifact in pairs.items() if not (name and artifact)]:
        raise CommandError(f"--artifact {wrong[0]}: write APPLICATION=ARTIFACT, such as checkout=image.tar.")
    return pairs


def _decide(client: Terminal, decision: str, body: dict[str, str] | None = None) -> None:
    recommendation = client.read(f"/v1/recommendations/{decision}", body, method="POST")
    client.print_line(recommendation["state"])
    client.print_result(recommendation)


def _print_moves(client: Terminal, recommendation: Any) -> None:
    total = recommendation["result"]["total"]
    if not recommendation["steps"]:
        client.print_line(f"{recommendation['id']}: no moves worth making.")
        for words in recommendation["result"]["rejected"]:
            client.print_line(f"rejected: {words}")
    elif total is not None:
        before, after = percent(total["before"]["mean"]), percent(total["after"]["mean"])
        interval = f"{signed_percent(total['gain']['low'])} to {signed_percent(total['gain']['high'])}"
        client.print_line(f"{recommendation['id']}: {before} now, {after} after the moves ({interval})")
    if optimality := recommendation["result"]["optimality"]:
        client.print_line(optimality["words"])
    for words in recommendation["result"]["broken"] or ():
        client.print_line(f"broken: {words}")
    for bound in recommendation["result"]["binding"] or ():
        limits, helps = (" and ".join(limit[key] for limit in bound["limits"]) for key in ("limit", "relax"))
        task = f"{bound['application']['name']}/{bound['task']['name']} to {bound['vm']['name']}"
        gain = signed_percent(bound["gain"]["gain"]["mean"])
        client.print_line(f"limit: {limits}. To move {task} ({gain}): {helps}.")
    rows = [
        (step["position"] + 1, f"{step['application']['name']}/{step['task']['name']}",
         step["source"]["name"] if step["source"] else "waiting", step["target"]["name"], step["explanation"])
        for step in recommendation["steps"]
    ]  # fmt: skip
    client.print_result(recommendation, ("", "task", "from", "to", "why"), rows)
    if recommendation["steps"] and not client.as_json:
        _print_prices(client, recommendation["id"])
    if recommendation["result"]["network"]:
        arcs = recommendation["result"]["network"]
        client.print_line("\n" + table(("from", "to", *list(arcs[0])[2:]), [list(arc.values()) for arc in arcs]))


def _print_prices(client: Terminal, id: str) -> None:
    for row in client.get(f"/v1/recommendations/{id}/price-difference")["applications"]:
        name, change = row["application"]["name"], row["difference_per_hour"]
        if change is not None:
            client.print_line(" ".join(f"price of {name}: {change:+.4g} {row['currency'] or ''} per hour".split()))
        else:
            sides = [row[side]["reason"] for side in ("before", "after") if row[side] is not None]
            why = row["reason"] or " ".join(dict.fromkeys(reason for reason in sides if reason))
            client.print_line(f"price of {name}: {why}")
