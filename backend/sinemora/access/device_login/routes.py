"""HTTP of device logins: for the device, and for the person who confirms its code."""

from fastapi import APIRouter, Request

from sinemora.access.device_login import schemas, service
from sinemora.access.device_login.service import PendingLogin
from sinemora.access.signin import cookies
from sinemora.access.tenants.access import Actor, Confirmed, Person, signed_in_router
from sinemora.kit.errors import responses
from sinemora.kit.http.idempotency import only_reads
from sinemora.kit.http.routes import BoundedRoute

public_router = APIRouter(prefix="/v1/device-logins", route_class=BoundedRoute, tags=["auth"])
router = signed_in_router("/v1/device-logins", "auth", 404, 422)


@public_router.post("", responses=responses(422, 429))
def create_device_login(body: schemas.DeviceLoginCreate, request: Request) -> schemas.DeviceLoginCreated:
    """Begin the login of a device without a browser (RFC 8628): a person confirms its code on the page `/device`."""
    begun = service.begin(body.device_name, body.scope, cookies.browser_of(request))
    page = service.verification_uri()
    return schemas.DeviceLoginCreated(
        device_code=begun.device_code,
        user_code=begun.user_code,
        verification_uri=page,
        verification_uri_complete=f"{page}?code={begun.user_code}",
        expires_in=int(service.LIFE.total_seconds()),
        interval=service.INTERVAL_S,
    )


@public_router.post("/tokens", responses=responses(400, 409, 422, 429))
def create_device_token(body: schemas.DeviceTokenCreate) -> schemas.DeviceToken:
    """Return the key of a device once a person has confirmed its code; until then 400 `authorization_pending`."""
    granted = service.take_key(body.device_code)
    return schemas.DeviceToken(
        access_token=granted.secret,
        expires_in=int(service.KEY_LIFE.total_seconds()),
        expires_at=granted.expires_at,
        scope=granted.scope,
        email=granted.email,
        tenant_name=granted.tenant_name,
    )


@router.post("/lookup")
@only_reads
def look_up_device_login(body: schemas.UserCode, actor: Person) -> schemas.DeviceLoginRead:
    """Return which device shows a code, and from where it asked, for the person who is to confirm it."""
    return _read(service.look_up(actor, body.user_code), actor)


@router.post("/approve", dependencies=[Confirmed])
def approve_device_login(body: schemas.UserCode, actor: Person) -> schemas.DeviceLoginRead:
    """Let the device with this code act for you in this tenant: it gets an API key of yours for 90 days."""
    return _read(service.approve(actor, body.user_code), actor)


@router.post("/deny")
def deny_device_login(body: schemas.UserCode, actor: Person) -> schemas.DeviceLoginRead:
    """Refuse the device with this code. It gets no key."""
    return _read(service.deny(actor, body.user_code), actor)


def _read(waiting: PendingLogin, actor: Actor) -> schemas.DeviceLoginRead:
    return schemas.DeviceLoginRead(
        **{name: getattr(waiting, name) for name in schemas.DeviceLoginRead.model_fields if hasattr(waiting, name)},
        tenant_name=actor.tenant_name,
        key_valid_days=service.KEY_LIFE.days,
    )
