"""`sinemora applications`: declare applications and read their performance over the API."""

from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option, Typer

from sinemora_client.commands import Terminal, api_command, bytes_of, write_text
from sinemora_client.commands.delays import delay
from sinemora_client.commands.percent import percent, signed_percent

app = Typer(rich_markup_mode=None)
applications = Typer(rich_markup_mode=None)
app.add_typer(
    applications, name="applications", help="Declare applications, read their performance and options (API key)."
)

Name = Annotated[str, Argument(help="Name or id of the application.")]


@api_command(applications, "list")
def list_applications(client: Terminal) -> None:
    """List all applications."""
    items = list(client.items("/v1/applications"))
    rows = [
        (item["name"], item["mesh"]["name"], item["shape"], len(item["tasks"]), item["curve"]["name"]) for item in items
    ]
    client.print_result(items, ("application", "mesh", "shape", "tasks", "curve"), rows)


@api_command(applications)
def performance(client: Terminal, name: Name) -> None:
    """Show the current performance, link by link."""
    result = client.get(f"/v1/applications/{_id(client, name)}/performance")
    rows = [(link["source"], link["target"], delay(link["round_trip_ns"]), percent(link["performance"]), link["state"])
            for link in result["detail"]]  # fmt: skip
    below = ", below its objective" if result["below_objective"] else ""
    basis = f"at the {result['statistic']} of round trips in the newest windows"
    client.print_line(f"{result['name']}: {percent(result['performance'])} {basis}{below}")
    client.print_result(result, ("from", "to", "round trip", "performance", "state"), rows)


@api_command(applications)
def options(client: Terminal, name: Name) -> None:
    """Show role swaps, re-created VMs and additional VMs."""
    result = client.get_or_wait(f"/v1/applications/{_id(client, name)}/options")
    rows = [
        (signed_percent(option["gain"]["gain"]["mean"]), percent(option["gain"]["after"]["mean"]), option["words"])
        for option in result["options"]
    ]
    client.print_result(result, ("change", "then", "option"), rows)
    for words in result["untried"]:
        client.print_line(words)


@api_command(applications)
def delete(client: Terminal, name: Name) -> None:
    """Delete an application; its VMs stay."""
    client.read(f"/v1/applications/{_id(client, name)}", method="DELETE")


@api_command(applications)
def export(
    client: Terminal,
    output: Annotated[Path | None, Option(help="File to write.", show_default="standard output")] = None,
) -> None:
    """Export all applications as YAML."""
    write_text(client.export_applications(), output)


@api_command(applications, "import")
def import_file(client: Terminal, file: Annotated[Path, Argument(help="YAML file; - for standard input.")]) -> None:
    """Create or update applications from a YAML file."""
    changes = client.read("/v1/applications/manifest", bytes_of(file), media_type="application/yaml")
    rows = [(kind, ", ".join(names) or "-") for kind, names in changes.items()]
    client.print_result(changes, ("change", "applications"), rows)


def _id(client: Terminal, name: str) -> Any:
    return client.named("/v1/applications", name, "application")["id"]
