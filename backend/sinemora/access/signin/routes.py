"""HTTP of sign-in: password, second factor, forgotten password, and the session of a browser."""

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool

from sinemora.access.signin import cookies, first_account, passkeys, passwords, schemas, service, sessions, throttle
from sinemora.access.signin.service import Pending
from sinemora.access.signin.sessions import Opened
from sinemora.access.tenants.access import SESSION_COOKIE, Actor, MaybeSignedIn, Viewer, cookie_of, signed_in_router
from sinemora.kit.errors import responses
from sinemora.kit.http.routes import BoundedRoute
from sinemora.kit.security import check_password_in_turn, csrf_token

_NEEDS_FACTOR: dict[int | str, dict[str, Any]] = {202: {"model": schemas.SecondFactorNeeded}}

sign_in_router = APIRouter(prefix="/v1/auth", route_class=BoundedRoute, tags=["auth"])
router = signed_in_router("/v1/auth", "auth")


@sign_in_router.post(
    "/sign-in", response_model=schemas.SessionRead, responses={**_NEEDS_FACTOR, **responses(401, 403, 422, 429)}
)
async def sign_in(body: schemas.SignIn, request: Request, response: Response) -> schemas.SessionRead | Response:
    """Open a browser session, or ask for a second factor (202) if the user has one.

    A session sets a cookie hidden from scripts, and one to send back as `X-CSRF-Token`.
    """
    browser = cookies.browser_of(request)
    attempt = await run_in_threadpool(service.begin, body.email, browser)
    password_hash = attempt.user.password_hash if attempt.user else None
    fits = await check_password_in_turn(password_hash, body.password.get_secret_value())
    result = await run_in_threadpool(service.finish, attempt, fits, browser)
    return _answer(result, response)


@sign_in_router.post("/second-factor", responses=responses(401, 403, 422, 429))
def send_second_factor(body: schemas.SecondFactor, request: Request, response: Response) -> schemas.SessionRead:
    """Finish a sign-in with a code of the authenticator app or a recovery code."""
    opened = service.second_factor(cookie_of(request, cookies.STEP_COOKIE), body.code, cookies.browser_of(request))
    return session_of(opened, response)


@sign_in_router.post("/passkey-options", responses=responses(409, 429))
def create_passkey_options(request: Request) -> schemas.PasskeyOptions:
    """Return options to sign in with a passkey: as the second factor of a sign-in that waits for one, or alone."""
    return schemas.PasskeyOptions(options=passkeys.request_options(cookie_of(request, cookies.STEP_COOKIE)))


@sign_in_router.post("/passkey", responses=responses(401, 403, 409, 422, 429))
def sign_in_by_passkey(body: schemas.PasskeyProof, request: Request, response: Response) -> schemas.SessionRead:
    """Open a browser session with a passkey instead of a password; the device verifies the user."""
    return session_of(passkeys.sign_in(body.credential, cookies.browser_of(request)), response)


@sign_in_router.post("/second-factor/passkey", responses=responses(401, 403, 409, 422, 429))
def send_passkey(body: schemas.PasskeyProof, request: Request, response: Response) -> schemas.SessionRead:
    """Finish a sign-in with a passkey as its second factor."""
    step = cookie_of(request, cookies.STEP_COOKIE)
    return session_of(passkeys.second_factor(step, body.credential, cookies.browser_of(request)), response)


@sign_in_router.post("/password-resets", status_code=204, responses=responses(422, 429))
def create_password_reset(body: schemas.PasswordResetCreate, request: Request) -> None:
    """Send a link to a new password, valid once and for 30 minutes. The answer is the same for unknown addresses."""
    throttle.begin_reset(cookies.browser_of(request).address)
    passwords.send_reset_later(body.email)


@sign_in_router.post("/password-resets/redeem", status_code=204, responses=responses(409, 422, 429))
async def redeem_password_reset(body: schemas.PasswordResetRedeem, request: Request) -> None:
    """Set a new password by the token of a reset link. All browser sessions of the user end."""
    await passwords.redeem(body.token, body.password.get_secret_value(), cookies.browser_of(request))


@sign_in_router.get("/status", responses=responses(401, 429))
def read_sign_in_status(request: Request, actor: MaybeSignedIn) -> schemas.SignInStatus:
    """Return the session of this browser, or null: for a page that asks whether anyone is signed in."""
    if actor:
        return schemas.SignInStatus(session=_session_of_actor(request, actor), first_account_due=False)
    due = first_account.is_due()
    if due:
        first_account.announce()
    return schemas.SignInStatus(session=None, first_account_due=due)


@sign_in_router.post("/first-account", status_code=204, responses=responses(403, 409, 422, 429))
def create_first_account(body: schemas.FirstAccount, request: Request) -> None:
    """Create the first account of an installation and its tenant, by the code in the log of the API."""
    first_account.create(body, cookies.browser_of(request).address)


@router.post("/sign-out", status_code=204)
def sign_out(request: Request, response: Response, actor: Viewer) -> None:
    """End this browser session. An API key stays valid."""
    secret = cookie_of(request, SESSION_COOKIE)
    if actor.kind == "user" and secret:
        sessions.sign_out(secret, cookies.browser_of(request))
    cookies.delete_session(response)


@router.get("/session")
def read_session(request: Request, actor: Viewer) -> schemas.SessionRead:
    """Return the signed-in user. For an API key, `user` is the key and there is no CSRF token."""
    return _session_of_actor(request, actor)


def session_of(opened: Opened, response: Response) -> schemas.SessionRead:
    """Set the cookies of a new session on `response` and return the session."""
    cookies.set_session(response, opened)
    return schemas.SessionRead(
        user=schemas.UserRead.model_validate(opened.user),
        tenant=schemas.TenantRead.model_validate(opened.tenant),
        role=opened.role,
        csrf_token=csrf_token(opened.secret),
        second_factor_due=opened.second_factor_due,
    )


def _answer(result: Opened | Pending, response: Response) -> schemas.SessionRead | Response:
    if isinstance(result, Opened):
        return session_of(result, response)
    pending = JSONResponse(schemas.SecondFactorNeeded(factors=result.factors).model_dump(mode="json"), 202)
    cookies.set_step(pending, result.secret)
    return pending


def _session_of_actor(request: Request, actor: Actor) -> schemas.SessionRead:
    secret = cookie_of(request, SESSION_COOKIE) if actor.kind == "user" else None
    return schemas.SessionRead(
        user=schemas.UserRead(id=actor.id, email=actor.name),
        tenant=schemas.TenantRead(id=actor.tenant_id, key=actor.tenant_key, name=actor.tenant_name),
        role=actor.role,
        csrf_token=csrf_token(secret) if secret else "",
        second_factor_due=actor.second_factor_due,
    )
