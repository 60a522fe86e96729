"""Values that fit a JSON schema of the contract, drawn at random: the sound half of a bad request."""

import random
import string
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

_DEPTH_MAX = 8
_PRESENCE = 0.5
"""Probability that an optional field is sent."""


class Samples:
    """Draws values of schemas; `ids` has known ids by the last word of a field's name (`mesh`, `vm`)."""

    def __init__(self, components: dict[str, Any], rng: random.Random, ids: dict[str, list[str]]) -> None:
        self.components = components
        self.rng = rng
        self.ids = ids

    def of(self, schema: dict[str, Any], name: str = "", depth: int = 0) -> Any:
        """Return a value of `schema`; `name` is the field's name and selects known ids."""
        if reference := schema.get("$ref"):
            return self.of(self.components[str(reference).rsplit("/", 1)[1]], name, depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.rng.choice(schema["enum"])
        for union in ("anyOf", "oneOf"):
            if choices := schema.get(union):
                if depth > _DEPTH_MAX:
                    choices = [one for one in choices if "$ref" not in one] or choices
                return self.of(self.rng.choice(choices), name, depth + 1)
        kind = schema.get("type")
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            return self._array(schema, name, depth)
        if kind == "string":
            return self._string(schema, name)
        if kind == "integer":
            low, high = _bounds(schema, 1)
            return self.rng.randint(int(low), int(max(low, high)))
        if kind == "number":
            low, high = _bounds(schema, 0)
            return self.rng.uniform(low, max(low, high))
        return self.rng.random() < 0.5 if kind == "boolean" else None

    def id_of(self, name: str) -> str:
        """Return a known id for a parameter of this name, or an unknown one."""
        noun = name.removesuffix("s").removesuffix("_id")
        known = self.ids.get(noun) or self.ids.get(noun.rsplit("_", 1)[-1]) or []
        if known and self.rng.random() < 0.9:
            return self.rng.choice(known)
        return str(UUID(int=self.rng.getrandbits(128), version=4))

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        required = set(schema.get("required", ()))
        fields = {
            name: self.of(field, name, depth + 1)
            for name, field in schema.get("properties", {}).items()
            if name in required or (depth <= _DEPTH_MAX and self.rng.random() < _PRESENCE)
        }
        extra = schema.get("additionalProperties")
        if isinstance(extra, dict) and depth <= _DEPTH_MAX:
            names = ("to", "url", "service", "team", "channel")
            fields |= {self.rng.choice(names): self.of(extra, "", depth + 1) for _ in range(self.rng.randint(0, 2))}
        return fields

    def _array(self, schema: dict[str, Any], name: str, depth: int) -> list[Any]:
        fewest = int(schema.get("minItems", 0))
        length = fewest if depth > _DEPTH_MAX else self.rng.randint(fewest, max(fewest, 3))
        return [self.of(schema.get("items", {}), name, depth + 1) for _ in range(length)]

    def _string(self, schema: dict[str, Any], name: str) -> str:
        form = schema.get("format")
        if form == "uuid":
            return self.id_of(name)
        if form == "date-time":
            moment = datetime.now(UTC) + timedelta(seconds=self.rng.randint(-86_400, 86_400))
            return moment.isoformat(timespec="seconds")
        length = min(self.rng.randint(1, 12), int(schema.get("maxLength", 100)))
        length = max(length, int(schema.get("minLength", 0)))
        return "".join(self.rng.choices(string.ascii_lowercase + "-", k=length))


def _bounds(schema: dict[str, Any], step: float) -> tuple[float, float]:
    low = schema.get("minimum", schema.get("exclusiveMinimum", -step) + step)
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 1000 + step) - step)
    return float(low), float(high)
