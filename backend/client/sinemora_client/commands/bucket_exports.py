"""`sinemora bucket-exports`: state, test and run of exports to buckets, over the API.

An administrator creates and changes them in the console: an API key may not, since it may not choose where data go.
"""

from typing import Annotated, Any

from typer import Argument, Typer

from sinemora_client.commands import CommandError, Terminal, api_command

_HEADER = ("export", "state", "bucket", "schedule", "next", "days", "rows", "MB", "error")
_LIST = "/v1/bucket-exports"

app = Typer(rich_markup_mode=None)
exports = Typer(rich_markup_mode=None)
app.add_typer(exports, name="bucket-exports", help="List, test and run exports to buckets of the tenant (API key).")

Name = Annotated[str, Argument(metavar="NAME", help="Name or id of the export.")]


@api_command(exports, "list")
def list_exports(client: Terminal) -> None:
    """List exports with state and progress, without their secrets."""
    items = list(client.items(_LIST))
    client.print_result(items, _HEADER, [_row(item) for item in items])


def _row(export: Any) -> tuple[Any, ...]:
    place = "/".join(filter(None, (export["bucket"], export["prefix"])))
    schedule = export["schedule"] if export["schedule"] == "hourly" else f"daily {export['hour']:02}:10 UTC"
    return (
        export["name"],
        export["state"],
        place,
        schedule,
        (export["next_at"] or "")[:16],
        export["days"],
        export["rows"],
        f"{export['bytes'] / 1e6:.1f}",
        export["error"] or "",
    )


@api_command(exports)
def test(client: Terminal, name: Name) -> None:
    """Write one object to the bucket and delete it; exit code 1 when that fails."""
    export = client.named(_LIST, name, "bucket export")
    result = client.read(f"{_LIST}/{export['id']}/tests", method="POST")
    if result["error"]:
        raise CommandError(result["error"], "bucket_failed")
    client.print_line(f"The bucket took {result['object_key']} and deleted it.")
    client.print_result(result)


@api_command(exports)
def run(client: Terminal, name: Name) -> None:
    """Run an export now and wait for its end."""
    export = client.named(_LIST, name, "bucket export")
    result = client.result_of(client.read(f"{_LIST}/{export['id']}/runs", method="POST"))
    client.print_line(
        f"{result['days']} days exported, {result['rows']:,} rows, {result['bytes'] / 1e6:.1f} MB;"
        f" {result['days_left']} days left."
    )
    client.print_result(result)
