"""`sinemora advise`: the advisors over the API."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option, Typer

from sinemora.advisors.bulk.command import bulk
from sinemora.advisors.compute_mix.command import price_basis, price_difference, split_cells
from sinemora.advisors.shaping.command import app as shaping
from sinemora.kit.percent import percent
from sinemora_client.commands import CommandError, Mesh, Terminal, api_command, utf8_of, write_text, yaml_of
from sinemora_client.models import FairnessOf

app = Typer(rich_markup_mode=None)
advise = Typer(rich_markup_mode=None)
price_lists = Typer(rich_markup_mode=None)
app.add_typer(advise, name="advise", help="Ask the advisors: price, fairness, transports, shaping (API key).")
advise.add_typer(shaping)
advise.add_typer(price_lists, name="price-lists", help="Manage price lists.")
advise.add_typer(price_basis, name="price-basis", help="Manage the price bases of applications.")
advise.add_typer(price_difference)
advise.add_typer(bulk)

Question = Annotated[Path, Argument(help="YAML file with the question; - for standard input.")]


@api_command(advise, "compute-mix")
def compute_mix(client: Terminal, file: Question) -> None:
    """Find the cheapest split between VMs and serverless that keeps a response target."""
    result = client.read("/v1/advisors/compute-mix", yaml_of(file))
    rows = [
        (path["label"], f"{path['budget_ms']:.4g} ms", option["vm"], f"{percent(option['utilisation_max'])}",
         *split_cells(option["split"]), "best" if option["vm"] == path["best"] else "")
        for path in result["paths"]
        for option in path["options"]
    ]  # fmt: skip
    header = ("path", "budget", "VM type", "most utilisation", "VMs", "serverless", "cost per hour", "")
    client.print_result(result, header, rows)
    for path in result["paths"]:
        if path["reason"]:
            client.print_line(f"{path['label']}: {path['reason']}")
        if path["difference_per_hour"]:
            client.print_line(f"{path['label']}: {path['difference_per_hour']:+.4g} per hour against the first path")


@api_command(advise, "provider-prices")
def provider_prices(client: Terminal, file: Question) -> None:
    """Find the serverless prices at which the best mix switches, and the price best for the provider."""
    result = client.read("/v1/advisors/provider-prices", yaml_of(file))
    highest = result["switch_to_vms"] or result["switch_to_mixed"]
    rows = [
        (peak["regime"].replace("_", " "),
         # Above the last switch serverless is not used, so any price has the same profit.
         f"above {highest:.5g}" if peak["regime"] == "vm_only" else f"{peak['price_per_busy_hour']:.5g}",
         f"{peak['profit_per_hour']:.5g}",
         "equilibrium" if peak == result["equilibrium"] else "")
        for peak in result["peaks"]
    ]  # fmt: skip
    client.print_result(result, ("regime", "price of a busy hour", "provider's profit per hour", ""), rows)


@api_command(advise)
def fairness(
    client: Terminal,
    mesh: Mesh = None,
    of: Annotated[FairnessOf, Option(help="Among whom.")] = "vms",
    minutes: Annotated[int, Option(help="Look-back, minutes.")] = 60,
    source: Annotated[str | None, Option(help="VM of a path, for flows.")] = None,
    target: Annotated[str | None, Option(help="Other VM of the path.")] = None,
) -> None:
    """Show Jain's fairness index over VMs, flows of a path, applications or metric sources."""
    query = {"of": of, "minutes": minutes, "source": source, "target": target}
    result = client.get(f"/v1/meshes/{client.mesh_id(mesh)}/fairness", **query)
    rows = [(item["name"], f"{item['share']:.4g}", f"{percent(item['relative'])}") for item in result["members"]]
    client.print_result(result, ("member", "share", "relative to the mean"), rows)
    index = "-" if result["index"] is None else f"{result['index']:.4f}"
    client.print_line(f"Index {index}{', below ' + str(result['alert_below']) if result['below'] else ''}")


@api_command(advise, "import-fairness")
def import_fairness(client: Terminal, file: Annotated[Path, Argument(help="CSV file; - for standard input.")]) -> None:
    """Compute Jain's index of a table of throughputs, or means of a table of indices."""
    result = client.read("/v1/advisors/fairness-imports", {"csv": utf8_of(file)})
    rows = [
        (group["group"], len(group["windows"]), "-" if group["mean"] is None else f"{group['mean']:.4f}")
        for group in result["groups"]
    ]
    client.print_result(result, ("group", "windows", "mean index"), rows)


@api_command(advise)
def transport(client: Terminal, file: Question) -> None:
    """Choose the transport of a path or transfer, with the rule and the measurement behind it."""
    result = client.read("/v1/advisors/transports", yaml_of(file))
    rows = [
        (fired["part"], fired["choice"], fired["rule"], fired["measurement"],
         "chosen" if fired["overridden_by"] is None else f"overridden by {fired['overridden_by']}")
        for fired in result["fired"]
    ]  # fmt: skip
    client.print_result(result, ("part", "choice", "rule", "measurement", ""), rows)


@api_command(price_lists, "list")
def list_price_lists(client: Terminal) -> None:
    """List all price lists."""
    rows = list(client.items("/v1/price-lists"))
    table = [(row["name"], row["currency"], row["as_of"], len(row["entries"])) for row in rows]
    client.print_result(rows, ("price list", "currency", "as of", "entries"), table)


@api_command(price_lists, "import")
def import_price_list(
    client: Terminal,
    file: Annotated[Path | None, Argument(help="CSV or JSON file; - for CSV from standard input.")] = None,
    name: Annotated[str | None, Option(help="Name of the list.", show_default="that of the file")] = None,
    currency: Annotated[str, Option(help="Currency, ISO 4217.")] = "USD",
    as_of: Annotated[str | None, Option(help="Date of the prices, as 2026-11-01.", show_default="today")] = None,
    sample: Annotated[bool, Option("--sample", help="Import the sample that ships with the product.")] = False,
) -> None:
    """Import a price list; replace the list of that name."""
    if sample == (file is not None):
        raise CommandError("Invalid request: give either a file or --sample.")
    if file is None:
        body: dict[str, Any] = client.read("/v1/price-list-samples")[0]
    else:
        kind = "json_text" if file.suffix == ".json" else "csv"
        today = f"{datetime.now(UTC):%Y-%m-%d}"
        body = {"name": file.stem, "currency": currency, "as_of": as_of or today, kind: utf8_of(file)}
    if name is not None:
        body["name"] = name
    row = client.read("/v1/price-lists", body)
    table = [(row["name"], row["currency"], row["as_of"], len(row["entries"]))]
    client.print_result(row, ("price list", "currency", "as of", "entries"), table)


@api_command(price_lists, "export")
def export_price_list(client: Terminal, name: Annotated[str, Argument(help="Name of the price list.")]) -> None:
    """Export a price list as CSV."""
    from sinemora.advisors.compute_mix.core.price_list import csv_of

    write_text(csv_of(client.named("/v1/price-lists", name, "price list")["entries"]), None)


@api_command(price_lists, "delete")
def delete_price_list(client: Terminal, name: Annotated[str, Argument(help="Name of the price list.")]) -> None:
    """Delete a price list."""
    client.read(f"/v1/price-lists/{client.named('/v1/price-lists', name, 'price list')['id']}", method="DELETE")
