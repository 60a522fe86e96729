from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from sinemora.access.tenants.tasks import sweep
from tests.api_clients import Member, code_of
from tests.statements import execute, rows, scalar

KEY = {"Idempotency-Key": "a-key-of-mine"}
ROWS = [{"latency_us": at, "performance": 100 - at / 10} for at in range(0, 500, 50)]
ZONE = {"provider": "p", "region": "r", "name": "a"}


def zones(owner: Member) -> list[str]:
    return [zone["name"] for zone in owner.get("/v1/zones").json()["items"]]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/zones", ZONE),
        ("/v1/curves", {"name": "mine", "unit": "jobs/s", "rows": ROWS}),  # its body does not show the version
    ],
)
def test_a_replayed_response_has_the_version_of_the_first(owner: Member, path: str, body: dict):
    first, again = (owner.post(path, json=body, headers=KEY) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201), again.text
    assert again.headers["Idempotent-Replayed"] == "true"
    assert again.headers["ETag"] == first.headers["ETag"]


def test_another_request_with_the_key_is_refused(owner: Member):
    owner.post("/v1/zones", json=ZONE, headers=KEY)
    other = ZONE | {"name": "b"}
    assert code_of(owner.post("/v1/zones", json=other, headers=KEY)) == (422, "idempotency_key_reused")
    assert zones(owner) == ["a"]


def test_a_request_that_failed_may_be_tried_again(owner: Member):
    owner.post("/v1/zones", json=ZONE)
    assert owner.post("/v1/zones", json=ZONE, headers=KEY).status_code == 409
    owner.delete(f"/v1/zones/{owner.get('/v1/zones').json()['items'][0]['id']}")
    assert owner.post("/v1/zones", json=ZONE, headers=KEY).status_code == 201


def test_requests_at_the_same_moment_are_one(owner: Member):
    def press(_: int) -> tuple[int, str]:
        answer = owner.post("/v1/zones", json=ZONE, headers=KEY)
        return answer.status_code, answer.json()["id"]

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(press, range(6)))
    assert len(set(answers)) == 1
    assert zones(owner) == ["a"]


def test_keys_of_others_do_not_matter(owner: Member, other_owner: Member):
    assert owner.post("/v1/zones", json=ZONE, headers=KEY).status_code == 201
    theirs = other_owner.post("/v1/zones", json=ZONE, headers=KEY)
    assert theirs.status_code == 201
    assert "Idempotent-Replayed" not in theirs.headers


def test_a_secret_is_neither_kept_nor_shown_again(owner: Member):
    mesh = owner.created("/v1/meshes", {"name": "demo"})
    body = {"mesh_id": mesh["id"]}
    secret = owner.post("/v1/enrolment-tokens", json=body, headers=KEY).json()["token"]
    assert code_of(owner.post("/v1/enrolment-tokens", json=body, headers=KEY)) == (409, "secret_shown_once")
    assert len(owner.get("/v1/enrolment-tokens").json()["items"]) == 1
    everything = rows("SELECT row_to_json(k)::text FROM idempotency_keys k")
    assert everything
    assert all(secret not in row and secret.encode().hex() not in row for (row,) in everything)


def test_a_short_key_is_refused(owner: Member):
    answer = owner.post("/v1/zones", json=ZONE, headers={"Idempotency-Key": "short"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "#/header/idempotency-key"


def test_a_key_is_free_again_after_a_day(owner: Member):
    owner.post("/v1/zones", json=ZONE, headers=KEY)
    execute("UPDATE idempotency_keys SET created_at = :then", {"then": datetime.now(UTC) - timedelta(hours=25)})
    assert owner.post("/v1/zones", json=ZONE | {"name": "b"}, headers=KEY).status_code == 201


@pytest.mark.whole_store
def test_the_sweep_forgets_old_keys_twice_the_same(owner: Member):
    owner.post("/v1/zones", json=ZONE, headers=KEY)
    execute("UPDATE idempotency_keys SET created_at = :then", {"then": datetime.now(UTC) - timedelta(hours=25)})
    sweep()
    sweep()
    assert scalar("SELECT count(*) FROM idempotency_keys") == 0
