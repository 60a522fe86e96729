"""JSON schemas of artifacts, and of what agents exchange with the backend about them."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from sinemora.artifacts.core.manifest import BLOCK_BYTES_MAX, BLOCKS_MAX
from sinemora.artifacts.models import Chunking, CopyState, WaitsFor
from sinemora.kit.names import Name
from sinemora.kit.schemas import AgentWrite, Read, Write

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of a block, hexadecimal")]
RATE_MBIT, BUDGET_MIB = 50, 2048


class ArtifactSettingsWrite(Write):
    """Distribution of artifacts in a mesh: whether its agents bring each other artifacts, and their limits."""

    enabled: bool = True
    rate_mbit: Annotated[int, Field(ge=1, le=100_000)] = RATE_MBIT
    budget_mib: Annotated[int, Field(ge=16, le=1_048_576, description="Disk space of each VM, MiB")] = BUDGET_MIB


class ArtifactSettingsRead(Read):
    """Distribution of artifacts in a mesh. `serving`: agents that answer other agents at this moment."""

    mesh_id: UUID
    enabled: bool
    rate_mbit: int
    budget_mib: int
    serving: int
    version: int


class BlockDigests(Write):
    """Blocks by their SHA-256."""

    digests: Annotated[list[Digest], Field(max_length=10_000)]


class MissingBlocks(Read):
    """Blocks that the tenant has not stored."""

    missing: list[str]


class BlockWrite(Write):
    """Block of a file: SHA-256 and size in bytes."""

    digest: Digest
    size: Annotated[int, Field(ge=1, le=BLOCK_BYTES_MAX)]


class ArtifactCreate(Write):
    """Artifact to publish: a file as its blocks in order, which are stored already."""

    name: Name
    release: Name
    mesh_id: UUID
    chunking: Chunking
    everywhere: bool = True
    blocks: Annotated[list[BlockWrite], Field(max_length=BLOCKS_MAX)]


class ArtifactRead(Read):
    """Published file."""

    id: UUID
    mesh_id: UUID
    name: str
    release: str
    size_bytes: int
    chunking: Chunking
    block_count: int
    root: str
    everywhere: bool
    published_by: str
    created_at: datetime
    copies: int
    complete: int


class CopyCreate(Write):
    """VMs that are to get a copy."""

    vm_ids: Annotated[list[UUID], Field(min_length=1, max_length=2_000)]


class SourceRead(Read):
    """Bytes that a copy took from one VM, or from the backend where `vm_id` is null."""

    vm_id: UUID | None
    name: str
    size_bytes: int


class CopyRead(Read):
    """Copy of an artifact on a VM: its share, 0 … 1, and where its bytes came from."""

    vm_id: UUID
    name: str
    zone: str
    state: CopyState
    note: str
    share: float
    sources: list[SourceRead]
    corrupt_from: list[str]
    requested_at: datetime
    started_at: datetime | None
    completed_at: datetime | None
    seconds: float | None
    rate_mbit: float | None
    done_at: datetime | None
    waits_for: WaitsFor | None


class CopiesRead(Read):
    """Copies of an artifact. `peer_bytes`: brought by agents; `backend_bytes`: fetched from the backend."""

    artifact: ArtifactRead
    items: list[CopyRead]
    peer_bytes: int
    backend_bytes: int


class MoveCostRead(Read):
    """Cost to bring an artifact to a VM."""

    source: str | None
    target: str
    size_bytes: int
    moved_bytes: int
    share: float
    rate_mbit: float
    seconds: float
    words: str


class CopyReport(AgentWrite):
    """Copy as its agent reports it. `sources`: bytes by VM key, `backend` for the backend; `corrupt` likewise."""

    artifact_id: UUID
    state: CopyState
    note: Annotated[str, Field(max_length=300)] = ""
    blocks_held: Annotated[int, Field(ge=0)] = 0
    sources: Annotated[dict[str, Annotated[int, Field(ge=0)]], Field(max_length=256)] = Field(default_factory=dict)
    corrupt: Annotated[dict[str, Annotated[int, Field(ge=0)]], Field(max_length=256)] = Field(default_factory=dict)


class ArtifactExchange(AgentWrite):
    """State of an agent: the TCP port at which it serves blocks, and its copies that changed."""

    port: Annotated[int, Field(ge=1, le=65535)]
    copies: Annotated[list[CopyReport], Field(max_length=1_000)] = Field(default_factory=list)


class SignatureRead(Read):
    """Ed25519 signature in base64, and the id of its key."""

    key_id: str
    value: str


class WantedArtifact(Read):
    """Artifact that an agent is to hold. `document` is the signed text; each key of the installation signs it."""

    id: UUID
    document: str
    signatures: list[SignatureRead]


class PeerRead(Read):
    """Agent from which another may fetch."""

    vm_key: int
    name: str
    address: str
    port: int
    round_trip_us: float | None
    loss: float | None
    token: str
    expires_s: int
    artifacts: list[UUID]


class ArtifactWork(Read):
    """What an agent is to hold and from whom to fetch it."""

    enabled: bool
    rate_bytes_per_s: int
    budget_bytes: int
    serving_key: str
    keys: list[str]
    artifacts: list[WantedArtifact]
    peers: list[PeerRead]
    again_s: float
