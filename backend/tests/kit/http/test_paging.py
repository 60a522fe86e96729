"""Pages cover a list exactly once, whatever their size."""

from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinemora.kit.errors import ProductError
from sinemora.kit.http.paging import decode_cursor, encode_cursor
from tests.api_clients import Member

NAMES = [f"zone-{n:02}" for n in range(7)]


def test_pages_cover_the_list_once_also_under_inserts(owner: Member):
    for name in NAMES:
        owner.created("/v1/zones", {"provider": "p", "region": "r", "name": name})
    for limit in (1, 3, 7, 100):
        seen: list[str] = []
        cursor = None
        while cursor is not None or not seen:
            page = owner.get("/v1/zones", params={"limit": limit} | ({"cursor": cursor} if cursor else {})).json()
            assert len(page["items"]) <= limit
            seen += [zone["name"] for zone in page["items"]]
            cursor = page["next_cursor"]
        assert seen == NAMES
    first = owner.get("/v1/zones", params={"limit": 3}).json()
    owner.created("/v1/zones", {"provider": "p", "region": "r", "name": "a-newcomer-before"})
    rest = owner.get("/v1/zones", params={"limit": 100, "cursor": first["next_cursor"]}).json()
    assert [zone["name"] for zone in first["items"] + rest["items"]] == NAMES


@given(st.text('aZ0 "\\,/+=é日😀\n'), st.uuids(), st.datetimes(timezones=st.just(UTC)), st.integers())
def test_cursor_is_the_inverse_of_itself(name: str, id: UUID, at: datetime, number: int):
    values = [name, id, at, number]
    assert decode_cursor(encode_cursor(values), [str, UUID, datetime, int]) == values


@pytest.mark.parametrize("cursor", ["x", "bm90IGpzb24", "WzFd", "%%%", "W10", "bnVsbA"])
def test_a_made_up_cursor_is_refused(cursor: str):
    with pytest.raises(ProductError) as refused:
        decode_cursor(cursor, [str, UUID])
    assert (refused.value.code, refused.value.status) == ("cursor_invalid", 422)
