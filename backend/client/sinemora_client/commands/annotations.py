"""`sinemora annotate`: annotations over the API."""

from typing import Annotated

from typer import Argument, Option, Typer

from sinemora_client.commands import Terminal, api_command
from sinemora_client.models import AnnotationKind

app = Typer(rich_markup_mode=None)


@api_command(app)
def annotate(
    client: Terminal,
    text: Annotated[str, Argument(help="Text: one line.")],
    kind: Annotated[AnnotationKind, Option(help="Kind of the event.")] = "deploy",
    starts_at: Annotated[
        str | None, Option("--from", help="Start, as 2026-11-20T22:00:00Z.", show_default="now")
    ] = None,
    ends_at: Annotated[str | None, Option("--to", help="End of a span.", show_default="none: an event")] = None,
    mesh: Annotated[str | None, Option(help="Only about this mesh: name or id.")] = None,
    vm: Annotated[list[str] | None, Option(help="Only about this VM: name or id; repeatable.")] = None,
    zone: Annotated[list[str] | None, Option(help="Only about this zone: name or id; repeatable.")] = None,
    application: Annotated[
        list[str] | None, Option(help="Only about this application: name or id; repeatable.")
    ] = None,
    source: Annotated[
        str | None, Option(help="Person or program that reports it.", show_default="the name of the API key")
    ] = None,
    link: Annotated[str | None, Option(help="Address with details, http or https.")] = None,
) -> None:
    """Record a deploy, maintenance or a note (API key)."""
    scope = {
        f"{kind}_ids": [client.named(f"/v1/{kind}s", name, kind)["id"] for name in names]
        for kind, names in (("vm", vm), ("zone", zone), ("application", application))
        if names
    }
    body = {
        "kind": kind,
        "text": text,
        "starts_at": starts_at,
        "ends_at": ends_at,
        "mesh_id": None if mesh is None else client.mesh_id(mesh),
        "scope": scope or None,
        "source": source,
        "url": link,
    }
    entry = client.read("/v1/annotations", body)
    row = (entry["id"], entry["starts_at"][:19], entry["kind"], entry["text"])
    client.print_result(entry, ("id", "starts", "kind", "text"), [row])
