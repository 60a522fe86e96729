from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from sinemora.access.members.permissions import may_change, may_grant
from sinemora.access.members.tasks import sweep
from sinemora.access.tenants.models import Role
from sinemora.kit import outbox
from tests.api_clients import Member, SetTo, accept_too, code_of, join, key_of, sign_in
from tests.mail_server import MailServer
from tests.statements import execute, scalar


def name_of(member: Member) -> str:
    return str(member.get("/v1/auth/session").json()["tenant"]["name"])


def role_of(owner: Member, member: Member) -> str:
    items = owner.get("/v1/members").json()["items"]
    return next(str(item["role"]) for item in items if item["id"] == str(member.user_id))


def set_role(actor: Member, target: Member, role: str):
    return actor.put(f"/v1/members/{target.user_id}/role", json={"role": role})


@pytest.mark.parametrize(
    ("actor", "granted", "changed"),
    [
        ("viewer", "", ""),
        ("editor", "", ""),
        ("admin", "viewer editor admin", "viewer editor admin"),
        ("owner", "viewer editor admin owner", "viewer editor admin owner"),
    ],
)
def test_nobody_grants_more_than_they_have(actor: str, granted: str, changed: str):
    assert [role for role in Role if may_grant(Role(actor), role)] == granted.split()
    assert [role for role in Role if may_change(Role(actor), role)] == changed.split()


def test_a_role_counts_at_once(owner: Member):
    member = join(owner, "viewer")
    assert member.post("/v1/meshes", json={"name": "m"}).json()["code"] == "not_allowed"
    assert set_role(owner, member, "editor").json()["role"] == "editor"
    assert member.post("/v1/meshes", json={"name": "m"}).status_code == 201
    entry = owner.get("/v1/audit-entries", params={"action": "member.updated"}).json()["items"][0]
    assert (entry["actor_name"], entry["subject_name"]) == (owner.email, member.email)
    assert entry["detail"] == {"changes": {"role": {"before": "viewer", "after": "editor"}}}


def test_an_administrator_manages_all_but_owners(owner: Member):
    admin, member = join(owner, "admin"), join(owner, "viewer")
    assert set_role(admin, member, "admin").status_code == 200
    assert set_role(admin, member, "owner").json()["code"] == "role_too_high"
    assert set_role(admin, owner, "viewer").json()["code"] == "role_too_high"
    assert admin.delete(f"/v1/members/{owner.user_id}").json()["code"] == "role_too_high"
    body = {"email": "x@example.com", "role": "owner", "delivery": "link"}
    assert admin.post("/v1/invitations", json=body).json()["code"] == "role_too_high"
    assert admin.get("/v1/audit-entries").status_code == 200
    assert admin.delete(f"/v1/members/{member.user_id}").status_code == 204
    assert admin.put(f"/v1/tenants/{owner.tenant_id}", json={"name": "Mine"}).json()["code"] == "not_allowed"


def test_the_last_owner_stays(owner: Member):
    assert set_role(owner, owner, "admin").json()["code"] == "last_owner"
    assert owner.delete(f"/v1/members/{owner.user_id}").json()["code"] == "last_owner"
    assert code_of(owner.post("/v1/members/self/leave", json={"tenant_name": name_of(owner)})) == (409, "last_owner")
    second = join(owner, "owner")
    assert set_role(owner, owner, "admin").status_code == 200
    assert set_role(second, second, "viewer").json()["code"] == "last_owner"


@pytest.mark.parametrize("act", ["demote", "remove", "leave"])
def test_two_owners_at_once_leave_one(owner: Member, act: str):
    second, name = join(owner, "owner"), name_of(owner)

    def end(actor: Member, target: Member) -> int:
        if act == "demote":
            return set_role(actor, target, "viewer").status_code
        if act == "remove":
            return actor.delete(f"/v1/members/{target.user_id}").status_code
        return actor.post("/v1/members/self/leave", json={"tenant_name": name}).status_code

    for _ in range(5):
        with ThreadPoolExecutor(2) as pool:
            statuses = list(pool.map(end, (owner, second), (second, owner)))
        owners = "SELECT count(*) FROM memberships WHERE tenant_id = :id AND role = 'owner'"
        assert scalar(owners, {"id": owner.tenant_id}) == 1, statuses
        if act != "demote":
            return
        execute("UPDATE memberships SET role = 'owner' WHERE tenant_id = :id", {"id": owner.tenant_id})


def test_removal_ends_sessions_here_and_not_elsewhere(owner: Member, other_owner: Member):
    member = join(owner, "editor")
    accept_too(other_owner, member)
    elsewhere = sign_in(owner.http, member.email)  # opens the tenant accepted last
    assert elsewhere.tenant_id == other_owner.tenant_id
    assert member.get("/v1/meshes").status_code == 200
    assert owner.delete(f"/v1/members/{member.user_id}").status_code == 204
    assert member.get("/v1/meshes").json()["code"] == "sign_in_required"
    assert elsewhere.get("/v1/meshes").status_code == 200
    assert elsewhere.post(f"/v1/tenants/{owner.tenant_id}/switch").json()["code"] == "tenant_unknown"
    assert [item["email"] for item in owner.get("/v1/members").json()["items"]] == [owner.email]


def test_removal_ends_personal_keys_and_leaves_service_accounts(owner: Member):
    member = join(owner, "admin")
    mine, ours = key_of(member, "read", name="mine"), key_of(member, "read", name="ours", service_account=True)
    assert [key.get("/v1/meshes").status_code for key in (mine, ours)] == [200, 200]
    assert owner.delete(f"/v1/members/{member.user_id}").status_code == 204
    assert mine.get("/v1/meshes").json()["code"] == "bad_credentials"
    assert ours.get("/v1/meshes").status_code == 200


def test_a_member_leaves(owner: Member):
    member = join(owner, "viewer")
    wrong = member.post("/v1/members/self/leave", json={"tenant_name": "another"})
    assert (wrong.status_code, wrong.json()["code"]) == (409, "confirmation_wrong")
    assert member.post("/v1/members/self/leave", json={"tenant_name": name_of(owner)}).status_code == 204
    assert member.get("/v1/auth/session").status_code == 401


def test_ownership_is_transferred_with_a_notice(owner: Member, other_owner: Member, mailbox: MailServer):
    heir = join(owner, "editor")
    stranger = {"user_id": str(other_owner.user_id), "tenant_name": name_of(owner)}
    assert owner.post("/v1/ownership-transfers", json=stranger).json()["code"] == "member_unknown"
    body = {"user_id": str(heir.user_id), "tenant_name": "another"}
    assert owner.post("/v1/ownership-transfers", json=body).json()["code"] == "confirmation_wrong"
    answer = owner.post("/v1/ownership-transfers", json=body | {"tenant_name": name_of(owner)})
    assert (answer.status_code, answer.json()["role"]) == (201, "owner")
    assert (role_of(owner, owner), role_of(owner, heir)) == ("admin", "owner")
    again = {"user_id": str(heir.user_id), "tenant_name": name_of(owner)}
    assert heir.post("/v1/ownership-transfers", json=again).json()["code"] == "already_owner"
    outbox.deliver_due()
    assert sorted(to for (to,), _ in mailbox.got) == sorted([owner.email, heir.email])


def test_a_person_switches_between_tenants(owner: Member, other_owner: Member):
    mesh = other_owner.created("/v1/meshes", {"name": "theirs"})
    accept_too(other_owner, owner)
    listed = {item["id"]: item for item in owner.get("/v1/tenants").json()["items"]}
    assert {item["role"] for item in listed.values()} == {"owner", "viewer"}
    assert listed[str(owner.tenant_id)]["is_current"]
    assert owner.get(f"/v1/meshes/{mesh['id']}").status_code == 404
    assert owner.post(f"/v1/tenants/{other_owner.tenant_id}/switch").status_code == 204
    assert owner.get("/v1/auth/session").json()["role"] == "viewer"
    assert {one["version"] for one in other_owner.get("/v1/members").json()["items"]} == {1}
    assert owner.get(f"/v1/meshes/{mesh['id']}").status_code == 200
    assert owner.post("/v1/meshes", json={"name": "m"}).status_code == 403
    assert sign_in(owner.http, owner.email).tenant_id == other_owner.tenant_id
    assert owner.post(f"/v1/tenants/{uuid4()}/switch").json()["code"] == "tenant_unknown"


def test_a_tenant_is_renamed(owner: Member, other_owner: Member):
    name = f"Renamed {uuid4().hex[:8]}"
    assert owner.put(f"/v1/tenants/{owner.tenant_id}", json={"name": name}).json()["name"] == name
    assert name_of(owner) == name
    taken = owner.put(f"/v1/tenants/{owner.tenant_id}", json={"name": name_of(other_owner)})
    assert (taken.status_code, taken.json()["code"]) == (409, "tenant_name_taken")


def test_people_create_tenants_where_the_operator_allows_it(owner: Member, set_to: SetTo):
    name = f"New {uuid4().hex[:8]}"
    assert code_of(owner.post("/v1/tenants", json={"name": name})) == (403, "tenant_creation_off")
    assert owner.get("/v1/tenants").json()["may_create"] is False
    set_to(tenant_creation="on")
    made = owner.created("/v1/tenants", {"name": name})
    assert (made["role"], made["is_current"]) == ("owner", False)
    assert owner.post("/v1/tenants", json={"name": name}).json()["code"] == "tenant_name_taken"
    assert owner.post(f"/v1/tenants/{made['id']}/switch").status_code == 204
    assert owner.get("/v1/meshes").json()["items"] == []


@pytest.mark.whole_store
def test_an_account_without_a_tenant_is_deleted(owner: Member):
    member = join(owner, "viewer")
    owner.delete(f"/v1/members/{member.user_id}")
    sweep()
    assert scalar("SELECT count(*) FROM users") == 2  # it may be about to become a member
    execute("UPDATE users SET created_at = now() - interval '2 hours'")
    sweep()
    assert scalar("SELECT array_agg(email) FROM users") == [owner.email]
