"""HTTP of a person's account: password, sessions, second factors. API keys have no account."""

from typing import Annotated
from uuid import UUID

from fastapi import Query, Request, Response
from starlette.concurrency import run_in_threadpool

from sinemora.access.signin import account, cookies, identity_provider, passkeys, passwords, schemas, sessions
from sinemora.access.signin.models import Factor
from sinemora.access.signin.user_agents import browser_name
from sinemora.access.tenants import audit
from sinemora.access.tenants.access import Admin, Confirmed, OfAllTenants, Person, signed_in_router
from sinemora.access.tenants.models import BrowserSession, Tenant
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.paging import Page, Paging
from sinemora.kit.http.routes import BoundedRoute

# Not `ProductRoute`: what these routes store belongs to a person, not to the tenant of idempotency keys.
router = signed_in_router("/v1/account", "account", route_class=BoundedRoute)
router.dependencies.append(OfAllTenants)
policy_router = signed_in_router("/v1/sign-in-policy", "members")


@router.get("")
def read_account(actor: Person) -> schemas.AccountRead:
    """Return the account of the signed-in user: password, second factors, and who requires one."""
    result = account.read(actor)
    factors = [Factor.totp] if result.totp else []
    factors += [Factor.passkey] if result.passkeys else []
    factors += [Factor.recovery_code] if factors and result.recovery_codes_left else []
    return schemas.AccountRead(
        user=schemas.UserRead.model_validate(result.user),
        name=result.user.name,
        password_changed_at=result.password_changed_at,
        totp=schemas.TotpRead.model_validate(result.totp) if result.totp else None,
        passkeys=[schemas.PasskeyRead.model_validate(passkey) for passkey in result.passkeys],
        recovery_codes_left=result.recovery_codes_left,
        factors=factors,
        required_by=result.required_by,
        of_one_tenant=actor.of_one_tenant,
    )


@router.patch("", responses=responses(422))
def update_account(body: schemas.AccountUpdate, request: Request, actor: Person) -> schemas.AccountRead:
    """Change the name under which other members see the signed-in user."""
    account.rename(actor, body.name, cookies.browser_of(request))
    return read_account(actor)


@router.put("/password", status_code=204, responses=responses(409, 422))
async def set_password(body: schemas.PasswordChange, request: Request, response: Response, actor: Person) -> None:
    """Change the password. All other browser sessions of the user end."""
    current, new = body.current_password.get_secret_value(), body.new_password.get_secret_value()
    device = await passwords.change(actor, current, new, cookies.browser_of(request))
    cookies.set_device(response, device)


@router.get("/sessions")
def list_sessions(actor: Person, page: Paging) -> Page[schemas.BrowserSessionRead]:
    """List the browser sessions of the user in all tenants, newest first."""
    rows = sessions.list_sessions(actor, page)
    return Page(items=[_session_read(row, actor.session_id) for row in rows.items], next_cursor=rows.next_cursor)


@router.delete("/sessions", status_code=204)
def end_sessions(
    request: Request,
    response: Response,
    actor: Person,
    keep_this: Annotated[bool, Query(description="Keep the session of this request")] = False,
) -> None:
    """Sign out everywhere: end all browser sessions of the user. Their live streams end within 10 s."""
    sessions.end_sessions(actor, cookies.browser_of(request), keep_this=keep_this)
    if not keep_this:
        cookies.delete_session(response)


@router.delete("/sessions/{session_id}", status_code=204, responses=responses(404))
def end_session(session_id: UUID, request: Request, actor: Person) -> None:
    """End one browser session of the user."""
    sessions.end_session(actor, session_id, cookies.browser_of(request))


@router.post("/confirmations", status_code=204, responses=responses(409, 422))
async def confirm(body: schemas.PersonConfirmation, request: Request, actor: Person) -> None:
    """Prove who is at the browser; sensitive changes are then open for 10 minutes."""
    browser = cookies.browser_of(request)
    if body.credential is not None:
        await run_in_threadpool(passkeys.confirm, actor, body.credential, browser)
        return
    password = body.password.get_secret_value() if body.password else None
    await account.confirm(actor, password, body.code, browser)


@router.post("/confirmation-options", responses=responses(409))
def create_confirmation_options(actor: Person) -> schemas.PasskeyOptions:
    """Return options to confirm with a passkey."""
    return schemas.PasskeyOptions(options=passkeys.confirmation_options(actor))


@router.post("/totp", status_code=201, dependencies=[Confirmed], responses=responses(409))
def create_totp(actor: Person) -> schemas.TotpSetupRead:
    """Return a secret for an authenticator app. It counts once POST /v1/account/totp/confirm has received a code."""
    setup = account.begin_totp(actor)
    return schemas.TotpSetupRead(secret=setup.secret, uri=setup.uri, qr_code=setup.qr_code)


@router.post("/totp/confirm", dependencies=[Confirmed], responses=responses(404, 409, 422))
def confirm_totp(body: schemas.SecondFactor, request: Request, actor: Person) -> schemas.RecoveryCodesRead:
    """Confirm the authenticator app with a code. The first second factor comes with recovery codes."""
    return schemas.RecoveryCodesRead(recovery_codes=account.confirm_totp(actor, body.code, cookies.browser_of(request)))


@router.delete("/totp", status_code=204, dependencies=[Confirmed], responses=responses(404, 409))
def delete_totp(request: Request, actor: Person) -> None:
    """Remove the authenticator app."""
    account.delete_totp(actor, cookies.browser_of(request))


@router.post("/passkey-options", dependencies=[Confirmed], responses=responses(409))
def create_passkey_creation_options(actor: Person) -> schemas.PasskeyOptions:
    """Return options to create a passkey."""
    return schemas.PasskeyOptions(options=passkeys.creation_options(actor))


@router.post("/passkeys", status_code=201, dependencies=[Confirmed], responses=responses(409, 422))
def create_passkey(body: schemas.PasskeyCreate, request: Request, actor: Person) -> schemas.PasskeyCreated:
    """Add a passkey. It is a second factor, and opens a session without a password."""
    row, codes = passkeys.create(actor, body.name, body.credential, cookies.browser_of(request))
    return schemas.PasskeyCreated(passkey=schemas.PasskeyRead.model_validate(row), recovery_codes=codes)


@router.delete("/passkeys/{passkey_id}", status_code=204, dependencies=[Confirmed], responses=responses(404, 409))
def delete_passkey(passkey_id: UUID, request: Request, actor: Person) -> None:
    """Remove a passkey."""
    account.delete_passkey(actor, passkey_id, cookies.browser_of(request))


@router.post("/recovery-codes", status_code=201, dependencies=[Confirmed], responses=responses(409))
def create_recovery_codes(request: Request, actor: Person) -> schemas.RecoveryCodesRead:
    """Replace the recovery codes; earlier ones are invalid at once."""
    return schemas.RecoveryCodesRead(recovery_codes=account.renew_codes(actor, cookies.browser_of(request)))


@policy_router.get("")
def read_sign_in_policy(session: SessionDep, actor: Admin) -> schemas.SignInPolicyRead:
    """Return the rules of sign-in for the members of the tenant."""
    return schemas.SignInPolicyRead.model_validate(session.get_one(Tenant, actor.tenant_id))


@policy_router.put("", dependencies=[Confirmed], responses=responses(409, 422))
def set_sign_in_policy(body: schemas.SignInPolicyUpdate, session: SessionDep, actor: Admin) -> schemas.SignInPolicyRead:
    """Set the rules of sign-in. Members without a required second factor can then only set one up.

    Only owners require single sign-on; sessions of members that another credential opened then end.
    """
    if body.second_factor_required is not None:
        account.require_second_factor(session, actor, body.second_factor_required)
    if body.single_sign_on_required is not None:
        identity_provider.require(session, actor, body.single_sign_on_required)
    tenant = session.get_one(Tenant, actor.tenant_id)
    fields = body.model_dump(exclude_unset=True)
    audit.record(session, actor, "sign_in_policy.updated", tenant.id, tenant.name, **fields)
    return schemas.SignInPolicyRead.model_validate(tenant)


def _session_read(listed: tuple[BrowserSession, str], current: UUID | None) -> schemas.BrowserSessionRead:
    row, tenant_name = listed
    return schemas.BrowserSessionRead.from_row(
        row, tenant_name=tenant_name, browser=browser_name(row.user_agent), is_current=row.id == current
    )
