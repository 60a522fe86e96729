"""Cookies of sign-in: the session, its CSRF token, the device, and a sign-in in several steps."""

from fastapi import Request, Response

from sinemora.access.signin.service import STEP_LIFE
from sinemora.access.signin.sessions import Browser, Opened
from sinemora.access.tenants.access import CSRF_COOKIE, DEVICE_COOKIE, SESSION_COOKIE, cookie_name, cookie_of
from sinemora.kit.config import settings
from sinemora.kit.security import csrf_token

STEP_COOKIE = "sinemora_sign_in"
_DEVICE_S = 366 * 86_400
_STEP_PATH = "/v1/auth"
_DEVICE_PATH = "/v1"


def browser_of(request: Request) -> Browser:
    """Return the browser that sent a request."""
    address = request.client.host if request.client else ""
    return Browser(address, request.headers.get("User-Agent", ""), cookie_of(request, DEVICE_COOKIE))


def set_session(response: Response, opened: Opened) -> None:
    """Set the cookies of a new session, and end the steps before it."""
    life_s = settings().session_hours * 3600
    secure = bool(settings().cookie_secure)
    response.set_cookie(
        cookie_name(SESSION_COOKIE),
        opened.secret,
        max_age=life_s,
        httponly=True,
        secure=secure,
        samesite="lax",
        path="/",
    )
    csrf = csrf_token(opened.secret)
    response.set_cookie(cookie_name(CSRF_COOKIE), csrf, max_age=life_s, secure=secure, samesite="lax", path="/")
    if opened.device is not None:
        set_device(response, opened.device)
    response.delete_cookie(cookie_name(STEP_COOKIE), path=_STEP_PATH, secure=secure, httponly=True)


def set_device(response: Response, device: str) -> None:
    """Set the token that marks a browser in which an account signed in."""
    secure = bool(settings().cookie_secure)
    response.set_cookie(
        cookie_name(DEVICE_COOKIE),
        device,
        max_age=_DEVICE_S,
        httponly=True,
        secure=secure,
        samesite="lax",
        path=_DEVICE_PATH,
    )


def set_step(response: Response, secret: str) -> None:
    """Set the secret of a sign-in that continues in another request."""
    response.set_cookie(
        cookie_name(STEP_COOKIE),
        secret,
        max_age=int(STEP_LIFE.total_seconds()),
        httponly=True,
        secure=bool(settings().cookie_secure),
        samesite="lax",  # a provider sends the browser back from another site
        path=_STEP_PATH,
    )


def delete_session(response: Response) -> None:
    """Delete the cookies of an ended session."""
    secure = bool(settings().cookie_secure)
    response.delete_cookie(cookie_name(SESSION_COOKIE), path="/", secure=secure, httponly=True)
    response.delete_cookie(cookie_name(CSRF_COOKIE), path="/", secure=secure)
