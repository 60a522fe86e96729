"""`sinemora receivers` and `alert-routes`: notification receivers and routes, over the API.

Secrets come from an environment variable or from standard input: arguments stay in the shell's history, and other users
of the machine can see them.
"""

import argparse
import getpass
import os
import sys
from pathlib import Path
from typing import Any

import yaml

from sinemora.alerts.models import ReceiverKind
from sinemora.kit.client import Client, RequestRefused
from sinemora.kit.commands import add_command, add_group, print_line, print_result, write_text, yaml_of

# What the secret of a kind is called (docs/alerts.md); of email there is none.
_SECRET = {
    ReceiverKind.webhook: "key",
    ReceiverKind.slack: "url",
    ReceiverKind.teams: "url",
    ReceiverKind.pagerduty: "routing_key",
}
_EMAIL = (ReceiverKind.email,)
_WITH_ADDRESS = (ReceiverKind.webhook, ReceiverKind.pagerduty)
_HEADER = ("receiver", "kind", "to", "secret")


def add(commands: Any) -> None:
    """Add the commands."""
    receivers = add_group(commands, "receivers", "manage receivers of notifications")
    add_command(receivers, "list", "list all receivers, without their secrets", _list)
    command = add_command(receivers, "add", "create a receiver; it gets no notifications until a route names it", _add)
    command.add_argument("name")
    command.add_argument("--kind", required=True, choices=[one.value for one in ReceiverKind])
    _add_settings(command)
    command = add_command(receivers, "change", "change a receiver; options left out keep their values", _change)
    command.add_argument("name", help="name or id")
    command.add_argument("--name", dest="called", help="new name; routes follow")
    _add_settings(command).add_argument("--no-secret", action="store_true", help="delete the key that signs a webhook")
    for name, about, action in (
        ("delete", "forget one, with its deliveries and its places in the routes", _delete),
        ("test", "send one a test", _test),
    ):
        add_command(receivers, name, about, action).add_argument("name", help="name or id")
    command = add_command(receivers, "deliveries", "list deliveries: sent, waiting, failed", _list_deliveries)
    command.add_argument("--incident", help="only of this incident (id)")

    routes = add_group(commands, "alert-routes", "manage the tree of routes to receivers")
    command = add_command(routes, "show", "write the tree as YAML, which replace accepts", _show_routes)
    command.add_argument("--output", type=Path, help="file to write (default: standard output)")
    command = add_command(routes, "replace", "replace the tree by a YAML file", _replace_routes)
    command.add_argument("file", type=Path, help="- for standard input")


def _add_settings(command: argparse.ArgumentParser) -> Any:
    command.add_argument("--to", action="append", help="recipient of an email receiver; repeatable")
    command.add_argument("--address", help="URL of a webhook (or of a PagerDuty endpoint other than the default)")
    secret = command.add_mutually_exclusive_group()
    secret.add_argument(
        "--secret-env",
        metavar="VARIABLE",
        help="environment variable with the secret: URL of slack or teams, routing key of pagerduty, key that "
        "signs a webhook",
    )
    secret.add_argument("--secret-stdin", action="store_true", help="read that secret from standard input")
    return secret


def _list(client: Client, options: argparse.Namespace) -> None:
    found = list(client.items("/v1/receivers"))
    print_result(options, found, _HEADER, [_row(one) for one in found])


def _row(receiver: Any) -> tuple[str, ...]:
    to = receiver["settings"].get("to") or [receiver["settings"].get("url", "")]
    return (receiver["name"], receiver["kind"], ", ".join(to), "kept" if receiver["has_secret"] else "")


def _add(client: Client, options: argparse.Namespace) -> None:
    kind = ReceiverKind(options.kind)
    body = {"name": options.name, "kind": kind.value, "settings": _settings(options, kind)}
    made = client.read("/v1/receivers", body | {"secret": _secret(options, kind) or {}})
    print_result(options, made, _HEADER, [_row(made)])


def _change(client: Client, options: argparse.Namespace) -> None:
    receiver = client.named("/v1/receivers", options.name, "receiver")
    kind = ReceiverKind(receiver["kind"])
    settings = _settings(options, kind)
    secret = {} if options.no_secret else _secret(options, kind)
    body: dict[str, Any] = {"name": options.called} if options.called else {}
    body |= {"settings": receiver["settings"] | settings} if settings else {}
    body |= {} if secret is None else {"secret": secret}
    if not body:
        raise RequestRefused(
            "Say what is to change: --name, --to, --address, --secret-env, --secret-stdin or --no-secret."
        )
    changed = client.read(f"/v1/receivers/{receiver['id']}", body, method="PATCH", If_Match=_tag(receiver))
    print_result(options, changed, _HEADER, [_row(changed)])


def _tag(read: Any) -> str:
    return f'"{read["version"]}"'


def _settings(options: argparse.Namespace, kind: ReceiverKind) -> dict[str, Any]:
    for name, given, kinds in (("--to", options.to, _EMAIL), ("--address", options.address, _WITH_ADDRESS)):
        if given and kind not in kinds:
            raise RequestRefused(f"{name} is of {' and '.join(kinds)}; this receiver is of kind {kind}.")
    return ({"to": options.to} if options.to else {}) | ({"url": options.address} if options.address else {})


def _secret(options: argparse.Namespace, kind: ReceiverKind) -> dict[str, str] | None:
    """Return the secret for the API; None where none is given."""
    if options.secret_env is None and not options.secret_stdin:
        return None
    if kind not in _SECRET:
        raise RequestRefused(f"A receiver of kind {kind} has no secret.")
    if options.secret_env is not None:
        value, where = os.environ.get(options.secret_env, ""), f"The environment variable {options.secret_env}"
    elif sys.stdin.isatty():
        value, where = getpass.getpass("Secret (it is not shown): "), "What was typed"
    else:
        value, where = sys.stdin.readline(), "The first line of standard input"
    if not value.strip():
        raise RequestRefused(f"{where} is empty; it should be the secret.")
    return {_SECRET[kind]: value.strip()}


def _delete(client: Client, options: argparse.Namespace) -> None:
    receiver = client.named("/v1/receivers", options.name, "receiver")
    client.read(f"/v1/receivers/{receiver['id']}", method="DELETE", If_Match=_tag(receiver))


def _test(client: Client, options: argparse.Namespace) -> None:
    receiver = client.named("/v1/receivers", options.name, "receiver")
    found = client.read(f"/v1/receivers/{receiver['id']}/tests", method="POST")
    print_line(options, "A test is on its way; `sinemora receivers deliveries` shows what came of it.")
    print_result(options, found, (), [])


def _list_deliveries(client: Client, options: argparse.Namespace) -> None:
    found = list(client.items("/v1/deliveries", incident_id=options.incident))
    rows = [
        (one["created_at"][:19], one["receiver"], one["about"], one["state"], one["attempts"], one["answer"] or "")
        for one in found
    ]
    print_result(options, found, ("made", "receiver", "about", "state", "attempts", "answer"), rows)


def _show_routes(client: Client, options: argparse.Namespace) -> None:
    _shown(options, client.get("/v1/alert-routes"), options.output)


def _replace_routes(client: Client, options: argparse.Namespace) -> None:
    tree = yaml_of(options.file)
    if set(tree) != {"root"} or not isinstance(tree["root"], dict):
        raise RequestRefused(
            f"{options.file} should have one key, root: a route with receivers, and routes, its branches; "
            "`sinemora alert-routes show` prints what is there."
        )
    _shown(options, client.read("/v1/alert-routes", tree, method="PUT", If_Match="*"), None)


def _shown(options: argparse.Namespace, found: Any, output: Path | None) -> None:
    if options.json and output is None:
        print_result(options, found, (), [])
    else:
        write_text(yaml.safe_dump({"root": _declared(found["root"])}, sort_keys=False, allow_unicode=True), output)


def _declared(route: dict[str, Any]) -> dict[str, Any]:
    """Return a route as its owner would write it: defaults are left out, `resolved: false` is kept."""
    said = {name: value for name, value in route.items() if value or (name == "resolved" and value is not None)}
    for name in ("matchers", "routes"):
        if name in said:
            said[name] = [_declared(one) for one in said[name]]
    return said
