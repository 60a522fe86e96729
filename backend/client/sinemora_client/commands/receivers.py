"""`sinemora receivers` and `alert-routes`: notification receivers and routes, over the API.

Secrets come from an environment variable or from standard input: arguments stay in the shell's history, and other users
of the machine can see them.
"""

import getpass
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import yaml
from typer import Argument, BadParameter, Option, Typer

from sinemora_client.commands import CommandError, Terminal, api_command, write_text, yaml_of
from sinemora_client.models import ReceiverKind

# Name of the secret by kind (docs/alerts.md); email has none.
_SECRET = {
    "webhook": "key",
    "slack": "url",
    "teams": "url",
    "pagerduty": "routing_key",
    "heartbeat": "url",
    "alertmanager": "url",
    "opsgenie": "api_key",
}
_EMAIL = ("email",)
_WITH_ADDRESS = ("webhook", "pagerduty", "opsgenie")
_HEADER = ("receiver", "kind", "to", "secret")

app = Typer(rich_markup_mode=None)
receivers = Typer(rich_markup_mode=None)
routes = Typer(rich_markup_mode=None)
app.add_typer(receivers, name="receivers", help="Manage receivers of notifications (API key).")
app.add_typer(routes, name="alert-routes", help="Manage the routing tree (API key).")

Name = Annotated[str, Argument(metavar="NAME", help="Name or id of the receiver.")]
To = Annotated[list[str] | None, Option(help="Recipient of an email receiver; repeatable.")]
Address = Annotated[str | None, Option(help="URL of a webhook (or of PagerDuty or Opsgenie, other than the default).")]
SecretEnv = Annotated[
    str | None,
    Option(
        metavar="VARIABLE",
        help="Environment variable with the secret: URL of slack, teams, alertmanager or heartbeat, routing key of "
        "pagerduty, API key of opsgenie, key that signs a webhook.",
    ),
]
SecretStdin = Annotated[bool, Option("--secret-stdin", help="Read that secret from standard input.")]


@api_command(receivers, "list")
def list_receivers(client: Terminal) -> None:
    """List all receivers, without their secrets."""
    items = list(client.items("/v1/receivers"))
    client.print_result(items, _HEADER, [_row(item) for item in items])


def _row(receiver: Any) -> tuple[str, ...]:
    to = receiver["settings"].get("to") or [receiver["settings"].get("url", "")]
    return (receiver["name"], receiver["kind"], ", ".join(to), "kept" if receiver["has_secret"] else "")


@api_command(receivers)
def add(
    client: Terminal,
    name: Annotated[str, Argument(help="Name of the receiver.")],
    kind: Annotated[ReceiverKind, Option(help="Kind of the receiver.")],
    to: To = None,
    address: Address = None,
    secret_env: SecretEnv = None,
    secret_stdin: SecretStdin = False,
) -> None:
    """Create a receiver; it gets no notifications until a route names it."""
    body = {"name": name, "kind": kind, "settings": _settings(kind, to, address)}
    receiver = client.read("/v1/receivers", body | {"secret": _secret(kind, secret_env, secret_stdin) or {}})
    client.print_result(receiver, _HEADER, [_row(receiver)])


@api_command(receivers)
def change(
    client: Terminal,
    receiver_name: Name,
    name: Annotated[str | None, Option(help="New name; routes follow.")] = None,
    to: To = None,
    address: Address = None,
    secret_env: SecretEnv = None,
    secret_stdin: SecretStdin = False,
    no_secret: Annotated[bool, Option("--no-secret", help="Delete the key that signs a webhook.")] = False,
) -> None:
    """Change a receiver; options left out keep their values."""
    receiver = client.named("/v1/receivers", receiver_name, "receiver")
    kind = receiver["kind"]
    settings = _settings(kind, to, address)
    secret = _secret(kind, secret_env, secret_stdin, no_secret)
    body: dict[str, Any] = {"name": name} if name else {}
    body |= {"settings": receiver["settings"] | settings} if settings else {}
    body |= {} if secret is None else {"secret": secret}
    if not body:
        raise CommandError(
            "Nothing to change: give --name, --to, --address, --secret-env, --secret-stdin or --no-secret."
        )
    changed = client.read(f"/v1/receivers/{receiver['id']}", body, method="PATCH", if_match=_tag(receiver))
    client.print_result(changed, _HEADER, [_row(changed)])


def _tag(receiver: Any) -> str:
    return f'"{receiver["version"]}"'


def _settings(kind: ReceiverKind, to: list[str] | None, address: str | None) -> dict[str, Any]:
    for option, value, kinds in (("--to", to, _EMAIL), ("--address", address, _WITH_ADDRESS)):
        if value and kind not in kinds:
            raise CommandError(f"{option} is an option of {' and '.join(kinds)}; this receiver is of kind {kind}.")
    return ({"to": to} if to else {}) | ({"url": address} if address else {})


def _secret(kind: ReceiverKind, variable: str | None, stdin: bool, none: bool = False) -> dict[str, str] | None:
    """Return the secret for the API, empty to delete it; None without an option of it."""
    if sum((variable is not None, stdin, none)) > 1:
        raise BadParameter("--secret-env, --secret-stdin and --no-secret exclude one another.")
    if none:
        return {}
    if variable is None and not stdin:
        return None
    if kind not in _SECRET:
        raise CommandError(f"A receiver of kind {kind} has no secret.")
    if variable is not None:
        value, where = os.environ.get(variable, ""), f"The environment variable {variable}"
    elif sys.stdin.isatty():
        value, where = getpass.getpass("Secret (hidden): "), "The input"
    else:
        value, where = sys.stdin.readline(), "The first line of standard input"
    if not value.strip():
        raise CommandError(f"{where} is empty; it should be the secret.")
    return {_SECRET[kind]: value.strip()}


@api_command(receivers)
def delete(client: Terminal, name: Name) -> None:
    """Delete a receiver with its deliveries; routes no longer name it."""
    receiver = client.named("/v1/receivers", name, "receiver")
    client.read(f"/v1/receivers/{receiver['id']}", method="DELETE", if_match=_tag(receiver))


@api_command(receivers)
def test(client: Terminal, name: Name) -> None:
    """Send a test notification to a receiver."""
    receiver = client.named("/v1/receivers", name, "receiver")
    delivery = client.read(f"/v1/receivers/{receiver['id']}/tests", method="POST")
    client.print_line("Test notification queued; `sinemora receivers deliveries` shows the result.")
    client.print_result(delivery)


@api_command(receivers)
def deliveries(
    client: Terminal, incident: Annotated[str | None, Option(help="Only of this incident (id).")] = None
) -> None:
    """List deliveries: sent, waiting, failed."""
    items = list(client.items("/v1/deliveries", incident_id=incident))
    rows = [
        (item["created_at"][:19], item["receiver"], item["about"], item["state"], item["attempts"],
         item["answer"] or "")
        for item in items
    ]  # fmt: skip
    client.print_result(items, ("created", "receiver", "about", "state", "attempts", "answer"), rows)


@api_command(routes)
def show(
    client: Terminal,
    output: Annotated[Path | None, Option(help="File to write.", show_default="standard output")] = None,
) -> None:
    """Write the tree as YAML, which replace accepts."""
    _print_tree(client, client.get("/v1/alert-routes"), output)


@api_command(routes)
def replace(client: Terminal, file: Annotated[Path, Argument(help="YAML file; - for standard input.")]) -> None:
    """Replace the tree by a YAML file."""
    tree = yaml_of(file)
    if set(tree) != {"root"} or not isinstance(tree["root"], dict):
        raise CommandError(
            f"Invalid routing tree: {file} must have one key, root: a route with receivers and child routes; "
            "`sinemora alert-routes show` prints the current tree."
        )
    _print_tree(client, client.read("/v1/alert-routes", tree, method="PUT", if_match="*"), None)


def _print_tree(client: Terminal, tree: Any, output: Path | None) -> None:
    if client.as_json and output is None:
        client.print_result(tree)
    else:
        write_text(yaml.safe_dump({"root": _declared(tree["root"])}, sort_keys=False, allow_unicode=True), output)


def _declared(route: dict[str, Any]) -> dict[str, Any]:
    """Return a route without defaults; `resolved: false` is kept."""
    fields = {name: value for name, value in route.items() if value or (name == "resolved" and value is not None)}
    for name in ("matchers", "routes"):
        if name in fields:
            fields[name] = [_declared(item) for item in fields[name]]
    return fields
