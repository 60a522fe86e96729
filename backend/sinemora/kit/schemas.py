"""Base classes of JSON schemas."""

from pydantic import BaseModel, ConfigDict


class Write(BaseModel):
    """Request body of a client. Unknown fields are refused, so that a typing error is noticed."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class AgentWrite(BaseModel):
    """Request body of an agent. Unknown fields are ignored: the agent may be newer than the backend."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)


class Read(BaseModel):
    """Response body. It is complete, so every field is required in the contract."""

    model_config = ConfigDict(from_attributes=True, json_schema_serialization_defaults_required=True)
