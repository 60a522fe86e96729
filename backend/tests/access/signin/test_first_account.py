"""The first account of an installation, created in the browser by the code in the log."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from sinemora.access.signin import first_account
from tests.api_clients import PASSWORD, Caller

pytestmark = pytest.mark.whole_store  # as an installation begins


@pytest.fixture
def nobody(client: Caller, secret_key: None):
    """Return a browser of an installation in which nobody has an account."""
    first_account.announce.cache_clear()
    return client


def create(client: Caller, **given: str):
    body = {"code": first_account.code(), "email": "Ada@example.com", "password": PASSWORD, "tenant_name": "Example"}
    return client.post("/v1/auth/first-account", json=body | given)


def due(client: Caller) -> bool:
    return client.get("/v1/auth/status").json()["first_account_due"]


def test_it_owns_a_new_tenant_and_is_created_once(nobody, caplog):
    assert due(nobody)
    assert f"/sign-in#code={first_account.code()}" in caplog.text
    assert create(nobody).status_code == 204
    assert not due(nobody)
    session = nobody.post("/v1/auth/sign-in", json={"email": "ada@example.com", "password": PASSWORD}).json()
    assert (session["role"], session["tenant"]["name"]) == ("owner", "Example")
    assert create(nobody, email="eve@example.com").json()["code"] == "first_account_not_due"


def test_what_is_wrong_is_said_at_its_field_and_creates_nothing(nobody):
    for given, code, pointer in (
        ({"code": "a4k2m7tq5vhxw3ce"}, "code_wrong", "#/code"),
        ({"password": "short"}, "password_weak", "#/password"),
        ({"email": "nobody"}, "request_invalid", "#/email"),
        ({"tenant_name": " "}, "request_invalid", "#/tenant_name"),
    ):
        problem = create(nobody, **given).json()
        assert (problem["code"], problem["errors"][0]["pointer"]) == (code, pointer), problem
    assert due(nobody)


def test_codes_are_not_guessed(nobody):
    codes = [create(nobody, code="guess").json()["code"] for _ in range(12)]
    assert codes[0] == "code_wrong"
    assert codes[-1] == "too_many_attempts"


def test_without_a_secret_key_nobody_can_guess_the_code(nobody, set_to):
    set_to(secret_key=" ")
    assert not due(nobody)
    assert create(nobody).json()["code"] == "first_account_not_due"


def test_of_two_people_at_once_one_gets_it(nobody):
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda name: create(nobody, email=f"{name}@example.com").status_code, ("a", "b")))
    assert sorted(answers) == [204, 409]
