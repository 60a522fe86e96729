"""Use cases of receivers and of the routing tree."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID, uuid4

from sqlalchemy.orm import Session

from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Actor
from sinemora.alerts.models import AlertRouting, Receiver, ReceiverKind
from sinemora.alerts.receivers import hidden_url, queries, routing
from sinemora.alerts.receivers.routing import DEPTH_MAX
from sinemora.alerts.receivers.schemas import (
    ReceiverFields,
    ReceiverRead,
    ReceiverUpdate,
    Route,
    RoutingRead,
    RoutingWrite,
)
from sinemora.kit import encryption, mail
from sinemora.kit.db import refuse_taken
from sinemora.kit.errors import ProductError, existing
from sinemora.kit.host_names import ascii_of
from sinemora.kit.http.etag import IfMatch

RECIPIENTS_MAX = 20
HEARTBEATS_MAX = 3
"""Most heartbeat receivers of a tenant: each is called every minute."""
_SECRET_MAX = 2_000
_URL_MAX = 2_000


class _Secrets(NamedTuple):
    """Names of secrets that a kind of receiver needs, and of those it may have."""

    needed: tuple[str, ...]
    known: tuple[str, ...]


_SETTINGS = {
    ReceiverKind.email: ("to", "contract_report"),
    ReceiverKind.webhook: ("url", "accepted_moves"),
    ReceiverKind.slack: (),
    ReceiverKind.teams: (),
    ReceiverKind.pagerduty: ("url",),
    ReceiverKind.heartbeat: (),
    ReceiverKind.alertmanager: (),
    ReceiverKind.opsgenie: ("url",),
}
_SECRETS = {
    ReceiverKind.email: _Secrets((), ()),
    ReceiverKind.webhook: _Secrets((), ("key",)),
    ReceiverKind.slack: _Secrets(("url",), ("url",)),
    ReceiverKind.teams: _Secrets(("url",), ("url",)),
    ReceiverKind.pagerduty: _Secrets(("routing_key",), ("routing_key",)),
    ReceiverKind.heartbeat: _Secrets(("url",), ("url",)),
    ReceiverKind.alertmanager: _Secrets(("url",), ("url",)),
    ReceiverKind.opsgenie: _Secrets(("api_key",), ("api_key",)),
}


def get_receiver(session: Session, receiver_id: UUID) -> Receiver:
    """Return the tenant's receiver. ProductError `receiver_unknown`."""
    return existing(session.get(Receiver, receiver_id), "receiver")


def create_receiver(session: Session, actor: Actor, body: ReceiverFields) -> Receiver:
    """Create a receiver.

    ProductError `receiver_name_taken`, `receiver_invalid`, `secret_key_missing`, `too_many_objects`.
    """
    refuse_taken(session, Receiver, body.name, "receiver_name_taken")
    _check(body.kind, body.settings, body.secret)
    if body.kind is ReceiverKind.heartbeat and queries.heartbeats(session) >= HEARTBEATS_MAX:
        raise ProductError(
            "too_many_objects",
            409,
            f"Too many heartbeats: a tenant has at most {HEARTBEATS_MAX}. Delete one first.",
            limit=HEARTBEATS_MAX,
        )
    encrypted = encryption.encrypt(body.secret) if body.secret else None
    row = Receiver(name=body.name, kind=body.kind, settings=_kept(body.kind, body.settings), secret=encrypted)
    audit.created(session, actor, "receiver", row)
    return row


def update_receiver(
    session: Session, actor: Actor, receiver_id: UUID, body: ReceiverUpdate, precondition: IfMatch
) -> Receiver:
    """Change a receiver. ProductError `receiver_unknown`, `receiver_name_taken`, `receiver_invalid`."""
    row = get_receiver(session, receiver_id)
    precondition.check(row)
    if body.name is not None and body.name != row.name:
        refuse_taken(session, Receiver, body.name, "receiver_name_taken")
        _reroute(session, row.name, body.name)
        row.name = body.name
    secret = encryption.decrypt(row.secret) if body.secret is None else body.secret
    kind = ReceiverKind(row.kind)
    before = dict(row.settings)
    if kind is ReceiverKind.webhook:
        before = _shown(row) | {"url": hidden_url.opened(row.settings)}
    settings = before if body.settings is None else dict(body.settings)
    if kind is ReceiverKind.webhook and settings.get("url") == hidden_url.shown(before["url"]):
        settings = settings | {"url": before["url"]}  # as it was read
    if row.secret is not None and body.secret is None and _server(settings) != _server(before):
        raise ProductError(
            "secret_needed_again",
            422,
            "Secret needed again: it was given for another server. Send `secret` together with the new `settings.url`.",
            errors=[{"pointer": "#/secret", "message": "needed with a URL on another server"}],
        )
    _check(kind, settings, secret)
    if settings != before:
        row.settings = _kept(kind, settings)
    if body.secret is not None:
        row.secret = encryption.encrypt(secret) if secret else None
    session.flush()
    audit.record(session, actor, "receiver.updated", row.id, row.name)
    return row


def delete_receiver(session: Session, actor: Actor, receiver_id: UUID, precondition: IfMatch) -> None:
    """Delete a receiver with its deliveries; routes no longer name it. ProductError `receiver_unknown`."""
    row = get_receiver(session, receiver_id)
    precondition.check(row)
    _reroute(session, row.name, None)
    audit.deleted(session, actor, "receiver", row)


def _check_depth(root: Route) -> None:
    """Refuse routes that would never be reached. ProductError `routes_too_deep`."""
    level = [(root, "#/root")]
    for _ in range(DEPTH_MAX + 1):
        level = [(inner, f"{pointer}/routes/{at}") for outer, pointer in level for at, inner in enumerate(outer.routes)]
        if not level:
            return
    raise ProductError(
        "routes_too_deep",
        422,
        f"Routes nested too deeply: at most {DEPTH_MAX} levels below the root.",
        errors=[{"pointer": level[0][1], "message": "too deep"}],
    )


def receivers_read(session: Session, actor: Actor, rows: Sequence[Receiver]) -> list[ReceiverRead]:
    """Return receivers as their schemas; addresses are hidden from callers who see some meshes alone."""
    tree = queries.routing(session)
    reached = {} if tree is None else routing.named(tree.tree["root"])
    names = ("id", "name", "kind", "version", "created_at", "heartbeat_at", "heartbeat_answer")
    return [
        ReceiverRead(
            **{name: getattr(row, name) for name in names},
            settings={} if actor.mesh_limit is not None else _shown(row),
            has_secret=row.secret is not None,
            is_routed=row.name in reached,
        )
        for row in rows
    ]


def receiver_read(session: Session, actor: Actor, row: Receiver) -> ReceiverRead:
    return receivers_read(session, actor, [row])[0]


def _kept(kind: ReceiverKind, settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings as they are stored."""
    return settings | hidden_url.sealed(str(settings["url"])) if kind is ReceiverKind.webhook else settings


def _shown(row: Receiver) -> dict[str, Any]:
    if row.kind == ReceiverKind.webhook:
        kept = {name: value for name, value in row.settings.items() if name in _SETTINGS[ReceiverKind.webhook]}
        return kept | {"url": hidden_url.shown(str(row.settings["url"]))}
    return row.settings


def routing_read(session: Session) -> tuple[AlertRouting | None, RoutingRead]:
    """Return the routing tree; an empty one before the first write."""
    row = queries.routing(session)
    if row is None:
        return None, RoutingRead(root=Route(), version=0)
    return row, RoutingRead(root=Route.model_validate(row.tree["root"]), version=row.version)


def write_routing(session: Session, actor: Actor, body: RoutingWrite, precondition: IfMatch) -> AlertRouting:
    """Replace the routing tree. ProductError `receiver_unknown`, `receiver_invalid`, `routes_too_deep`."""
    _check_depth(body.root)
    names = _receivers_of(body.root)
    known = queries.receivers_named(session, names)
    if missing := [name for name in names if name not in known]:
        raise ProductError(
            "receiver_unknown",
            404,
            f"Unknown receiver: {', '.join(missing)}. Create it first, or remove it from the routes.",
        )
    if beats := [name for name in names if known[name].kind == ReceiverKind.heartbeat]:
        raise ProductError(
            "receiver_invalid",
            422,
            f"Not a receiver of incidents: {', '.join(beats)} gets heartbeats alone. Remove it from the routes.",
        )
    row = queries.routing(session)
    precondition.check(row)
    tree = body.model_dump(mode="json")
    if row is None:
        row = AlertRouting(id=uuid4(), tree=tree)
        session.add(row)
    else:
        row.tree = tree
    session.flush()
    audit.record(session, actor, "alert_routing.written", row.id, "routes")
    return row


def _receivers_of(route: Route) -> list[str]:
    return [*route.receivers, *(name for branch in route.routes for name in _receivers_of(branch))]


def _reroute(session: Session, name: str, to: str | None) -> None:
    """Rename a receiver in all routes, or remove it from them if `to` is None."""
    row, shown = routing_read(session)
    if row is not None and name in _receivers_of(shown.root):
        row.tree = {**row.tree, "root": _renamed(shown.root, name, to).model_dump(mode="json")}


def _renamed(route: Route, name: str, to: str | None) -> Route:
    named = [to if one == name else one for one in route.receivers]
    return route.model_copy(
        update={
            "receivers": [one for one in named if one is not None],
            "routes": [_renamed(branch, name, to) for branch in route.routes],
        }
    )


def _check(kind: ReceiverKind, settings: dict[str, Any], secret: dict[str, str]) -> None:
    """Refuse settings and secrets that the kind lacks, does not have or cannot use. ProductError `receiver_invalid`."""
    for field, given, known in (("settings", settings, _SETTINGS[kind]), ("secret", secret, _SECRETS[kind].known)):
        if unknown := sorted(set(given) - set(known)):
            raise _invalid(
                f"#/{field}/{unknown[0]}",
                f"Unknown {field}: a receiver of kind {kind} has {', '.join(known) or 'none'}, not {unknown[0]}.",
            )
    for name in _SECRETS[kind].needed:
        if not secret.get(name):
            raise _invalid(f"#/secret/{name}", f"Secret missing: a receiver of kind {kind} needs `secret.{name}`.")
    for name, value in secret.items():
        if len(value) > _SECRET_MAX:
            raise _invalid(f"#/secret/{name}", f"Secret too long: at most {_SECRET_MAX} characters.")
    if kind is ReceiverKind.email:
        to = settings.get("to")
        if not isinstance(to, list) or not to or not all(isinstance(one, str) and mail.is_address(one) for one in to):
            raise _invalid(
                "#/settings/to",
                "Invalid recipients: `settings.to` must be a list of e-mail addresses such as a@example.com.",
            )
        if len(to) > RECIPIENTS_MAX:
            raise _invalid("#/settings/to", f"Too many recipients: at most {RECIPIENTS_MAX}; use a mailing list.")
    for name in ("contract_report", "accepted_moves"):
        if not isinstance(settings.get(name, False), bool):
            raise _invalid(f"#/settings/{name}", f"Invalid choice: `{name}` is true or false.")
    urls = [("settings", settings.get("url")), ("secret", secret.get("url"))]
    for field, url in urls[:1] if kind is ReceiverKind.webhook else [one for one in urls if one[1]]:
        if not _is_url(url):
            raise _invalid(f"#/{field}/url", "Invalid URL: use an address like https://example.com/hooks/1.")


def _invalid(pointer: str, detail: str) -> ProductError:
    return ProductError("receiver_invalid", 422, detail, errors=[{"pointer": pointer, "message": detail}])


def _is_url(url: Any) -> bool:
    if not isinstance(url, str) or len(url) > _URL_MAX:
        return False
    try:
        parts = urlsplit(url)
        ascii_of(parts.hostname or "")
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # http://[::1, a port above 65535, or a host that no domain can have
        return False


def _server(settings: dict[str, Any]) -> tuple[str, str] | None:
    """Return scheme and authority of the URL in the settings, to which secrets are sent; None without one."""
    url = settings.get("url")
    if not _is_url(url):
        return None
    parts = urlsplit(str(url))
    return parts.scheme, parts.netloc.lower()
