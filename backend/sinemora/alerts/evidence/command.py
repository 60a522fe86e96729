"""`sinemora evidence`: the signed report of an incident, and its verification by anyone."""

import base64
import binascii
import json
import sys
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

from typer import Argument, Exit, Option, Typer
from typer.core import TyperGroup

from sinemora.kit.config import settings
from sinemora_client import Client, SinemoraError
from sinemora_client.commands import CommandError, Terminal, Url, api_command, bytes_of, write_text


class _OfIncident(TyperGroup):
    """A group whose command `get` may be left out before the id of an incident."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        try:
            UUID(args[0])
        except ValueError:
            return super().resolve_command(ctx, args)
        return super().resolve_command(ctx, ["get", *args])


app = Typer(rich_markup_mode=None)
evidence = Typer(rich_markup_mode=None, cls=_OfIncident)
app.add_typer(evidence, name="evidence", help="Write and verify signed evidence of incidents.")


@api_command(evidence)
def get(
    client: Terminal,
    incident: Annotated[str, Argument(help="Id of the incident.")],
    output: Annotated[Path | None, Option(help="File to write.", show_default="standard output")] = None,
) -> None:
    """Write the signed evidence of an incident as JSON (API key)."""
    signed = client.get(f"/v1/incidents/{incident}/evidence")
    write_text(json.dumps(signed, indent=2, ensure_ascii=False) + "\n", output)


@evidence.command()
def verify(
    file: Annotated[Path, Argument(help="File with signed evidence; - for standard input.")],
    key: Annotated[
        list[str] | None, Option(help="Public key, base64; repeatable.", show_default="keys that the backend publishes")
    ] = None,
    url: Url = None,
) -> None:
    """Verify the signature of evidence. Exit with 1 unless it is valid. No API key is needed."""
    from sinemora.kit.signing import key_id, verifies

    try:
        report, signature = _signed(file)
        keys = [_public_key(one) for one in key] if key else _published(url or settings().public_url)
    except CommandError as error:
        print(error, file=sys.stderr)
        raise Exit(1) from None
    for public_key in keys:
        if verifies(report, signature, public_key):
            incident = report.get("incident") or {}
            print(f"Valid: signed with key {key_id(public_key)}.")
            print(f"Incident {incident.get('id')}: {incident.get('title')}, onset {incident.get('onset_at')}.")
            return
    print("Invalid: the report was changed after it was signed, or signed with another key.", file=sys.stderr)
    raise Exit(1)


def _signed(file: Path) -> tuple[dict[str, Any], str]:
    """Return report and signature of a file. Raises `CommandError`."""
    try:
        document = json.loads(bytes_of(file))
        report, signature = document["report"], document["signature"]["value"]
    except (ValueError, KeyError, TypeError):
        raise CommandError(f"No evidence: {file} needs `report` and `signature` in JSON.") from None
    if not isinstance(report, dict) or not isinstance(signature, str):
        raise CommandError(f"No evidence: {file} needs `report` and `signature` in JSON.")
    return report, signature


def _public_key(text: str) -> bytes:
    try:
        public_key = base64.b64decode(text, validate=True)
    except binascii.Error:
        public_key = b""
    if len(public_key) != 32:
        raise CommandError("Invalid key: it should be 32 bytes in base64.")
    return public_key


def _published(url: str) -> list[bytes]:
    """Return the keys that a backend publishes. Raises `CommandError`."""
    try:
        with Client(url, "") as client:
            keys = client.request("GET", "/v1/evidence-keys").json()["keys"]
            return [_public_key(one["public_key"]) for one in keys]
    except (SinemoraError, ValueError, KeyError, TypeError) as error:
        raise CommandError(f"No keys from {url}: {error} Give one with --key.") from None
