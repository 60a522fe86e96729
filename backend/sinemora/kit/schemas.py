"""Base classes of JSON schemas."""

from collections import Counter
from typing import Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


def _distinct(values: list[Any]) -> list[Any]:
    if repeated := [str(value) for value, times in Counter(values).items() if times > 1]:
        raise ValueError(f"each may occur once; repeated: {', '.join(repeated)}")
    return values


# After the limits of a list of choices: a repeated one would be two columns of one name.
DISTINCT = (AfterValidator(_distinct), Field(json_schema_extra={"uniqueItems": True}))


class Write(BaseModel):
    """Request body of a client. Unknown fields are refused, so that a typing error is noticed."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class AgentWrite(BaseModel):
    """Request body of an agent. Unknown fields are ignored: the agent may be newer than the backend."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)


class Read(BaseModel):
    """Response body. It is complete, so every field is required in the contract."""

    model_config = ConfigDict(from_attributes=True, json_schema_serialization_defaults_required=True)
