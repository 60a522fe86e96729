"""Saved views over HTTP: names, addresses, limits and the boundary of a tenant."""

import pytest

from sinemora.overview.saved_views import service
from tests.api_clients import Member, code_of

PATH = "/v1/saved-views"
LOSS = {"name": "Loss", "address": "/meshes/7?metric=loss&span=6h"}


def test_a_view_is_saved_listed_and_deleted(owner: Member):
    view = owner.created(PATH, LOSS)
    assert (view["name"], view["address"], view["created_by"]) == (LOSS["name"], LOSS["address"], owner.email)
    owner.created(PATH, {"name": "Home", "address": "/"})
    assert [item["name"] for item in owner.get(PATH).json()["items"]] == ["Home", "Loss"]
    assert owner.delete(f"{PATH}/{view['id']}").status_code == 204
    assert owner.delete(f"{PATH}/{view['id']}").json()["code"] == "saved_view_unknown"
    actions = [item["action"] for item in owner.get("/v1/audit-entries").json()["items"]]
    assert actions[:3] == ["saved_view.deleted", "saved_view.created", "saved_view.created"]


def test_an_address_is_a_page_of_the_console(owner: Member):
    for address in ("meshes", "https://evil.example", "//evil.example", "/\\evil.example", "/a b", "/a\nb"):
        refused = owner.post(PATH, json=LOSS | {"address": address})
        assert refused.status_code == 422, address
        assert refused.json()["errors"][0]["pointer"].endswith("/address")


def test_a_menu_has_an_end(owner: Member, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(service, "SAVED_VIEWS_MAX", 1)
    owner.created(PATH, LOSS)
    assert code_of(owner.post(PATH, json=LOSS | {"name": "Other"})) == (409, "saved_views_too_many")
