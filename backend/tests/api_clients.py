"""Callers of the API in tests: unknown ones, users of tenants, programs, agents."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from fastapi.testclient import TestClient
from httpx2 import Response

from tests.expiry import in_a_month

PASSWORD = "correct horse battery"


def body_of(answer: Response) -> Any:
    """Return the body of a response to a request that must succeed."""
    assert answer.is_success, answer.text
    return answer.json()


def code_of(answer: Response) -> tuple[int, str]:
    """Return the status of a refusal and the code of its problem."""
    return answer.status_code, answer.json()["code"]


def place_of(answer: Response) -> tuple[int, str, str]:
    """Return the status of a refusal, the code of its problem, and where its first error is in the body."""
    return *code_of(answer), answer.json()["errors"][0]["pointer"]


@dataclass
class Caller:
    """One caller with its own headers and cookies; every caller of a test shares one running API."""

    http: TestClient
    headers: dict[str, str] = field(default_factory=dict)
    cookies: dict[str, str] = field(default_factory=dict)

    def request(self, method: str, path: str, **options: Any) -> Response:
        """Send a request as this caller; `json=`, `content=`, `params=`, `headers=` as in httpx."""
        headers = {**self.headers, **options.pop("headers", {})}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        self.http.cookies.clear()
        return self.http.request(method, path, headers=headers, **options)

    def get(self, path: str, **options: Any) -> Response:
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> Response:
        return self.request("POST", path, **options)

    def put(self, path: str, **options: Any) -> Response:
        return self.request("PUT", path, **options)

    def patch(self, path: str, **options: Any) -> Response:
        """PATCH, of whatever version is there unless the test says which."""
        options["headers"] = {"If-Match": "*", **options.get("headers", {})}
        return self.request("PATCH", path, **options)

    def delete(self, path: str, **options: Any) -> Response:
        return self.request("DELETE", path, **options)

    def created(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """POST that must succeed; what was made."""
        return body_of(self.post(path, json=body))


@dataclass
class Member(Caller):
    """A person signed in to a tenant."""

    tenant_id: UUID = field(default_factory=lambda: UUID(int=0))
    tenant_key: int = 0
    user_id: UUID = field(default_factory=lambda: UUID(int=0))
    email: str = ""


@dataclass
class AgentCaller(Caller):
    """An enrolled agent, by its credential."""

    agent_id: UUID = field(default_factory=lambda: UUID(int=0))
    vm_id: UUID = field(default_factory=lambda: UUID(int=0))
    vm_key: int = 0
    name: str = ""

    def follow(self) -> None:
        """Ask for the plan, then name it as the one that is followed."""
        tag = self.get("/v1/agents/self/plan").headers["ETag"]
        self.get("/v1/agents/self/plan", headers={"If-None-Match": tag})


@dataclass
class MeshWorld:
    """A mesh of `owner` and its enrolled agents, in the order they enrolled (zones a, b, c in turn)."""

    owner: Member
    id: UUID
    key: int
    name: str
    agents: list[AgentCaller]

    def read(self, route: str, **params: Any) -> Any:
        """Return what the owner reads of the mesh, such as `matrix`."""
        return body_of(self.owner.get(f"/v1/meshes/{self.id}/{route}", params=params))

    def path(self, source: int = 0, target: int = 1) -> str:
        """Return the route of a path between two agents by their numbers, for `read`."""
        return f"paths/{self.agents[source].vm_id}/{self.agents[target].vm_id}"

    def octets(self, route: str = "matrix", **params: Any) -> bytes:
        """Return the binary form of what `read` returns."""
        headers = {"Accept": "application/octet-stream"}
        answer = self.owner.get(f"/v1/meshes/{self.id}/{route}", params=params, headers=headers)
        assert answer.headers["content-type"] == headers["Accept"], answer.text
        return answer.content


MakeMesh = Callable[..., MeshWorld]
SetTo = Callable[..., None]
"""The fixtures `make_mesh` and `set_to`."""


def sign_in(http: TestClient, email: str, password: str = PASSWORD) -> Member:
    """Sign in as a browser does, keeping its cookies."""
    http.cookies.clear()
    answer = http.post("/v1/auth/sign-in", json={"email": email, "password": password})
    assert answer.status_code == 200, answer.text
    entry = answer.json()
    return Member(
        http,
        headers={"X-CSRF-Token": entry["csrf_token"]},
        cookies=dict(answer.cookies),
        tenant_id=UUID(entry["tenant"]["id"]),
        tenant_key=entry["tenant"]["key"],
        user_id=UUID(entry["user"]["id"]),
        email=email,
    )


def join(owner: Member, role: str, email: str = "") -> Member:
    """Invite a person by a link, accept it with a new account, and sign in."""
    email = email or f"{uuid4().hex[:8]}@sinemora.example"
    body = {"email": email, "role": role, "delivery": "link"}
    token = owner.created("/v1/invitations", body)["link"].partition("#token=")[2]
    accepted = Caller(owner.http).post(
        "/v1/invitations/accept", json={"token": token, "name": "A person", "password": PASSWORD}
    )
    assert accepted.status_code == 200, accepted.text
    return sign_in(owner.http, email.lower())


def accept_too(owner: Member, member: Member, role: str = "viewer") -> None:
    """Let a member of another tenant become one of this."""
    body = {"email": member.email, "role": role, "delivery": "link"}
    token = owner.created("/v1/invitations", body)["link"].partition("#token=")[2]
    body_of(member.post("/v1/invitations/accept", json={"token": token}))


def bearer(http: TestClient, secret: str) -> Caller:
    """Return the caller of a key."""
    return Caller(http, headers={"Authorization": f"Bearer {secret}"})


def key_of(owner: Member, *scopes: str, name: str = "ci", **fields: Any) -> Caller:
    """Return the caller of a new key."""
    body = {"name": name, "scopes": list(scopes), "expires_at": in_a_month(), **fields}
    return bearer(owner.http, owner.created("/v1/api-keys", body)["secret"])


def bare_vm(owner: Member, name: str = "alone", **fields: Any) -> dict[str, Any]:
    """Create a VM without an agent, in a zone of its own unless `fields` say which."""
    if "zone_id" not in fields:
        place = {"provider": "test", "region": "r1", "name": f"of {name}"}
        fields["zone_id"] = owner.created("/v1/zones", place)["id"]
    return owner.created("/v1/vms", {"name": name, **fields})


def limited_key(owner: Member, mesh_ids: list[UUID], *scopes: str) -> Caller:
    """Return a service account that sees these meshes only."""
    of_meshes = {"mesh_ids": [str(id) for id in mesh_ids], "service_account": True}
    return key_of(owner, *scopes, name=f"k{uuid4()}", **of_meshes)


def enrolment(token: str, name: str, zone: str, address: str) -> dict[str, Any]:
    """Return the body with which an agent named `name` enrols."""
    return {
        "token": token,
        "hostname": name,
        "zone": {"provider": "test", "region": "r1", "name": zone},
        "probe_address": address,
        "event_port": 20319,
        "general_port": 20320,
        "agent_version": "0.1.0",
        "description": {"kernel": "6.1"},
    }


def enrol(http: TestClient, token: str, name: str, zone: str, address: str) -> AgentCaller:
    """Enrol an agent named `name`."""
    entry = body_of(http.post("/v1/agents/enrol", json=enrolment(token, name, zone, address)))
    return AgentCaller(
        http,
        headers={"Authorization": f"Bearer {entry['credential']}"},
        agent_id=UUID(entry["agent_id"]),
        vm_id=UUID(entry["vm_id"]),
        vm_key=entry["vm_key"],
        name=name,
    )


def zone_of(number: int) -> str:
    """Return the zone of the agent of this number: a, b, c in turn."""
    return "abc"[number % 3]


def name_of(mesh: str, number: int) -> str:
    """Return the name of the agent of this number: a-1, b-1, c-1, a-2 …; that of its mesh precedes it, save in demo."""
    name = f"{zone_of(number)}-{number // 3 + 1}"
    return name if mesh == "demo" else f"{mesh}-{name}"


def address_of(number: int) -> str:
    """Return the address of the agent of this number: 10.0.x.y."""
    return f"10.0.{number // 250}.{number % 250 + 1}"


def make_mesh(owner: Member, agents: int, name: str = "demo", **settings: Any) -> MeshWorld:
    """Create a mesh and enrol `agents` agents through the API: a-1, b-1, c-1, a-2 … on 10.0.x.y."""
    mesh = owner.created("/v1/meshes", {"name": name, **settings})
    token = owner.created("/v1/enrolment-tokens", {"mesh_id": mesh["id"], "max_uses": max(agents, 1)})["token"]
    enrolled = [enrol(owner.http, token, name_of(name, n), zone_of(n), address_of(n)) for n in range(agents)]
    return MeshWorld(owner, UUID(mesh["id"]), mesh["key"], name, enrolled)
