"""If-Match as RFC 9110 §13.1.1 has it: what is malformed, what matches, what never does."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import text

from sinemora.kit.db import tenant_session
from sinemora.kit.errors import ProductError
from sinemora.kit.http.etag import IfMatch, Versioned
from tests.api_clients import Member
from tests.statements import scalar
from tests.waits import until


class Row(Versioned):
    def __init__(self, version: int) -> None:
        self.version = version


@pytest.mark.parametrize("header", ["*", " * ", '"3"', '"2", "3"', ', "3" ,', '"a,b","3"', 'W/"3", "3"'])
def test_the_version_of_the_row_matches(header: str):
    IfMatch(header, required=True).check(Row(3))


@pytest.mark.parametrize(
    ("header", "code", "words"),
    [
        ('"2"', "version_changed", "someone else"),
        ('"2", W/"3"', "version_changed", "someone else"),
        ('""', "version_changed", "someone else"),
        ('W/"3"', "if_match_weak", 'W/"3" matches no version. Send "3"'),
    ],
)
def test_another_version_and_a_weak_tag_do_not_match(header: str, code: str, words: str):
    with pytest.raises(ProductError) as refused:
        IfMatch(header, required=False).check(Row(3))
    assert (refused.value.code, refused.value.status) == (code, 412)
    assert words in refused.value.detail


@pytest.mark.parametrize(
    "header", ["3", "W/3", "", " ,", "'7'", '"3', '"3""4"', '"3", *', 'w/"3"', '"3"; x', " ," * 30_000 + "x"]
)
def test_what_is_no_list_of_tags_is_malformed(header: str):
    with pytest.raises(ProductError) as refused:
        IfMatch(header, required=False)
    assert (refused.value.code, refused.value.status) == ("request_invalid", 422)
    (error,) = refused.value.extra["errors"]
    assert error["pointer"] == "#/header/if-match"
    assert 'in quotation marks: "3".' in error["message"]


def test_each_way_to_name_a_version_has_its_answer(owner: Member, make_mesh: Any):
    path = f"/v1/meshes/{make_mesh(owner, 1).id}"
    tag = owner.get(path).headers["ETag"]
    answers = [("3", 422), (f"W/{tag}", 412), (tag, 200), (tag, 412), ("*", 200)]
    for place, (header, status) in enumerate(answers):
        answer = owner.request("PATCH", path, json={"rate_hz": 4 << place % 2}, headers={"If-Match": header})
        assert answer.status_code == status, (header, answer.text)
    refused = owner.request("DELETE", path, headers={"If-Match": tag.strip('"')})
    assert refused.json()["errors"][0]["pointer"] == "#/header/if-match"


_WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype IN ('transactionid', 'tuple')"


@pytest.mark.whole_store
@pytest.mark.parametrize(("method", "status"), [("DELETE", 204), ("PATCH", 200)])
def test_a_request_without_a_condition_follows_a_change_under_way(owner: Member, method: str, status: int):
    path = f"/v1/annotations/{owner.created('/v1/annotations', {'kind': 'note', 'text': 'a'})['id']}"
    more = {"json": {"text": "mine"}, "headers": {"If-Match": "*"}} if method == "PATCH" else {}
    with ThreadPoolExecutor(1) as other:
        with tenant_session(owner.tenant_id) as session:
            session.execute(text("UPDATE annotations SET version = version + 1"))
            asked = other.submit(owner.request, method, path, **more)
            until(lambda: scalar(_WAITING) or asked.done(), "the request waits")
        answer = asked.result(30)
    assert answer.status_code == status, answer.json()
    if method == "PATCH":
        assert (answer.json()["text"], answer.json()["version"]) == ("mine", 3)
