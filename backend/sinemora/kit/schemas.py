"""Parents of the shapes on the wire."""

from pydantic import BaseModel, ConfigDict


class Write(BaseModel):
    """What a client sends: unknown fields are refused, so that a typing error is not silently ignored."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class AgentWrite(BaseModel):
    """What an agent sends: it may be newer than we are, so what we do not know is left aside."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)


class Read(BaseModel):
    """What we send: complete, so every field is required in the contract."""

    model_config = ConfigDict(from_attributes=True, json_schema_serialization_defaults_required=True)
