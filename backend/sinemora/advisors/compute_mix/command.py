"""`sinemora advise price-basis` and `price-difference`: the price of recommended moves."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Typer

from sinemora_client.commands import Terminal, api_command, yaml_of

price_basis = Typer(rich_markup_mode=None)
price_difference = Typer(rich_markup_mode=None)
Application = Annotated[str, Argument(help="Name or id of the application.")]


@api_command(price_basis, "set")
def set_price_basis(
    client: Terminal,
    application: Application,
    file: Annotated[Path, Argument(help="YAML file with load, target, VM types, serverless; - for standard input.")],
) -> None:
    """Set the price basis: recommended moves of the application then show their price difference."""
    _print(client, client.read(_path(client, application), yaml_of(file), method="PUT"))


@api_command(price_basis, "show")
def show_price_basis(client: Terminal, application: Application) -> None:
    """Show the price basis of an application."""
    _print(client, client.get(_path(client, application)))


@api_command(price_basis, "delete")
def delete_price_basis(client: Terminal, application: Application) -> None:
    """Delete the price basis of an application."""
    client.read(_path(client, application), method="DELETE")


@api_command(price_difference, "price-difference")
def show_price_difference(
    client: Terminal, recommendation: Annotated[str, Argument(help="Id of the recommendation.")]
) -> None:
    """Show the cheapest compute mix of each moved application before and after the moves of a recommendation."""
    result = client.get(f"/v1/recommendations/{recommendation}/price-difference")
    header = ("application", "", "slowest path", "budget", "VMs", "serverless", "per hour")
    rows = [
        (row["application"]["name"], side, row[side]["path"] or "no network", f"{row[side]['budget_ms']:.4g} ms",
         *split_cells(row[side]["split"]))
        for row in result["applications"]
        for side in ("before", "after")
        if row[side] is not None
    ]  # fmt: skip
    client.print_result(result, header, rows)
    for row in result["applications"]:
        if row["reason"]:
            client.print_line(f"{row['application']['name']}: {row['reason']}")
    if result["difference_per_hour"] is not None:
        words = f"Difference {result['difference_per_hour']:+.4g} {result['currency'] or ''} per hour"
        client.print_line(" ".join(words.split()))


def split_cells(split: dict[str, Any] | None) -> tuple[str, str, str]:
    """Return the cells of a split: VMs, load to serverless, cost per hour."""
    if split is None:
        return "-", "-", "target missed"
    return str(split["vms"]), f"{split['serverless_per_s']:.4g}/s", f"{split['cost_per_hour']:.4g}"


def _path(client: Terminal, application: str) -> str:
    return f"/v1/applications/{client.named('/v1/applications', application, 'application')['id']}/price-basis"


def _print(client: Terminal, basis: dict[str, Any]) -> None:
    service = basis["service"]
    target = service["target"]
    statistic = "mean" if target["percentile"] is None else f"p{target['percentile']:g}"
    types = ", ".join(vm["name"] for vm in service["vm_types"])
    row = (basis["application"]["name"], f"{service['load_per_s']:g}/s", f"{statistic} {target['response_ms']:g} ms",
           types, "no" if service["serverless"] is None else "yes")  # fmt: skip
    client.print_result(basis, ("application", "load", "target", "VM types", "serverless"), [row])
