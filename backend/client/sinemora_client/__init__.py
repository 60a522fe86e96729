"""Typed client of the Sinemora API.

from sinemora_client import Client

with Client("https://sinemora.example", "sm_…") as client:
    for mesh in client.list_meshes():
        print(mesh["name"])
"""

from sinemora_client.client import Client
from sinemora_client.errors import (
    ApiError,
    Conflict,
    FieldError,
    InvalidRequest,
    JobFailed,
    JobTimeout,
    NotAllowed,
    NotFound,
    NotSignedIn,
    ServerError,
    SinemoraError,
    TooManyRequests,
    Unreachable,
    VersionChanged,
)
from sinemora_client.retries import Retries

__all__ = [
    "ApiError",
    "Client",
    "Conflict",
    "FieldError",
    "InvalidRequest",
    "JobFailed",
    "JobTimeout",
    "NotAllowed",
    "NotFound",
    "NotSignedIn",
    "Retries",
    "ServerError",
    "SinemoraError",
    "TooManyRequests",
    "Unreachable",
    "VersionChanged",
]
