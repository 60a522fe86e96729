"""Bad requests for every operation of the contract: sound ones with one to three values replaced by hostile ones."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from generator.references import inlined
from lab.benchmarks.securing.samples import Samples

METHODS = ("get", "post", "put", "patch", "delete")
# Waits and streams are sound requests that take their time; these end the credential of the caller.
_WAITS = ("wait_s", "duration_s")
NEVER_SENT = {
    ("post", "/v1/auth/sign-out"),
    ("delete", "/v1/api-keys/self"),
    ("delete", "/v1/account/sessions"),
    ("post", "/v1/members/self/leave"),
}


def _whole(value: Any) -> Any:
    """Return a value of `hostile.json`, in which [text, times] is a long text."""
    return value[0] * value[1] if isinstance(value, list) else value


_HOSTILE = json.loads(Path(__file__).with_name("hostile.json").read_text("utf-8"))
TEXTS: list[str] = [_whole(text) for text in _HOSTILE["texts"]]
NUMBERS, OTHERS = _HOSTILE["numbers"], _HOSTILE["others"]
RAW = [_whole(text) for text in _HOSTILE["raw"]]
"""Texts of JSON that Python's own writer would not write."""
HEADERS = [(name, [_whole(value) for value in values]) for name, values in _HOSTILE["headers"].items()]


@dataclass(slots=True)
class BadRequest:
    """Request as ASGI sends it: `target` is the encoded path with its query."""

    operation: str
    method: str
    target: str
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def shown(self) -> str:
        """Return the request in one line, for a person who looks for the fault."""
        return f"{self.method} {self.target[:600]} {self.headers} {self.body[:1500]!r}"


@dataclass(frozen=True, slots=True)
class Operation:
    """Operation of the contract."""

    method: str
    path: str
    described: dict[str, Any]


def operations(contract: dict[str, Any]) -> list[Operation]:
    """Return the operations that bad requests are generated for."""
    return [
        Operation(method, path, item[method])
        for path, item in inlined(contract)["paths"].items()
        for method in METHODS
        if method in item and (method, path) not in NEVER_SENT
    ]


class BadRequests:
    """Generator of bad requests."""

    def __init__(self, contract: dict[str, Any], rng: random.Random, ids: dict[str, list[str]]) -> None:
        self.rng = rng
        self.samples = Samples(contract["components"]["schemas"], rng, ids)

    def of(self, operation: Operation) -> BadRequest:
        """Return a request for `operation` with one to three faults."""
        rng, described = self.rng, operation.described
        faults = [rng.choice(("path", "query", "header", "body", "body", "body")) for _ in range(rng.randint(1, 3))]
        if "requestBody" not in described and "body" in faults:
            faults.append("query")
        target = self._path(operation, "path" in faults) + self._query(described, "query" in faults)
        headers, body = self._body(described, faults.count("body"))
        if operation.method in ("patch", "put", "delete"):
            headers.append(("if-match", "*"))
        if "header" in faults:
            for name, values in rng.sample(HEADERS, rng.randint(1, 2)):
                headers = [one for one in headers if one[0] != name] + [(name, rng.choice(values))]
        return BadRequest(f"{operation.method} {operation.path}", operation.method.upper(), target, headers, body)

    def _path(self, operation: Operation, is_bad: bool) -> str:
        parts = []
        for part in operation.path.split("/"):
            if not part.startswith("{"):
                parts.append(part)
            elif is_bad and self.rng.random() < 0.7:
                parts.append(_quoted(self._text()))
            elif operation.method == "delete" and self.rng.random() < 0.9:
                parts.append(self.samples.id_of(""))  # what others refer to mostly stays
            else:
                parts.append(self.samples.id_of(part[1:-1]))
        return "/".join(parts)

    def _query(self, described: dict[str, Any], is_bad: bool) -> str:
        rng, pairs = self.rng, []
        for parameter in described.get("parameters", ()):
            name, schema = parameter["name"], parameter.get("schema", {})
            if parameter["in"] != "query" or not (parameter.get("required") or rng.random() < 0.5):
                continue
            value = "0" if name in _WAITS else self.samples.of(schema, name)
            if is_bad and rng.random() < 0.6 and name not in _WAITS:
                value = self.hostile()
            pairs += [(name, one) for one in (value if isinstance(value, list) else [value])]
        if is_bad and rng.random() < 0.2:
            pairs.append((rng.choice(("x", "limit", "cursor", "from", "%", "a[]")), self._text()))
        if is_bad and pairs and rng.random() < 0.1:
            pairs.append(rng.choice(pairs))
        return "?" + "&".join(f"{_quoted(name)}={_quoted(_plain(value))}" for name, value in pairs) if pairs else ""

    def _body(self, described: dict[str, Any], faults: int) -> tuple[list[tuple[str, str]], bytes]:
        content = described.get("requestBody", {}).get("content", {})
        if not content:
            return ([("content-type", "application/json")], b"{}") if faults and self.rng.random() < 0.2 else ([], b"")
        media_type = self.rng.choice(list(content))
        value = self.samples.of(content[media_type].get("schema", {}))
        headers = [("content-type", media_type)]
        if media_type != "application/json":
            return headers, self._bytes(_plain(value).encode("utf-8", "surrogatepass"), faults)
        raw: dict[str, str] = {}
        for _ in range(faults):
            value = self._with_fault(value, raw)
        text = json.dumps(value)
        for mark, replacement in raw.items():
            text = text.replace(f'"{mark}"', replacement, 1)
        return headers, self._bytes(text.encode("utf-8", "surrogatepass"), faults if self.rng.random() < 0.1 else 0)

    def _with_fault(self, value: Any, raw: dict[str, str]) -> Any:
        """Return `value` with one place inside replaced, left out, doubled or added."""
        rng = self.rng
        if isinstance(value, dict) and value and rng.random() < 0.9:
            name = rng.choice(list(value))
            action = rng.random()
            if action < 0.1:
                return {key: one for key, one in value.items() if key != name}
            if action < 0.15:
                return value | {rng.choice(("x", "id", "tenant_id", "", "__proto__")): self.hostile()}
            return value | {name: self._with_fault(value[name], raw)}
        if isinstance(value, list) and value and rng.random() < 0.8:
            if rng.random() < 0.2:
                return value * rng.choice((2, 50, 600))
            at = rng.randrange(len(value))
            return [*value[:at], self._with_fault(value[at], raw), *value[at + 1 :]]
        if rng.random() < 0.1:
            mark = f"raw-{len(raw)}-{rng.getrandbits(32):x}"
            raw[mark] = rng.choice(RAW)
            return mark
        if isinstance(value, str) and rng.random() < 0.2:
            return value + self._text()
        if isinstance(value, int | float) and rng.random() < 0.6:
            return rng.choice(NUMBERS)
        return self.hostile()

    def _bytes(self, body: bytes, faults: int) -> bytes:
        rng = self.rng
        if not faults:
            return body
        at = rng.randrange(len(body) + 1)
        choices: Sequence[bytes] = (
            b"",
            body[:at],
            body[:at] + rng.randbytes(3) + body[at:],
            b"\xff\xfe" + body,
            body + b"}",
            rng.randbytes(64),
            b"[" * 3_000,
            b"a: 2026-13-45\n" + body,
            b"a,b\n1,2,3\n\0,\n" + body,
        )
        return rng.choice(choices)

    def hostile(self) -> Any:
        """Return a hostile value of any kind."""
        kind = self.rng.random()
        if kind < 0.6:
            return self._text()
        return self.rng.choice(NUMBERS) if kind < 0.85 else self.rng.choice(OTHERS)

    def _text(self) -> str:
        return self.rng.choice(TEXTS)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")
