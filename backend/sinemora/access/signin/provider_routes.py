"""HTTP of single sign-on: the browser goes to the OpenID provider and comes back."""

import re
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse

from sinemora.access.signin import cookies, single_sign_on
from sinemora.access.signin.schemas import ProviderRead
from sinemora.access.signin.service import Pending
from sinemora.access.tenants.access import cookie_of
from sinemora.kit.errors import ProductError, responses
from sinemora.kit.http import rate_limit
from sinemora.kit.http.routes import ForeignRoute

_OWN_PATH = re.compile(r"/(?![/\\])[^\s]*")
_SIGN_IN = "/sign-in"

router = APIRouter(prefix="/v1/auth/provider", route_class=ForeignRoute, tags=["auth"])


DomainOf = Annotated[str | None, Query(max_length=254, description="Domain of the person's e-mail address")]


@router.get("", responses=responses(422, 429))
def read_provider(request: Request, domain: DomainOf = None) -> ProviderRead:
    """Return the OpenID provider of the installation, and whether people of a domain have one."""
    if domain is not None:
        rate_limit.limit_address(request)
    of_domain = domain is not None and single_sign_on.has_provider(domain)
    return ProviderRead(name=single_sign_on.provider_name(), of_domain=of_domain)


@router.get("/start", status_code=303, response_class=RedirectResponse, responses=responses(404, 422, 429))
def start_provider_sign_in(
    request: Request,
    next_path: Annotated[str, Query(alias="next", max_length=2000, description="Path to open when signed in")] = "/",
    domain: DomainOf = None,
) -> RedirectResponse:
    """Send the browser to the OpenID provider of a domain, or of the installation (code flow with PKCE).

    Links of other sites lead to the sign-in page: the owner of a provider could sign strangers in to the own tenant.
    """
    rate_limit.limit_address(request)
    if domain is not None and request.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
        return _back(_SIGN_IN)
    try:
        begun = single_sign_on.begin(next_path if _OWN_PATH.fullmatch(next_path) else "/", domain)
    except ProductError as error:
        if error.status == 404 and domain is None:
            raise
        return _back(_SIGN_IN, failed=error.code)
    response = RedirectResponse(begun.url, 303)
    cookies.set_step(response, begun.secret)
    return response


@router.get("/callback", status_code=303, response_class=RedirectResponse, responses=responses(404, 422, 429))
def finish_provider_sign_in(
    request: Request,
    state: Annotated[str, Query(max_length=1000)] = "",
    code: Annotated[str, Query(max_length=4000)] = "",
    error: Annotated[str, Query(max_length=1000, description="Refusal of the provider")] = "",
    iss: Annotated[str, Query(max_length=1000, description="Issuer of the response (RFC 9207)")] = "",
) -> RedirectResponse:
    """Open a session by the answer of the OpenID provider, and send the browser to the page it asked for."""
    rate_limit.limit_address(request)
    if error:
        return _back(_SIGN_IN, failed="provider_refused")
    step = cookie_of(request, cookies.STEP_COOKIE)
    try:
        answer = single_sign_on.Answer(state, code, iss)
        result, next_path = single_sign_on.finish(step, answer, cookies.browser_of(request))
    except ProductError as refused:
        if refused.status == 404:
            raise
        return _back(_SIGN_IN, failed=refused.code)
    if isinstance(result, Pending):
        response = _back(_SIGN_IN, factors=",".join(result.factors), next=next_path)
        cookies.set_step(response, result.secret)
        return response
    response = _back(next_path)
    cookies.set_session(response, result)
    return response


def _back(path: str, **search: str) -> RedirectResponse:
    query = urlencode(search, safe=",")
    return RedirectResponse(f"{path}?{query}" if query else path, 303)
