"""Types of the bodies of requests and responses.

Generated from the contract by `make gen`; do not edit.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class About(TypedDict):
    """Versions of product and database, and the laboratories of this installation that have pages in the console.

    The database fields are null while it is unavailable.
    """

    version: str
    database_engine: str | None
    database_version: str | None
    timescaledb: bool | None
    timescaledb_version: str | None
    labs: list[str]


class Accuracy(TypedDict):
    """Accuracy of applied recommendations, the newest first.

    `held` and `not_held` were judged; errors and mean gains are of these alone. `cannot_tell` and `undone` (moved
    back or elsewhere before they were verified) count for neither side.
    """

    held: int
    not_held: int
    cannot_tell: int
    undone: int
    mean_error: float | None
    mean_gain_predicted: float | None
    mean_gain_observed: float | None
    entries: list[AccuracyEntry]


class AccuracyEntry(TypedDict):
    """Verified recommendation."""

    id: str
    mesh: Named
    verified_at: str
    outcome: VerifiedOutcome


class AddLatency(TypedDict):
    """Latency added to every round trip between two zones, or within one named twice; negative to remove."""

    kind: Literal["latency"]
    zones: list[str]
    added_us: float


Advisor: TypeAlias = Literal["fairness", "shaping", "transport"]
"""Advisor that has a finding."""


class AdvisorFinding(TypedDict):
    """A finding of an advisor: what it is about, the measurement, and the rule that fired.

    `of`: members of a fairness finding; `source` and `target`: VMs of a transport finding, on the path of the open
    incident `incident_id` that changed most.
    """

    advisor: Advisor
    mesh: Named
    about: str
    measurement: str
    rule: str
    advice: str | None
    source: str | None
    target: str | None
    of: FairnessOf | None
    incident_id: str | None


class AffectedRead(TypedDict):
    """An application with a link on the paths of an incident; `performance`: predicted share of its best.

    `cost`: the part of 1 - `performance` that links on these paths cause. While the incident lasts it is that of
    the last minute, then the largest. Null where unknown, and of incidents before it was recorded.
    """

    id: str
    name: str
    performance: float | None
    cost: float | None
    objective: float | None


class AgedRead(TypedDict):
    """Measurements in object storage. `after_days`: age at which measurements are moved there; 0: never."""

    after_days: int
    items: list[AgedTierRead]
    run: AgingRunRead | None


class AgedTierRead(TypedDict):
    """Aged objects of one tier of a mesh; their rows are not in the database, except for restored ones."""

    mesh_id: str
    mesh: str
    # `probe_frames_…` of VMs or `zone_frames_…` of zones, and the step
    tier: str
    objects: int
    # Objects whose rows were copied back to the database for some days
    restored: int
    rows: int
    bytes: int
    started_at: str
    ended_at: str


class AgentCounts(TypedDict):
    """Agents by status. `enrolled`: no report yet."""

    reporting: int
    silent: int
    enrolled: int


class AgentEventRead(TypedDict):
    """Stored event and the time it was received."""

    id: int
    kind: str
    at: str
    detail: dict[str, Any]
    received_at: str


class AgentRead(TypedDict):
    """Agent of a VM, its description of itself and its last health."""

    id: str
    agent_version: str
    created_at: str
    revoked_at: str | None
    last_report_at: str | None
    report_every_s: int
    vm: VmName
    credential_prefix: str
    description: dict[str, Any]
    health: dict[str, Any] | None
    # Return the current status of the agent.
    status: AgentStatus


AgentStatus: TypeAlias = Literal["enrolled", "reporting", "silent", "revoked"]
"""Status of an agent: `enrolled` (never reported), `reporting`, `silent` (no recent report), `revoked`."""


class AgentSummary(TypedDict):
    """Summary of an agent."""

    id: str
    agent_version: str
    created_at: str
    revoked_at: str | None
    last_report_at: str | None
    report_every_s: int
    # Return the current status of the agent.
    status: AgentStatus


class AgingRunRead(TypedDict):
    """Newest run of ageing of the tenant."""

    started_at: str
    ended_at: str
    objects: int
    rows: int
    bytes: int
    # Why it stopped; null when it did all its work
    error: str | None


Among: TypeAlias = Literal["vms", "applications", "flows"]
"""Members among which a rule compares shares: VMs or applications of a mesh, or the flows of each path."""


class AnnotationCreate(TypedDict):
    """Annotation to create. Without `starts_at` it is now, without `ends_at` an event instead of a span.

    Without `mesh_id` it is about all meshes, without `scope` about all VMs. `source`: the person or program that
    reports it; by default the caller's name.
    """

    kind: AnnotationKind
    # One line
    text: str
    starts_at: NotRequired[str | None]
    ends_at: NotRequired[str | None]
    mesh_id: NotRequired[str | None]
    scope: NotRequired[sinemoraoverviewannotationsschemasScope | None]
    source: NotRequired[str | None]
    url: NotRequired[str | None]


AnnotationKind: TypeAlias = Literal["deploy", "maintenance", "note"]
"""Kind of an annotation."""


class AnnotationRead(TypedDict):
    """Annotation. `scope` is null if it is about all VMs."""

    id: str
    kind: AnnotationKind
    text: str
    starts_at: str
    ends_at: str | None
    mesh_id: str | None
    mesh_name: str | None
    scope: ScopeRead | None
    source: str
    url: str | None
    version: int
    created_at: str


class AnnotationUpdate(TypedDict):
    """Changes to an annotation. Omitted fields do not change; null clears `ends_at`, `mesh_id`, `scope` and `url`."""

    kind: NotRequired[AnnotationKind]
    # One line
    text: NotRequired[str]
    starts_at: NotRequired[str]
    ends_at: NotRequired[str | None]
    mesh_id: NotRequired[str | None]
    scope: NotRequired[sinemoraoverviewannotationsschemasScope | None]
    source: NotRequired[str]
    url: NotRequired[str | None]


class ApiKeyCreated(TypedDict):
    """New API key. `secret` is shown only once; send it as `Authorization: Bearer sm_…`."""

    id: str
    name: str
    prefix: str
    scopes: list[ScopeOutput]
    owner: KeyOwner | None
    meshes: list[VisibleMesh] | None
    expires_at: str
    previous_expires_at: str | None
    last_used_at: str | None
    last_used_from: str | None
    created_at: str
    secret: str


class ApiKeyRead(TypedDict):
    """API key without its secret. `owner` is null for a service account, `meshes` for a key that is not limited."""

    id: str
    name: str
    prefix: str
    scopes: list[ScopeOutput]
    owner: KeyOwner | None
    meshes: list[VisibleMesh] | None
    expires_at: str
    previous_expires_at: str | None
    last_used_at: str | None
    last_used_from: str | None
    created_at: str


class ApiKeyRotate(TypedDict):
    """Rotation of an API key: the old secret stays valid for `overlap_s`, in which programs take the new one."""

    # Seconds, at most 30 days
    overlap_s: NotRequired[int]
    # New expiry, within a year; null keeps the present one
    expires_at: NotRequired[str | None]


class ApplicationCost(TypedDict):
    """Application with the part of its predicted loss of performance that some paths cause; null while unknown."""

    id: str
    name: str
    cost: float | None


class ApplicationCreate(TypedDict):
    """Declaration of an application; name, mesh, curve and tasks suffice."""

    description: NotRequired[str]
    # Name or id of the mesh its VMs are in
    mesh: str
    # Key of a published curve, or name or id of your own
    curve: str
    # Version of an own curve, pinned; default: the newest
    curve_number: NotRequired[int | None]
    # Reference round trip of the curve, µs; default: that of the curve
    reference_us: NotRequired[float | None]
    tasks: list[TaskWrite]
    edges: NotRequired[list[EdgeWrite]]
    # Lower bound of performance
    objective: NotRequired[float | None]
    # Maximum number of moves in a recommendation
    moves_max: NotRequired[int | None]
    # Minimum gain of a move, as a share of performance
    move_cost: NotRequired[float]
    # Names or ids of zones; empty: all zones
    zones: NotRequired[list[str]]
    per_vm_max: NotRequired[int | None]
    per_host_max: NotRequired[int | None]
    per_zone_max: NotRequired[int | None]
    # Applications, by name or id, that must not share a VM with it
    apart_from: NotRequired[list[str]]
    name: str


class ApplicationGain(TypedDict):
    """Gain of one application."""

    application: Named
    objective: float | None
    expected: GainRead


class ApplicationImpact(TypedDict):
    """Impact on one application; null where no window has all its links.

    At the newest windows (`minutes` null), links that are not measured before the changes do not count, and
    intervals are the band of the curve. After the changes, `waiting` tasks have no VM, and `beyond` links are
    slower than the domain of the curve.
    """

    application: Named
    objective: float | None
    before: ExpectedRead | None
    after: ExpectedRead | None
    gain: GainRead | None
    below_objective: bool | None
    waiting: int
    beyond: int


class ApplicationOutcome(TypedDict):
    """Measured outcome for one moved application.

    By metric: `metric_sources` of it were compared with those of the applications `controls`, which did not move.
    By delays: the control is the application itself at its old VMs, in the same windows.
    """

    application: Named
    verdict: sinemorarecommendationscoreverdictVerdict
    reason: str
    judged_by: JudgedBy
    promised: GainInterval
    observed: GainInterval | None
    metric_sources: list[Named]
    controls: list[Named]


class ApplicationPerformance(TypedDict):
    """Current performance of an application: the weighted mean over its links, and its worst link.

    `measured` of `links` are measured; the mean is null without any. `below_objective` is null if unknown.
    """

    application_id: str
    name: str
    window: Span
    statistic: str
    performance: float | None
    low: float | None
    high: float | None
    worst: float | None
    objective: float | None
    below_objective: bool | None
    links: int
    measured: int
    detail: list[LinkPerformance]


class ApplicationPriceRead(TypedDict):
    """Mix of one application before and after the moves; `reason` says why there is none to compare."""

    application: Named
    currency: str | None
    statistic: str | None
    before: PlacementMixRead | None
    after: PlacementMixRead | None
    difference_per_hour: float | None
    reason: str | None


class ApplicationRanking(TypedDict):
    """Applications worst first: below their objective, then by performance. Of `total`, `evaluated` were compared."""

    total: int
    evaluated: int
    below_objective: int
    worst: list[RankedApplication]


class ApplicationRead(TypedDict):
    """Declared application."""

    id: str
    name: str
    description: str
    shape: sinemoraapplicationsschemasShape
    mesh: Named
    curve: CurveAttached
    reference_us: float | None
    objective: float | None
    moves_max: int | None
    move_cost: float
    zones: list[Named]
    per_vm_max: int | None
    per_host_max: int | None
    per_zone_max: int | None
    apart_from: list[Named]
    tasks: list[TaskRead]
    edges: list[EdgeRead]
    version: int
    created_at: str


class ApplicationSensitivity(TypedDict):
    """Performance that a link reaches, as a table over its round trip: ns, the centre of each LLQ16 bin.

    A code c of a matrix of round trips stands for row c - 1. `reference_us`: round trips up to it cost nothing.
    """

    application_id: str
    name: str
    reference_us: float
    round_trip_ns: list[int]
    performance: list[float]


class ApplicationUpdate(TypedDict):
    """Update of an application; omitted fields stay. `tasks` and `edges` are replaced as a whole."""

    name: NotRequired[str]
    description: NotRequired[str]
    curve: NotRequired[str]
    curve_number: NotRequired[int | None]
    reference_us: NotRequired[float | None]
    tasks: NotRequired[list[TaskWrite]]
    edges: NotRequired[list[EdgeWrite]]
    objective: NotRequired[float | None]
    moves_max: NotRequired[int | None]
    move_cost: NotRequired[float]
    zones: NotRequired[list[str]]
    per_vm_max: NotRequired[int | None]
    per_host_max: NotRequired[int | None]
    per_zone_max: NotRequired[int | None]
    apart_from: NotRequired[list[str]]


class ApplicationWrite(TypedDict):
    """Facts of an application, for the checks."""

    communication: NotRequired[Communication]
    packet_bytes: NotRequired[float]
    write_share: NotRequired[float]
    acknowledged_writes: NotRequired[bool]
    range_inserts: NotRequired[bool]
    mixed_priorities: NotRequired[bool]
    # Others use the bucket too; null if unknown
    shared: NotRequired[bool | None]
    strict_network: NotRequired[bool]


class ArtifactCreate(TypedDict):
    """Artifact to publish: a file as its blocks in order, which are stored already.

    `everywhere`: every VM of the mesh gets a copy; otherwise those that are asked for.
    """

    name: str
    release: str
    mesh_id: str
    chunking: Chunking
    everywhere: NotRequired[bool]
    blocks: list[BlockWrite]


class ArtifactRead(TypedDict):
    """Artifact. `root`: Merkle root over its blocks, which the installation signs for agents.

    `copies`: VMs that are to have it; `complete`: VMs that have it.
    """

    id: str
    mesh_id: str
    name: str
    release: str
    size_bytes: int
    chunking: Chunking
    block_count: int
    root: str
    everywhere: bool
    published_by: str
    created_at: str
    copies: int
    complete: int


class ArtifactSettingsRead(TypedDict):
    """Distribution of artifacts in a mesh. `serving`: agents that answer other agents at this moment."""

    mesh_id: str
    enabled: bool
    rate_mbit: int
    budget_mib: int
    serving: int


class ArtifactSettingsWrite(TypedDict):
    """Distribution of artifacts in a mesh: whether its agents bring each other artifacts, and their limits."""

    enabled: NotRequired[bool]
    # Most that an agent sends, and most that it receives, Mbit/s
    rate_mbit: NotRequired[int]
    # Disk space of each VM, MiB
    budget_mib: NotRequired[int]


class Assignment(TypedDict):
    """The assignee of an incident; null: no one."""

    assignee: str | None


class Attention(TypedDict):
    """Agents and clocks that need attention."""

    silent: SilentAgents
    outdated: OutdatedAgents
    clocks: ClockErrors


class AuditEntryRead(TypedDict):
    """Entry of the audit log.

    `address` is that of the request. `detail.changes` has the values before and after of each field that changed.
    """

    id: str
    created_at: str
    actor_kind: str
    actor_id: str | None
    actor_name: str
    action: str
    subject_id: str | None
    subject_name: str
    detail: dict[str, Any]
    address: str | None


class Axis(TypedDict):
    """Row and column of a matrix."""

    id: str
    name: str


class BackTestCreate(TypedDict):
    """A rule to evaluate on stored windows; nothing is saved, no one is notified."""

    name: str
    enabled: NotRequired[bool]
    severity: NotRequired[Severity]
    condition: ConditionModel
    scope: NotRequired[ScopeModel]
    windows_x: NotRequired[int]
    windows_y: NotRequired[int]
    sources_min: NotRequired[int]
    hold_s: NotRequired[int]
    keep_firing_s: NotRequired[int]
    runbook_url: NotRequired[str | None]
    mesh_id: str
    # Look-back in hours; in steps of a minute beyond the retention of windows
    hours: NotRequired[int]


BandOrigin: TypeAlias = Literal["measured", "transfer"]
"""Origin of a band: fitted to the tenant's measurements, or the default for transfer to other hardware."""


class BandRead(TypedDict):
    """Origin of the 95 % band of a curve.

    `latency_factor`: other hardware is as sensitive at the latency divided or multiplied by this factor, with 95 %;
    null if measured. `residual`: standard error of the values that the source states; null if measured.
    """

    origin: BandOrigin
    latency_factor: float | None
    residual: float | None
    words: str


class BaselineMatrix(TypedDict):
    """Baselines of the paths of a matrix of deviations. A deviation within `dead_band_ns` is usual.

    `steps`: number of hours, or minutes of `last_hour`, that the baseline is the median of.
    """

    value_ns: list[list[int | None]]
    dead_band_ns: list[list[int | None]]
    basis: list[list[Literal["same_hour", "last_day", "last_hour"] | None]]
    steps: list[list[int]]


class BasicAuthentication(TypedDict):
    """User and password (RFC 7617)."""

    scheme: Literal["basic"]
    username: str
    password: str


class BearerAuthentication(TypedDict):
    """`Authorization: Bearer …` (RFC 6750)."""

    scheme: Literal["bearer"]
    token: str


class BindingLimit(TypedDict):
    """Limit in words and what relaxes it.

    `kind`: slot, cpu, memory, apart_from, zones, per_vm_max, per_host_max, per_zone_max, moves_max, move_cost, pin
    or root.
    """

    kind: str
    limit: str
    relax: str


class BindingRead(TypedDict):
    """Limits that together keep a task from a better VM, and the gain of its application if they were relaxed."""

    limits: list[BindingLimit]
    application: Named
    task: Named
    vm: Named
    gain: GainRead


class BinsRead(TypedDict):
    """Histogram of non-empty bins: values in [low, high); `cumulative` is the share below `high`."""

    low: list[int]
    high: list[int]
    count: list[int]
    cumulative: list[float]


class BlockDigests(TypedDict):
    """Blocks by their SHA-256."""

    digests: list[str]


class BlockWrite(TypedDict):
    """Block of a file: SHA-256 and size in bytes."""

    # SHA-256 of a block, hexadecimal
    digest: str
    size: int


class BucketEvidence(TypedDict):
    """Token bucket of a VM when the incident opened: its tokens and the use above its rate, which empties it."""

    rate_mbit: float
    use_mbit: float
    burst_kb: float
    tokens_kb: float
    empty_in_s: float | None


class BucketExportCreate(TypedDict):
    """Bucket, what is exported to it, and when."""

    name: str
    # Address of the storage; empty for Amazon S3
    endpoint: NotRequired[str]
    region: NotRequired[str]
    bucket: str
    # Beginning of all names; may be empty
    prefix: NotRequired[str]
    access_key: str
    # Secret of the access key; never in a response
    secret: str
    schedule: NotRequired[Schedule]
    # Hour of the day of a daily export, UTC
    hour: NotRequired[int]
    tables: NotRequired[list[ExportTable]]
    paused: NotRequired[bool]


class BucketExportRead(TypedDict):
    """Bucket export without its secret.

    `failures`: failed runs since the newest success, and `error` the reason of the newest. `days`, `rows` and
    `bytes`: what the bucket has.
    """

    id: str
    name: str
    endpoint: str
    region: str
    bucket: str
    prefix: str
    access_key: str
    schedule: Schedule
    hour: int
    tables: list[ExportTable]
    paused: bool
    state: BucketExportState
    # Next run or attempt; null while it is paused
    next_at: str | None
    # Job of the newest run, while jobs are kept
    job_id: str | None
    succeeded_at: str | None
    failed_at: str | None
    failures: int
    error: str | None
    days: int
    rows: int
    bytes: int
    version: int
    created_at: str


BucketExportState: TypeAlias = Literal["waiting", "running", "succeeded", "failing", "paused"]
"""State of an export: never run, running, up to date with its schedule, failing, or paused."""


class BucketExportUpdate(TypedDict):
    """Changes. Omitted fields stay as they are, the secret too; another place begins again with all days."""

    name: NotRequired[str]
    # Address of the storage; empty for Amazon S3
    endpoint: NotRequired[str]
    region: NotRequired[str]
    bucket: NotRequired[str]
    # Beginning of all names; may be empty
    prefix: NotRequired[str]
    access_key: NotRequired[str]
    # Secret of the access key; never in a response
    secret: NotRequired[str]
    schedule: NotRequired[Schedule]
    # Hour of the day of a daily export, UTC
    hour: NotRequired[int]
    tables: NotRequired[list[ExportTable]]
    paused: NotRequired[bool]


class BucketRead(TypedDict):
    """Token bucket. `peak_mbit` is the rate of the train before the bucket was empty; null for a known bucket.

    `upper`: a second bucket of a higher rate, null for a single one. `metered`: the unit of tokens, null unless
    bursts of two packet sizes show it. `spread`: of the single bursts; null for a known bucket.
    """

    rate_mbit: float
    burst_kb: float
    mechanism: Mechanism
    peak_mbit: float | None
    loss: float | None
    upper: UpperBucketRead | None
    metered: Unit | None
    spread: SpreadRead | None


class BucketTestRead(TypedDict):
    """Result of a test, which wrote one object and deleted it. `error` is null when both succeeded."""

    object_key: str
    error: str | None


BulkKind: TypeAlias = Literal["trial", "transfers"]
"""Purpose of an order of the bulk sender: the comparison of two transports, or planned transfers."""


class BulkRunRead(TypedDict):
    """Run of the bulk sender with its transfers, its result by kind, and what it did to the measurements."""

    id: str
    mesh: Named
    kind: BulkKind
    status: BulkStatus
    progress: float
    vms: list[Named]
    size_bytes: int
    requested_by: str
    created_at: str
    starts_at: str
    ends_at: str
    error: str | None
    transfers: list[BulkTransferRead]
    trial: TrialRead | None
    transfer_run: TransferRunRead | None
    disturbance: list[DisturbanceRead]


class BulkRunSummary(TypedDict):
    """Run of the bulk sender as a list item. `progress` is the share of its bytes that was sent."""

    id: str
    mesh: Named
    kind: BulkKind
    status: BulkStatus
    progress: float
    vms: list[Named]
    size_bytes: int
    requested_by: str
    created_at: str
    starts_at: str
    ends_at: str
    error: str | None


class BulkSenderRead(TypedDict):
    """Bulk sender of a VM. Without one that is on, `is_on` is false and the others are null."""

    vm: Named
    is_on: bool
    bytes_max: int | None
    rate_max_mbit: float | None
    seconds_max: int | None
    congestion_controls: list[str]
    mptcp: bool
    tls: bool


BulkStatus: TypeAlias = Literal["waiting", "running", "completed", "stopped", "failed"]
"""`waiting`: nothing is sent yet; `running`; `completed`; `stopped` by a person; `failed`: see `error`."""


class BulkTransferRead(TypedDict):
    """One transfer. `elapsed_s` runs from its first connection until the receiver has all bytes; null before.

    `jain`: Jain's index over the rates of its connections; null for one. `slowest_s`: when the last connection was
    done, over the mean of all. `predicted_s`: size over planned rate, null in a trial.
    """

    index: int
    variant: Variant | None
    source: Named
    target: Named
    size_bytes: int
    sent_bytes: int
    connections: int
    rate_cap_mbit: float | None
    started_at: str | None
    elapsed_s: float | None
    rate_mbit: float | None
    jain: float | None
    slowest_share: float | None
    predicted_s: float | None
    error: str | None


By: TypeAlias = Literal["vm", "zone"]
"""Kind of the rows and columns of a matrix."""


class CandidateRead(TypedDict):
    """Fit of one family of functions; `error` is the relative leave-one-out prediction error."""

    family: str
    words: str
    weight: float
    log_score: float
    error: float
    formula: str


class CapacityRead(TypedDict):
    """Capacity of a VM, slots in use, hourly price, and the host of its hardware."""

    vm: VmName
    slots: int
    slots_taken: int
    cpu_millicores: int | None
    memory_mib: int | None
    price_per_hour: str | None
    host: str | None


CapacitySource: TypeAlias = Literal["token_bucket", "bulk_sender"]
"""Origin of a measured capacity: the rate of the VM's token bucket, or the fastest transfer of a trial."""


class CapacityUpdate(TypedDict):
    """Update of a VM's capacity; omitted fields stay, null removes a value."""

    slots: NotRequired[int | None]
    cpu_millicores: NotRequired[int | None]
    memory_mib: NotRequired[int | None]
    price_per_hour: NotRequired[float | str | None]
    host: NotRequired[str | None]


Cause: TypeAlias = Literal["propagation", "processing", "base", "queueing"]
"""Part of a delay. `base`: propagation and processing together, where they cannot be separated."""


class CertificateRead(TypedDict):
    """Proof of a flow network: cost of its placement and its lower bound, in cost points, for the tasks it places."""

    primal: int
    dual: int
    gap: int
    proven: bool
    words: str


class ChangeCurve(TypedDict):
    """Assignment of another curve, or of another version."""

    kind: Literal["curve"]
    # Name or id
    application: str
    # Name or id
    curve: str
    curve_number: NotRequired[int | None]


class ChangeRead(TypedDict):
    """Change of the transfer time from A to B with its 95 % interval; -0.2 is 20 % shorter. The verdict follows it."""

    mean: float
    low: float
    high: float
    pairs: int
    verdict: sinemoraadvisorsbulkcoretrialVerdict


class Chapter(TypedDict):
    """Part of the story: what happens, since when, and when the next part begins."""

    title: str
    text: str
    started_at: str
    ends_at: str


class CheckRead(TypedDict):
    """Conclusion of the source that applies."""

    id: str
    effect: str
    remedy: str
    caveat: str | None


Chunking: TypeAlias = Literal["fixed", "content"]
"""How a file is cut into blocks: at fixed offsets, or where its content says (FastCDC)."""


ClassSpread: TypeAlias = Literal["bytes", "packets"]
"""Quantity that every class carries equally much of."""


class ClockError(TypedDict):
    """A VM whose clock is not known well: median error of its paths."""

    vm: Named
    clock_error_ns: int


class ClockErrors(TypedDict):
    """VMs with a clock error of `above_ns` or more, largest first."""

    above_ns: int
    count: int
    first: list[ClockError]


Communication: TypeAlias = Literal["request_reply", "all_to_all", "collectives"]
"""Communication of an application."""


class ComparisonRead(TypedDict):
    """Two matrices with one axis and their difference, `values` - `base_values`. Tables are [source][target].

    `percent` is relative to the base value, null where that is zero.
    """

    mesh_id: str
    revision: int
    by: By
    metric: Metric
    statistic: Statistic
    unit: Literal["ns", "ratio"]
    window: Span
    base_window: Span
    axis: list[Axis]
    values: list[list[float | None]]
    base_values: list[list[float | None]]
    difference: list[list[float | None]]
    percent: list[list[float | None]]
    clock_error_ns: list[list[int | None]]
    states: list[list[StateName]]


Component: TypeAlias = Literal["nic", "kernel", "hypervisor", "switches"]
"""Part of a path between two VMs that processes packets."""


class ComputeMixCreate(TypedDict):
    """Question for the cheapest mix. Of several paths the first is the base of comparison."""

    load_per_s: float
    target: TargetWrite
    vm_types: list[VmTypeWrite]
    serverless: NotRequired[ServerlessWrite | None]
    price_list_id: NotRequired[str | None]
    mesh: NotRequired[str | None]
    paths: NotRequired[list[PathWrite]]
    # Of the delays; null: that of the target
    statistic: NotRequired[Literal["mean", "p50", "p90", "p95", "p99", "p999"] | None]
    # Look-back of measured delays
    minutes: NotRequired[int]
    # Loads of a profile that repeats, one an hour
    hourly_load_per_s: NotRequired[list[float]]
    # Minimum term of a rented VM, hours
    term_h: NotRequired[int]


class ComputeMixRead(TypedDict):
    """Mixes by path, in the order of the request; without paths, one without a network delay."""

    currency: str | None
    job_price: float | None
    paths: list[PathMixRead]


class ConditionModel(TypedDict):
    """Condition under which a window of a path is a breach (docs/alerts.md)."""

    kind: Kind
    metric: NotRequired[Metric]
    statistic: NotRequired[Statistic]
    # Threshold in ns, or a ratio
    above: NotRequired[float]
    deviations: NotRequired[float]
    # Least rise above the baseline, ns; of a spike: above the median
    rise_ns: NotRequired[float]
    timescale: NotRequired[Timescale]
    # Of `loss`: time over which packets are counted
    over_s: NotRequired[int]
    # Of `tokens`: time within which a token bucket will be empty
    within_s: NotRequired[int]
    # Of `fairness`: members whose shares are compared
    among: NotRequired[Among]
    # Of `fairness`: Jain's index below which a window is a breach
    below: NotRequired[float]


class ConnectionTimeoutsRead(TypedDict):
    """Timeouts of connections of the VMs of a mesh in a range, most first, at most 200 rows.

    `vms_reporting`: VMs whose agents are set to read connections, and had some.
    """

    started_at: str
    ended_at: str
    vms: int
    vms_reporting: int
    items: list[ConnectionTimeoutsRow]


class ConnectionTimeoutsRow(TypedDict):
    """TCP connections of a VM to a peer: segments sent, sent again, and waits for a retransmission timeout.

    The peer is null for all addresses that are no VM of its meshes. `connections`: most in a minute; `rto_ms`:
    smallest timeout; `stall_ms`: mean wait; `share`: that of segments that waited; null without timeouts. `found`:
    the timeouts are mostly of 195 to 235 ms.
    """

    vm_id: str
    vm_name: str
    peer_vm_id: str | None
    peer_vm_name: str | None
    connections: int
    segments_sent: int
    segments_retransmitted: int
    timeouts: int
    timeouts_in_band: int
    stalled_ms: int
    rto_ms: float | None
    found: bool
    evidence: str
    stall_ms: float | None
    share: float | None


class CopiesRead(TypedDict):
    """Copies of an artifact. `peer_bytes`: brought by agents; `backend_bytes`: fetched from the backend."""

    artifact: ArtifactRead
    items: list[CopyRead]
    peer_bytes: int
    backend_bytes: int


class CopyCreate(TypedDict):
    """VMs that are to get a copy."""

    vm_ids: list[str]


class CopyRead(TypedDict):
    """Copy of an artifact on a VM: its share, 0 … 1, and where its bytes came from.

    `corrupt_from`: VMs that sent blocks which did not match their hash; such blocks are dropped and the VM is
    avoided. `seconds`: from the start to the end. `rate_mbit`: mean rate of what was fetched since the start, null
    before it. `done_at`: when it was complete, or will be at this rate; null where there is no rate. `waits_for`:
    what keeps an incomplete copy from continuing; null where it continues in its turn.
    """

    vm_id: str
    name: str
    zone: str
    state: CopyState
    note: str
    share: float
    sources: list[SourceRead]
    corrupt_from: list[str]
    requested_at: str
    started_at: str | None
    completed_at: str | None
    seconds: float | None
    rate_mbit: float | None
    done_at: str | None
    waits_for: WaitsFor | None


CopyState: TypeAlias = Literal["waiting", "fetching", "complete", "refused"]
"""State of a copy on a VM."""


class CostCurveRead(TypedDict):
    """Costs per hour by load, of the best VM type."""

    vm: str
    load_per_s: list[float]
    mix: list[float]
    vms_alone: list[float] | None
    serverless_alone: list[float] | None


class CostRead(TypedDict):
    """Cost of `added_us` more round trip: without other latency (`alone`), and on top of measured round trips.

    A measured round trip counts as added as far as it exceeds `reference_us`.
    """

    curve_id: str
    number: int
    added_us: float
    reference_us: float
    waiting: Waiting
    alone: PerformanceRead
    measured: MeasuredCost | None


class CulpritPlace(TypedDict):
    """A VM or a zone of a culprit."""

    id: str
    name: str


class CulpritRead(TypedDict):
    """A culprit; `other`: the target of a path or a pair of zones. `words`: its display name."""

    suspect: str
    at: CulpritPlace | None
    other: CulpritPlace | None
    words: str


class CurveAttached(TypedDict):
    """Curve version of an application; a larger `newest` means that a newer version exists."""

    id: str
    origin: sinemoraapplicationscurvesschemasOrigin
    name: str
    number: int
    newest: int


class CurveCreate(TypedDict):
    """Curve with its first measurements. With a CSV body, the query has name, description, unit and source."""

    # `rate` falls with latency, `duration` grows; in CSV the header states it
    metric: NotRequired[Literal["rate", "duration"]]
    # `measured` latencies count from the smallest of them
    latency: NotRequired[Literal["added", "measured"]]
    # Performance without added latency; default: the rows at 0 µs
    baseline: NotRequired[float | None]
    # Origin of the measurements: machines, load, repeats, author
    source: NotRequired[str]
    rows: NotRequired[list[SampleRow] | None]
    csv: NotRequired[str | None]
    name: NotRequired[str | None]
    description: NotRequired[str]
    unit: NotRequired[str]


class CurveDetail(TypedDict):
    """Curve with one of its versions; `newest` is the newest version number."""

    id: str
    origin: sinemoraapplicationscurvesschemasOrigin
    name: str
    description: str
    metric: Literal["rate", "duration"]
    unit: str
    created_at: str | None
    updated_at: str | None
    version: CurveVersionDetail
    outline: CurvePoints
    newest: int


class CurvePoints(TypedDict):
    """Curve as a table; `low` and `high` are its 95 % band."""

    added_us: list[float]
    performance: list[float]
    low: list[float]
    high: list[float]


class CurveRead(TypedDict):
    """Application in one configuration; `id` is the key of a published curve. `outline` suffices to draw it."""

    id: str
    origin: sinemoraapplicationscurvesschemasOrigin
    name: str
    description: str
    metric: Literal["rate", "duration"]
    unit: str
    created_at: str | None
    updated_at: str | None
    version: CurveVersionRead
    outline: CurvePoints


class CurveTableRead(TypedDict):
    """Curve in equal steps, including the end of its domain."""

    added_us: list[float]
    performance: list[float]
    low: list[float]
    high: list[float]
    curve_id: str
    number: int
    step_us: float


class CurveUpdate(TypedDict):
    """Update of a curve; omitted fields stay."""

    name: NotRequired[str]
    description: NotRequired[str]
    unit: NotRequired[str]


class CurveVersionCreate(TypedDict):
    """Newer measurements of the same application in the same configuration."""

    # `rate` falls with latency, `duration` grows; in CSV the header states it
    metric: NotRequired[Literal["rate", "duration"]]
    # `measured` latencies count from the smallest of them
    latency: NotRequired[Literal["added", "measured"]]
    # Performance without added latency; default: the rows at 0 µs
    baseline: NotRequired[float | None]
    # Origin of the measurements: machines, load, repeats, author
    source: NotRequired[str]
    rows: NotRequired[list[SampleRow] | None]
    csv: NotRequired[str | None]


class CurveVersionDetail(TypedDict):
    """Version with its samples and every candidate family; `stated` quotes published sources."""

    number: int
    source: str
    made_by: str | None
    created_at: str | None
    family: str
    formula: str | None
    reason: str
    baseline: float | None
    latency_offset_us: float
    threshold: ThresholdRead | None
    domain_us: float
    smallest: float
    band: BandRead
    noise: float | None
    rows: int | None
    warnings: list[CurveWarning]
    samples: list[SampleRead]
    candidates: list[CandidateRead]
    stated: list[StatedRead]


class CurveVersionRead(TypedDict):
    """Measurements and fit. For published curves, rows, noise, author and date are unknown.

    `family` of a published curve is its basis: `formula`, `points` or `bound`. Beyond `domain_us` the curve keeps
    its `smallest` value.
    """

    number: int
    source: str
    made_by: str | None
    created_at: str | None
    family: str
    formula: str | None
    reason: str
    baseline: float | None
    latency_offset_us: float
    threshold: ThresholdRead | None
    domain_us: float
    smallest: float
    band: BandRead
    noise: float | None
    rows: int | None
    warnings: list[CurveWarning]


class CurveWarning(TypedDict):
    """Warning about a curve."""

    code: str
    message: str


class Decision(TypedDict):
    """Reason of a decision."""

    reason: NotRequired[str]


class DelaySummaryRead(TypedDict):
    """Delays of a direction, or of the round trip. Null without any delay; `unknown`: packets of unknown fate."""

    measured: int
    lost: int
    unknown: int
    min_ns: int | None
    p50_ns: int | None
    p99_ns: int | None
    max_ns: int | None


Delivery: TypeAlias = Literal["email", "link"]
"""Way of an invitation: the product mails the link, or the inviting member passes it on."""


class DeliveryRead(TypedDict):
    """One notice to one receiver; `title` is that of its incident, null of a test.

    `held`: it waits until `due_at`, for others of its group or for a higher severity, or was sent with others.
    """

    id: str
    incident_id: str | None
    title: str | None
    receiver: str
    about: str
    state: DeliveryState
    attempts: int
    due_at: str
    sent_at: str | None
    answer: str | None
    created_at: str
    held: bool


DeliveryState: TypeAlias = Literal["waiting", "sent", "failed"]
"""State of a delivery. `waiting`: to be sent, or retried, at `due_at`."""


class Demonstration(TypedDict):
    """Demonstration that is being played."""

    chapter: Chapter
    observed: ObservedWork | None
    notified: Notified | None
    # Share of the last minute in which a program of its machine waited for a processor
    waiting_percent: float | None


class DemonstrationRead(TypedDict):
    """State of the demonstration; `playing` is null where none is played."""

    playing: Demonstration | None


class DetectionRead(TypedDict):
    """Windows from the start of a fault until the default rules fire, for any start. Null: no subject is measured.

    `never`: share of subjects that are not measured, so that their fault is not detected.
    """

    p90_windows: int | None
    worst_windows: int | None
    never: float


class DetectionsRead(TypedDict):
    """Detection of a fault of one path, of one VM, and between two zones."""

    path: DetectionRead
    vm: DetectionRead
    zone_pair: DetectionRead


class DeviationRead(TypedDict):
    """Deviation of a path's or zone pair's one-way p50 from its baseline; null where it is not known.

    A deviation is unusual beyond `dead_band_ns`: the largest of clock error, 5 µs and three spreads of the
    baseline.
    """

    source: Axis
    target: Axis
    state: StateName | Literal["no_baseline"]
    value_ns: int | None
    baseline_ns: int | None
    deviation_ns: int | None
    dead_band_ns: int | None
    clock_error_ns: int | None
    basis: Literal["same_hour", "last_day", "last_hour"] | None
    steps: int
    is_unusual: bool | None


class DeviationsRead(TypedDict):
    """Unusual paths or zone pairs, most dead bands away from their baseline first.

    Of `compared` current values with a baseline, `unusual` are listed up to the limit; `basis` counts their bases.
    `losing` paths lost 15 % of their packets or more; `losses` lists them, most first. In both lists, paths that
    share no VM and no pair of zones with a worse one come before the others.
    """

    mesh_id: str
    revision: int
    by: By
    window: Span
    compared: int
    unusual: int
    no_baseline: int
    basis: dict[str, int]
    items: list[UnusualRead]
    losing: int
    losses: list[LosingPath]


Direction: TypeAlias = Literal["sent", "received"]
"""Traffic that takes tokens: what the VM sends, or what it receives."""


class DirectionRead(TypedDict):
    """One direction of a path, or its round trip, in one window. Counts are null when unknown."""

    state: StateName
    count: int
    sent: int | None
    lost: int | None
    min_ns: int | None
    mean_ns: int | None
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    p999_ns: int | None
    max_ns: int | None
    sd_ns: float | None


class DistributionItem(TypedDict):
    """Distribution of the delays of a selection; without delays all fields but `count` are null."""

    selection: str
    title: str
    count: int
    min_ns: int | None
    mean_ns: int | None
    max_ns: int | None
    sd_ns: int | None
    quantiles_ns: dict[str, int | None]
    clock_error_ns: int | None
    bins: BinsRead


class DistributionRead(TypedDict):
    """Distributions of delays, ns."""

    mesh_id: str
    metric: Metric
    window: Span
    items: list[DistributionItem]


class Distributions(TypedDict):
    """Quantiles at every percent, as figures 6.6 to 6.9 of the source show them; empty without values."""

    solver_s: list[float]
    round_s: list[float]
    moved_share: list[float]
    placement_latency_s: list[float]
    response_s: list[float]


class DisturbanceRead(TypedDict):
    """Delays that the mesh measured in one direction: in the minute before, and while bytes were sent; null: none."""

    path: str
    before_p50_us: float | None
    before_p99_us: float | None
    during_p50_us: float | None
    during_p99_us: float | None


class DropZone(TypedDict):
    """Loss of a zone; its tasks wait."""

    kind: Literal["drop_zone"]
    # Name or id
    zone: str


Ecn: TypeAlias = Literal["marked", "not_marked", "bleached"]
"""ECN on the path (RFC 3168): switches mark; they do not; or a hop clears the field (bleached)."""


class EdgeRead(TypedDict):
    """Communication between two tasks."""

    source: str
    target: str
    weight: float


class EdgeWrite(TypedDict):
    """Communication between two tasks, by name, with its weight."""

    source: str
    target: str
    weight: NotRequired[float]


class EgressPriceWrite(TypedDict):
    """Price of a user's traffic, USD per GiB moved."""

    between_zones: float
    between_regions: float


class EmbedLinkCreate(TypedDict):
    """Link to create. A path has both VMs, other views have none."""

    # One line
    name: str
    view: EmbeddedView
    mesh_id: str
    source_vm_id: NotRequired[str | None]
    target_vm_id: NotRequired[str | None]
    # At most a year away; in 30 days when absent
    expires_at: NotRequired[str | None]


class EmbedLinkCreated(TypedDict):
    """New link. `token` is shown only once; the page is `/embed#token`."""

    name: str
    view: EmbeddedView
    mesh: EmbeddedMesh
    source_vm_id: str | None
    target_vm_id: str | None
    expires_at: str
    id: str
    prefix: str
    created_by: str
    created_at: str
    last_used_at: str | None
    token: str


class EmbedLinkRead(TypedDict):
    """Link without its token. `last_used_at` is exact to a minute."""

    name: str
    view: EmbeddedView
    mesh: EmbeddedMesh
    source_vm_id: str | None
    target_vm_id: str | None
    expires_at: str
    id: str
    prefix: str
    created_by: str
    created_at: str
    last_used_at: str | None


class EmbedRead(TypedDict):
    """The view that a link shows, for the page that shows it."""

    name: str
    view: EmbeddedView
    mesh: EmbeddedMesh
    source_vm_id: str | None
    target_vm_id: str | None
    expires_at: str


class EmbeddedMesh(TypedDict):
    """Mesh of a link."""

    id: str
    name: str
    window_s: int


EmbeddedView: TypeAlias = Literal["heatmap", "path", "overview"]
"""View that a link shows."""


class EnrolmentTokenCreate(TypedDict):
    """Enrolment token of a mesh."""

    mesh_id: str
    expires_in_s: NotRequired[int]
    max_uses: NotRequired[int]


class EnrolmentTokenCreated(TypedDict):
    """New enrolment token. `token` is shown only once; `command` enrols a VM that has the agent.

    `install_command` also installs the agent as a service; null when this installation offers no packages.
    """

    id: str
    mesh_id: str
    prefix: str
    expires_at: str
    max_uses: int
    uses: int
    created_at: str
    token: str
    command: str
    install_command: str | None


class EnrolmentTokenRead(TypedDict):
    """Enrolment token without its secret."""

    id: str
    mesh_id: str
    prefix: str
    expires_at: str
    max_uses: int
    uses: int
    created_at: str


class EpisodeRead(TypedDict):
    """A time at which an incident was seen. `ended_at` is null while it continues."""

    started_at: str
    ended_at: str | None


class EstimateRead(TypedDict):
    """Estimate with its interval."""

    value_ns: int
    low_ns: int
    high_ns: int


class EstimatesRead(TypedDict):
    """Estimates of paths without a window; null where nothing is estimated. All tables are [source][target].

    At least `coverage` of the delays lie between `low_ns` and `high_ns`, if those pairs were left out at random.
    `measured`: number of paths that they are computed from, 0 if those are too few.
    """

    coverage: float
    measured: int
    values_ns: list[list[int | None]]
    low_ns: list[list[int | None]]
    high_ns: list[list[int | None]]


class Evidence(TypedDict):
    """Windows, paths and noise behind a recommendation.

    The solver uses `chosen_on` windows; `judged_on` hold-out windows in `blocks` separated blocks of time give the
    gain, at least `gap_s` from the former. `shortage` is the reason if none could be held out. The newest window
    ended `age_s` before the request. `min_gain` is the least gain per move that exceeds measurement noise.
    """

    window: Span
    statistic: Percentile
    chosen_on: int
    judged_on: int
    blocks: int | None
    gap_s: int | None
    age_s: int | None
    shortage: str | None
    paths: int
    paths_known: int
    paths_assumed: int
    min_gain: float


class EvidenceExchange(TypedDict):
    """An exchange: ns from the start of the window, then the delays of both directions."""

    at_ns: int
    outbound_ns: int
    inbound_ns: int


class EvidenceIncident(TypedDict):
    """The incident. `ended_at` is null while it continues."""

    id: str
    title: str
    suspect: str
    severity: Severity
    rules: list[str]
    onset_at: str
    detected_at: str
    ended_at: str | None
    verdict: EvidenceVerdict


class EvidenceMesh(TypedDict):
    """The mesh: probing rate, length of a window, number of VMs."""

    id: str
    name: str
    rate_hz: int
    window_s: int
    vms: int


class EvidenceMethod(TypedDict):
    """Method of the measurement, and the standards it follows."""

    summary: str
    clocks: str
    statistics: str
    standards: list[str]


class EvidencePath(TypedDict):
    """An affected path before and during the incident; null where nothing is stored."""

    source: str
    target: str
    usual: EvidenceUsual | None
    before: EvidenceStatistics | None
    during: EvidenceStatistics | None


class EvidenceProduct(TypedDict):
    """The product that measured; `keys_url`: where the public keys of signatures are published."""

    name: Literal["Sinemora"]
    version: str
    keys_url: str


EvidenceRange = TypedDict(
    "EvidenceRange",
    {
        "from": "str",
        "to": "str",
    },
)
"""A range of time [from, to), UTC."""


class EvidenceReport(TypedDict):
    """Self-contained report of an incident. Of `affected_paths`, the worst are in `paths`; of spikes the largest."""

    format: Literal["sinemora-evidence/1"]
    product: EvidenceProduct
    method: EvidenceMethod
    mesh: EvidenceMesh
    incident: EvidenceIncident
    before: EvidenceRange
    during: EvidenceRange
    vms: list[EvidenceVm]
    affected_paths: int
    paths: list[EvidencePath]
    spikes: list[EvidenceSpike]


class EvidenceRoundTrip(TypedDict):
    """Round trips of a path, which need no clock in common."""

    count: int
    p50_ns: int | None
    p99_ns: int | None


class EvidenceSignature(TypedDict):
    """Signature of the report as canonical JSON (RFC 8785); `value` is base64, `key_id` names the public key."""

    algorithm: Literal["Ed25519"]
    canonicalization: Literal["RFC 8785"]
    key_id: str
    value: str


class EvidenceSpike(TypedDict):
    """A spike on an affected path, with the raw exchanges around it."""

    source: str
    target: str
    window_started_at: str
    window_s: int
    max_ns: int
    median_ns: int
    exchanges: list[EvidenceExchange]


class EvidenceStatistics(TypedDict):
    """Statistics of one direction. `loss_ppm`: lost packets per million sent; null where a count is unknown.

    `clock_error_ns`: the most that clocks may have added or subtracted. `asymmetry_source`: basis of the one-way
    delay.
    """

    count: int
    sent: int | None
    lost: int | None
    loss_ppm: int | None
    min_ns: int | None
    p50_ns: int | None
    p99_ns: int | None
    max_ns: int | None
    clock_error_ns: int | None
    asymmetry_source: Literal["assumed", "mesh", "hardware"] | None
    round_trip: EvidenceRoundTrip


class EvidenceUsual(TypedDict):
    """Usual median of a path before the incident: the median of `steps` stored steps."""

    p50_ns: int
    basis: Literal["same_hour", "last_day", "last_hour"]
    steps: int


class EvidenceVerdict(TypedDict):
    """The verdict on the incident, with the codes of its reasons."""

    kind: VerdictKind
    reasons: list[ReasonCode]


class EvidenceVm(TypedDict):
    """A VM at an end of a path; `address`: where it was probed."""

    id: str
    name: str
    address: str | None
    zone: EvidenceZone


class EvidenceZone(TypedDict):
    """A zone; `physical_id` is the provider's name for it, equal for every customer."""

    provider: str
    region: str
    name: str
    physical_id: str | None


class ExpectedRead(TypedDict):
    """Mean with its 95 % interval and its number of windows."""

    mean: float
    low: float
    high: float
    windows: int


ExportTable: TypeAlias = Literal["zones_1m", "vms_1m", "zones_15m", "vms_15m", "zones_1h", "vms_1h", "zones_1d", "vms_1d"]
"""Merged measurements by ends and step: between zones or VMs, by minute, quarter of an hour, hour or day."""


class FairnessEvidence(TypedDict):
    """Jain's index when the incident opened, its limit, and the members with the least shares, at most 12 of `count`.

    `path`: VMs of the path whose flows are members, of several the least even one; null of VMs and applications.
    """

    among: Among
    index: float
    below: float
    path: list[str] | None
    count: int
    members: list[ShareEvidence]


class FairnessImportCreate(TypedDict):
    """Table measured elsewhere, as CSV: `group`, `window`, and `throughput` of each flow, or `index` of the window."""

    csv: str


class FairnessImportRead(TypedDict):
    """Groups in the order of the table."""

    groups: list[GroupIndexRead]


class FairnessMember(TypedDict):
    """Share of one member; `relative` is it over the mean share."""

    name: str
    share: float
    relative: float


FairnessOf: TypeAlias = Literal["vms", "flows", "applications", "metric_sources"]
"""Those among which fairness is measured."""


class FairnessRead(TypedDict):
    """Jain's index over members with a share; `left_out` names those without. Null below two members.

    `share` says what a member's share is, with its unit.
    """

    mesh_id: str
    of: FairnessOf
    share: str
    started_at: str | None
    ended_at: str | None
    index: float | None
    alert_below: float
    below: bool | None
    members: list[FairnessMember]
    left_out: list[str]


class FindingRead(TypedDict):
    """Latest finding. `latency_us` holds the 5, 50 and 95 % quantiles of the paired round trips.

    `curve_number` is the version fitted to these pairs or, without new ones, to earlier ones.
    """

    state: Literal["waiting", "cannot_tell", "learnt"]
    reasons: list[sinemoraapplicationslearningschemasReasonRead]
    pairs: int
    latency_us: list[float] | None
    curve_number: int | None


class FiredRead(TypedDict):
    """Rule that fired, with its measurement.

    `transfer_saved` is the share of transfer time that the source measured, `job_saved` that of the whole job; null
    where it measured none. `is_available`: the kernel offers it; null if unknown or not needed.
    """

    rule: str
    part: Part
    condition: str
    measurement: str
    choice: str
    effect: str
    transfer_saved: float | None
    job_saved: float | None
    is_available: bool | None
    overridden_by: str | None


class FlowDirectionRead(TypedDict):
    """Delays of one source port in one direction; null without data."""

    count: int
    min_ns: int | None
    p50_ns: int | None


class FlowRead(TypedDict):
    """Source port of a path, numbered from 0. Equal-cost routing may choose another route for each."""

    flow: int
    outbound: FlowDirectionRead
    inbound: FlowDirectionRead


Flows: TypeAlias = Literal["all", "slowest"]
"""The source ports of a path that count: all of them together, or the slowest one of each direction."""


class ForecastRead(TypedDict):
    """Forecast: seconds until the bucket is empty at the use (null: never), until it is full at rest.

    `transfer_s`: seconds of the transfer at line rate from a full bucket; `safe_mbit`: the use that never empties
    it.
    """

    tokens_kb: float
    empty_in_s: float | None
    burst_mb: float | None
    full_in_s: float
    transfer_s: float | None
    safe_mbit: float


Format: TypeAlias = Literal["json", "csv", "ndjson", "arrow", "parquet", "binary"]
"""Format of a response. `binary` has the codes of a matrix; only matrices support it."""


class GainInterval(TypedDict):
    """Gain of performance with its 95 % interval."""

    mean: float
    low: float
    high: float


class GainRead(TypedDict):
    """Performance before and after, and the gain, for the next hour.

    `probability` that the gain exceeds the cost of the moves, within 0.005 … 0.995. `doubts` lower it: the age of
    the measurements, a gain that changed in the newest minutes.
    """

    before: ExpectedRead
    after: ExpectedRead
    gain: ExpectedRead
    probability: float
    doubts: list[str]


class GroupIndexRead(TypedDict):
    """Indices of a group, and their mean."""

    group: str
    mean: float | None
    windows: list[WindowIndexRead]


class HeaderAuthentication(TypedDict):
    """Custom header."""

    scheme: Literal["header"]
    name: str
    value: str


class HeatmapRead(TypedDict):
    """Paths around a culprit, [source][target]; null where unknown.

    `unit`: `deviations` in spreads from the baseline; `spikes`, the maximum minus the median, and `delay`, both ns;
    `loss`, a share. `ids`: the VMs, empty before they were recorded. `changes_ns`: one-way delays minus their
    baselines; null without any baseline.
    """

    ids: list[str]
    names: list[str]
    unit: Literal["deviations", "loss", "spikes", "delay"]
    values: list[list[float | None]]
    changes_ns: list[list[int | None]] | None


class HourRead(TypedDict):
    """One hour of the profile."""

    load_per_s: float
    vms: int
    serverless_per_s: float
    cost: float


class HypothesisRead(TypedDict):
    """A culprit with its evidence: of `known` paths in its set, `bad` look bad.

    `explained`: number of affected paths in its set; null of incidents before it was recorded.
    """

    suspect: str
    at: CulpritPlace | None
    other: CulpritPlace | None
    words: str
    score: float
    bad: int
    known: int
    explained: int | None


class ImpactPath(TypedDict):
    """An affected path: its value when the incident last grew, the usual one, and the limit of the rule."""

    source: CulpritPlace
    target: CulpritPlace
    value: float | None
    usual: float | None
    limit: float | None


class ImpactRead(TypedDict):
    """Affected paths by the metric of the rule that fires on most of them, in ns or as ratios.

    `value` and `usual` are medians over the paths; `worst`: those with the largest change, at most 12. Of a spike,
    `usual` is the median of the window.
    """

    rule: str
    kind: Kind
    metric: Metric
    statistic: Statistic
    value: float | None
    usual: float | None
    worst: list[ImpactPath]


class IncidentRead(TypedDict):
    """An incident with its evidence, affected applications, timeline and similar incidents."""

    id: str
    mesh: MeshName
    state: IncidentState
    severity: Severity
    title: str
    culprit: CulpritRead
    paths: int
    rules: list[str]
    onset_at: str
    opened_at: str
    seen_at: str
    ended_at: str | None
    timescale: Literal["short", "long"]
    assignee: str | None
    silenced_by: str | None
    merged_into: str | None
    # How it recurs; null if it was seen once
    recurrence: RecurrenceRead | None
    # Time of detection, if the incident was found in late data
    found_late_at: str | None
    version: int
    evidence: sinemoraalertsincidentsschemasEvidenceRead
    verdict: VerdictRead
    runbooks: list[Runbook]
    applications: list[AffectedRead]
    # The newest 100 times at which it was seen, oldest first; empty of incidents before this was kept
    episodes: list[EpisodeRead]
    timeline: list[TimelineEntry]
    # Earlier incidents of 30 days with the same suspect or most of the same paths, newest first
    similar: list[IncidentSummary]


IncidentState: TypeAlias = Literal["open", "acknowledged", "resolved"]
"""State set by people: `open`, `acknowledged` (someone works on it), `resolved`."""


class IncidentSummary(TypedDict):
    """An incident as an item of a list. Of one that recurs, `onset_at` and `opened_at` are those of the last time."""

    id: str
    mesh: MeshName
    state: IncidentState
    severity: Severity
    title: str
    culprit: CulpritRead
    paths: int
    rules: list[str]
    onset_at: str
    opened_at: str
    seen_at: str
    ended_at: str | None
    timescale: Literal["short", "long"]
    assignee: str | None
    silenced_by: str | None
    merged_into: str | None
    # How it recurs; null if it was seen once
    recurrence: RecurrenceRead | None
    # Time of detection, if the incident was found in late data
    found_late_at: str | None
    version: int


Interval: TypeAlias = Literal["1m", "10m", "1h", "1d"]
"""Interval of counting."""


class InvitationRead(TypedDict):
    """Invitation without its secret. `mail_state` and `mail_answer` are null when no mail was sent.

    `meshes`: those that the person will see, null for all.
    """

    id: str
    email: str
    role: Role
    meshes: list[VisibleMesh] | None
    delivery: Delivery
    state: InvitationState
    invited_by: str
    created_at: str
    sent_at: str
    expires_at: str
    mail_state: MailState | None
    mail_answer: str | None


InvitationState: TypeAlias = Literal["pending", "expired", "accepted", "revoked"]
"""State of an invitation."""


class JobOutput(TypedDict):
    """Output file of a job; download it from `href`."""

    href: str
    name: str
    media_type: str
    size_bytes: int


class JobProblem(TypedDict):
    """Failure of a job as problem details (RFC 9457), with further members for programs."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    instance: str


class JobRead(TypedDict):
    """Job. `progress` is 0 … 1, null while unknown; `note` names the current step.

    `result_href` is the resource that a succeeded job has made, or its file, or its `result`.
    """

    id: str
    kind: str
    title: str
    queue: Queue
    state: JobState
    progress: float | None
    note: str
    attempt: int
    cancel_requested: bool
    requested_by: str
    params: dict[str, Any]
    result: dict[str, Any] | None
    result_href: str | None
    problem: JobProblem | None
    output: JobOutput | None
    created_at: str
    started_at: str | None
    finished_at: str | None
    kept_until: str | None


JobState: TypeAlias = Literal["queued", "running", "succeeded", "failed", "cancelled"]
"""State of a job; the last three are final."""


JudgedBy: TypeAlias = Literal["metric", "delays", "both"]
"""Measurement behind a verdict. metric: the application's own metric. delays: measured delays through its curve, which
cannot show that the curve is wrong. both: some applications by the one, some by the other.
"""


class KeyOwner(TypedDict):
    """Person to whom a key belongs."""

    id: str
    email: str


Kind: TypeAlias = Literal["threshold", "baseline", "loss", "spike", "silent", "performance", "tokens", "fairness"]
"""Comparison of a rule: a value with a number, a value with the baseline of its path, the packets lost over many
windows with a ratio, the largest delay of a window with its median, an agent's last report with the clock, an
application's predicted performance with its objective, the time until the token bucket of a VM is empty with a
limit, or the fairness of the shares of VMs, applications or flows with a limit.
"""


class LatencyBudgetItem(TypedDict):
    """Latency budget of a selection; of several paths, each figure is the lower median over the `paths` with delays.

    Without delays the figures are null. `base_verdict` compares the base delay, without propagation where that is
    known, with the sum of `reference`. `provider` and `path_class` are null where zones of several pairs are
    selected. `published` lists the traces of that provider and class; it is empty where nothing was published.
    """

    selection: str
    title: str
    paths: int
    count: int
    clock_error_ns: int | None
    separation: Separation | None
    base: PartsRead | None
    p50: PartsRead | None
    p99: PartsRead | None
    base_verdict: sinemorameasurementslatencybudgetreferenceVerdict | None
    provider: str | None
    path_class: PathClass | None
    published: list[PublishedTrace]


class LatencyBudgetsRead(TypedDict):
    """Latency budgets of selections, ns."""

    mesh_id: str
    metric: Metric
    window: Span
    distance_km: float | None
    reference: list[sinemorameasurementsquerylatencybudgetsreadReferenceRead]
    reference_source: str
    published_source: str
    items: list[LatencyBudgetItem]


class LearningRead(TypedDict):
    """How much the alerts of a mesh have learnt. Rules count a path only after it was measured for `settling_s`.

    `settling_paths` are younger: `settled_s` is their median age. `unlearnt_paths` have no baseline yet, which
    takes `baseline_s` of measurements: their median is `learnt_s`. Until then only fixed limits are checked on
    them.
    """

    settling_paths: int
    settled_s: int
    settling_s: int
    unlearnt_paths: int
    learnt_s: int
    baseline_s: int


Level: TypeAlias = Literal["empty", "full", "draining", "filling", "steady"]
"""State of a bucket: empty with a use at its rate or above, full, draining, filling, or neither."""


class LinkPerformance(TypedDict):
    """Performance of one link: round trip (ns, null while unknown), state and performance."""

    source: str
    target: str
    weight: float
    state: StateName
    round_trip_ns: int | None
    performance: float | None
    low: float | None
    high: float | None
    extrapolated: bool


class ListedPrice(TypedDict):
    """List price of a provider, USD per GiB moved."""

    provider: str
    between_zones: float
    between_regions: float
    source: str


class LosingPath(TypedDict):
    """Path or zone pair with the share of packets that it lost in its newest window."""

    source: Axis
    target: Axis
    loss: float


class LossItem(TypedDict):
    """Loss of a selection: packets by interval, and the distribution of ratios over paths and intervals."""

    selection: str
    title: str
    sent: list[int | None]
    lost: list[int | None]
    ratio: list[float | None]
    sent_total: int | None
    lost_total: int | None
    ratio_total: float | None
    path_intervals: int
    lossless_share: float | None
    ratio_p50: float | None
    ratio_p99: float | None
    ratio_max: float | None


class LossRead(TypedDict):
    """Loss by `interval`."""

    mesh_id: str
    interval: Interval
    window: Span
    points_at: list[str]
    items: list[LossItem]


MailState: TypeAlias = Literal["waiting", "sent", "failed"]
"""State of a mail: it waits for the server, the server took it, or it was given up."""


class ManifestResult(TypedDict):
    """Result of a manifest import: names of created, updated and unchanged applications."""

    created: list[str]
    changed: list[str]
    unchanged: list[str]


class ManySeriesRead(TypedDict):
    """Time series of selections; `points_at` are the starts of the steps of `resolution_s` seconds."""

    mesh_id: str
    metric: Metric
    unit: Literal["ns", "ratio"]
    window: Span
    resolution_s: int
    points_at: list[str]
    items: list[SeriesItem]


class Matcher(TypedDict):
    """A label of incidents and the value it must have; * in `value` matches anything."""

    label: Literal["mesh", "severity", "suspect", "rule", "vm", "zone", "application"]
    value: str
    negate: NotRequired[bool]


class MatrixRead(TypedDict):
    """Matrix in the order of the mesh's roster; all tables are [source][target].

    `more` contains the values of further statistics; states and errors are those of the first. `baseline` is null
    for all metrics but `deviation`. `estimates` is null unless asked for; estimated paths have no value and the
    state `estimated`.
    """

    mesh_id: str
    revision: int
    by: By
    metric: Metric | Literal["deviation"]
    statistic: Statistic
    unit: Literal["ns", "ratio"]
    window: Span
    axis: list[Axis]
    values: list[list[float | None]]
    more: dict[str, list[list[float | None]]]
    clock_error_ns: list[list[int | None]]
    asymmetry_sources: list[list[Literal["assumed", "mesh", "hardware"] | None]]
    states: list[list[StateName | Literal["no_baseline"]]]
    baseline: BaselineMatrix | None
    estimates: EstimatesRead | None


class MeasuredCapacity(TypedDict):
    """Capacity of a host in one direction, Gbit/s. The plan counts it where it is below the entered one."""

    host: str
    direction: Direction
    gbit: float
    source: CapacitySource


class MeasuredCost(TypedDict):
    """Cost of a path or a pair of zones now and with added latency.

    `state` is the reason if `now` and `then` are null. `percentiles_ns` are the round trips at 0 … 100 %. `change`
    is then / now − 1.
    """

    mesh_id: str
    by: By
    source: Axis
    target: Axis
    state: StateName
    window: Span
    count: int
    percentiles_ns: list[int] | None
    excess_us: float | None
    now: PerformanceRead | None
    then: PerformanceRead | None
    change: float | None


class MeasuredRead(TypedDict):
    """Figures of the lab under a profile. `ratio`: p99 over that under the profile `interference`."""

    count: int
    per_s: float
    mb_per_s: float | None
    p50_us: float | None
    p95_us: float | None
    p99_us: float | None
    p999_us: float | None
    ratio: float | None
    tail_found: bool
    tail_evidence: str


Mechanism: TypeAlias = Literal["policer", "shaper"]
"""Treatment of packets beyond the bucket: dropped, or delayed in a queue (and dropped once it is full)."""


class MemberRead(TypedDict):
    """Member of the tenant: a person and their role. `name` is empty for a person who has given none.

    `meshes`: those that the person sees, null for all; only those that the caller sees too.
    """

    id: str
    email: str
    name: str
    role: Role
    meshes: list[VisibleMesh] | None
    created_at: str


class MeshCreate(TypedDict):
    """Mesh: `rate_hz` exchanges per second and flow, summarised in windows of `window_s` seconds.

    `strategy` decides which pairs are measured in which window: `full`, every pair in every window; `zones`,
    between zones only their representatives, which rotate; `sparse`, every pair once in `period_windows` and every
    pair of zones in every window; `event`, as `sparse` and the paths of open incidents in every window.
    """

    name: str
    window_s: NotRequired[int]
    rate_hz: NotRequired[Literal[1, 2, 4, 8, 16, 32, 64, 128]]
    flows: NotRequired[int]
    # Excess over a window's median from which agents keep the exchanges of a spike, ns
    spike_threshold_ns: NotRequired[int]
    # Time after which an exchange without a response is lost
    loss_deadline_ms: NotRequired[int]
    strategy: NotRequired[StrategyKind]
    # Windows until the plan repeats; `full` ignores it
    period_windows: NotRequired[int]
    # VMs that represent a zone in a window; only for `zones`
    representatives: NotRequired[int]


class MeshHealth(TypedDict):
    """Health of a mesh, from the newest window of each path."""

    id: str
    name: str
    vms: int
    zones: list[RosterZone]
    # End of the newest window
    ended_at: str | None
    paths: PathCounts
    # Share of the packets of current windows that were lost
    loss: float | None
    agents: AgentCounts
    open_incidents: int
    # Most severe first, causes before effects
    worst_incidents: list[OpenIncident]
    # Incidents of the last 24 h, newest first
    recent_incidents: list[RecentIncident]
    last_incident_ended_at: str | None
    # Number of enabled alert rules
    alert_rules: int
    # Start of uninterrupted evaluation of alert rules
    evaluated_since: str | None
    evaluated_until: str | None
    learning: LearningRead
    proposed: ProposedMoves | None


class MeshName(TypedDict):
    """A mesh by name."""

    id: str
    name: str


class MeshRead(TypedDict):
    """Mesh: VMs that probe one another. `revision` rises with every change of roster or plan."""

    id: str
    key: int
    name: str
    window_s: int
    rate_hz: int
    flows: int
    spike_threshold_ns: int
    loss_deadline_ms: int
    strategy: StrategyKind
    period_windows: int
    representatives: int
    revision: int
    vm_count: int
    version: int
    created_at: str


class MeshUpdate(TypedDict):
    """Changes to a mesh. Omitted fields do not change."""

    name: NotRequired[str]
    window_s: NotRequired[int]
    rate_hz: NotRequired[Literal[1, 2, 4, 8, 16, 32, 64, 128]]
    flows: NotRequired[int]
    # Excess over a window's median from which agents keep the exchanges of a spike, ns
    spike_threshold_ns: NotRequired[int]
    # Time after which an exchange without a response is lost
    loss_deadline_ms: NotRequired[int]
    strategy: NotRequired[StrategyKind]
    # Windows until the plan repeats; `full` ignores it
    period_windows: NotRequired[int]
    # VMs that represent a zone in a window; only for `zones`
    representatives: NotRequired[int]


Metric: TypeAlias = Literal["one_way_delay", "round_trip", "asymmetry", "loss", "clock_error", "jitter"]
"""A measured quantity of a path. All but loss are in nanoseconds."""


class MetricPathRead(TypedDict):
    """Path with the names of its ends."""

    source_vm_id: str
    target_vm_id: str
    source_name: str
    target_name: str


class MetricPathWrite(TypedDict):
    """Path the application waits for: two VMs of the mesh."""

    source_vm_id: str
    target_vm_id: str


class MetricPointWrite(TypedDict):
    """Value of the metric; values of one minute are averaged, a later request for that minute replaces it."""

    at: str
    value: float


class MetricPointsCreate(TypedDict):
    """Values in any order."""

    points: list[MetricPointWrite]


class MetricPointsRead(TypedDict):
    """Number of minutes stored."""

    stored: int


class MetricSourceCreate(TypedDict):
    """Metric source. `curve_id` is a tenant's curve to refresh; without it a new curve is created."""

    name: str
    mesh_id: str
    paths: list[MetricPathWrite]
    # Application of the same mesh; its metric judges moves that were applied to it
    application_id: NotRequired[str | None]
    curve_id: NotRequired[str | None]
    # `rate` falls with latency, `duration` grows
    metric: NotRequired[Literal["rate", "duration"]]
    unit: NotRequired[str]
    kind: NotRequired[Literal["push", "prometheus"]]
    # Of a Prometheus HTTP API, without /api/v1
    url: NotRequired[str | None]
    query: NotRequired[str | None]
    authentication: NotRequired[BearerAuthentication | BasicAuthentication | HeaderAuthentication | None]
    # Minimum hours between curve versions
    refresh_hours: NotRequired[int]


class MetricSourceRead(TypedDict):
    """Metric source with its read progress and its finding."""

    id: str
    name: str
    mesh_id: str
    application_id: str | None
    curve_id: str | None
    metric: Literal["rate", "duration"]
    unit: str
    kind: Literal["push", "prometheus"]
    url: str | None
    query: str | None
    authentication: Literal["bearer", "basic", "header"] | None
    refresh_hours: int
    paused: bool
    paths: list[MetricPathRead]
    created_at: str
    updated_at: str
    read_at: str | None
    read_error: str | None
    judged_at: str | None
    learnt_at: str | None
    finding: FindingRead


class MetricSourceUpdate(TypedDict):
    """Update of a metric source; omitted fields stay. `application_id` null removes it.

    `authentication` null removes it. A new server in `url` also removes it unless given again: a secret is never
    sent to a server it was not entered for.
    """

    name: NotRequired[str]
    paths: NotRequired[list[MetricPathWrite]]
    # Application of the same mesh; its metric judges moves that were applied to it
    application_id: NotRequired[str | None]
    url: NotRequired[str]
    # PromQL whose result is one series
    query: NotRequired[str]
    authentication: NotRequired[BearerAuthentication | BasicAuthentication | HeaderAuthentication | None]
    # Minimum hours between curve versions
    refresh_hours: NotRequired[int]
    paused: NotRequired[bool]


class MetricTailRead(TypedDict):
    """Tail of a metric source by its minutes of the range."""

    found: bool
    evidence: str
    share: float | None
    mean_cost_ms: float | None
    metric_source_id: str
    name: str
    minutes: int
    started_at: str
    ended_at: str


class MissingBlocks(TypedDict):
    """Blocks that the tenant has not stored."""

    missing: list[str]


class MoveCostRead(TypedDict):
    """Cost to bring an artifact to a VM: `moved_bytes` are of blocks that it does not hold, `share` of the file.

    `source` is the VM that it comes from, null for the backend; `words` says it in a sentence.
    """

    source: str | None
    target: str
    size_bytes: int
    moved_bytes: int
    share: float
    rate_mbit: float
    seconds: float
    words: str


class MoveEndpoint(TypedDict):
    """VM with its location and hourly price."""

    id: str
    name: str
    zone: str
    host: str | None
    price_per_hour: float | None


class MoveRead(TypedDict):
    """Move of one task, in execution order, with its evidence. Round trips lead to the root or to the neighbours.

    A waiting task has no `source` and performs nothing until it starts. `gain` is null where no window has all its
    links. `bringing` is null unless the request names an artifact for the application.
    """

    position: int
    group: int
    application: Named
    task: Named
    source: MoveEndpoint | None
    target: MoveEndpoint
    via: Named | None
    gain: GainRead | None
    round_trip_before_ns: int | None
    round_trip_after_ns: int
    slot_price: float | None
    makes_room: list[str]
    runner_up: RunnerUp | None
    slack_us: float | None
    disturbs: list[str]
    bringing: MoveCostRead | None
    explanation: str
    rollback: str


class Mover(TypedDict):
    """Path or pair of zones with its change. `beyond_clock_error`: the change exceeds the clock error."""

    source: Axis
    target: Axis
    value: float
    base_value: float
    difference: float
    percent: float | None
    clock_error_ns: int | None
    beyond_clock_error: bool | None


class MoversRead(TypedDict):
    """Paths in descending order of change; `compared` is the number of paths with values in both ranges."""

    mesh_id: str
    by: By
    metric: Metric
    statistic: Statistic
    unit: Literal["ns", "ratio"]
    window: Span
    base_window: Span
    compared: int
    items: list[Mover]


class Named(TypedDict):
    """Object with a name."""

    id: str
    name: str


class NetworkArc(TypedDict):
    """Arc of the solved flow network. Nodes: T tasks, U unscheduled, X cluster, R racks (hosts), M machines (VMs), S
    sink.

    A unit of flow is a task; its `cost` is 100 / performance, rounded.
    """

    tail: str
    head: str
    capacity: int
    cost: int
    flow: int


class NoServiceRead(TypedDict):
    """Why the IEEE 1588 responder of a path has no service for its client, as the agent reported it.

    `reason`: `refused`, `domain`, `closed`, `unreachable`, `silent`, `no_announce`, `authentication` or `ports`.
    """

    reason: str
    message: str
    reported_at: str


class NomoraParameters(TypedDict):
    """Parameters of the published policy in a simulation."""

    # Cost up to which a machine is preferred
    p_m: NotRequired[int]
    # Cost up to which a rack is preferred
    p_r: NotRequired[int]
    # Cost of a waiting task per second (omega)
    omega: NotRequired[float]
    # Cost of a waiting task (gamma)
    gamma: NotRequired[int]
    # Discount of a task's machine per second of its run (beta)
    beta: NotRequired[float]
    # One node per job; the optimum is the same
    aggregate: NotRequired[bool]


class Note(TypedDict):
    """A person's note."""

    text: NotRequired[str]


class Notified(TypedDict):
    """Notification that the demonstration's receiver got."""

    at: str
    title: str


Objective: TypeAlias = Literal["slowdown", "loss", "fair", "worst_first"]
"""Objective of a plan, summed over tasks and minimised."""


class ObservedWork(TypedDict):
    """Requests per second that one connection of an application reaches now, and what is usual in the story."""

    application: str
    now_per_s: float
    usual_per_s: float


class OnDemandCreate(TypedDict):
    """Measurement of one pair to start now: `rate_hz` exchanges per second over all source ports, for `duration_s`."""

    mesh_id: str
    source_vm_id: str
    target_vm_id: str
    rate_hz: NotRequired[Literal[1, 2, 4, 8, 16, 32, 64, 128]]
    duration_s: NotRequired[int]
    source_ports: NotRequired[Literal[1, 2, 4, 8, 16, 32, 64]]
    # Send ECN-capable packets and count their marks
    ecn: NotRequired[bool]
    # Send packets in pairs and compare their order
    reordering: NotRequired[bool]


class OnDemandPathRead(TypedDict):
    """Distinct path of a direction with its source ports: base delay (first quartile), excess over the fastest path.

    `lossy`: it loses more packets than the other paths do, beyond chance.
    """

    ports: list[int]
    base_ns: int
    slower_by_ns: int
    sent: int
    lost: int
    lossy: bool


class OnDemandRead(TypedDict):
    """Measurement of one pair on demand. Its first request leaves at `starts_at`, its last one before `ends_at`."""

    id: str
    mesh_id: str
    source: PathEnd
    target: PathEnd
    rate_hz: int
    source_ports: int
    ecn: bool
    reordering: bool
    starts_at: str
    ends_at: str
    stopped_at: str | None
    requested_by: str
    created_at: str
    status: OnDemandStatus
    seconds: int


class OnDemandResult(TypedDict):
    """Measurement with its seconds so far, oldest first, and their sum.

    With several source ports, the distinct paths of each direction, fastest first. Their number is a lower bound,
    since paths of equal delay look like one. A path needs 20 delays of each port. Probes are null unless the
    measurement asked for `ecn` or `reordering`.
    """

    id: str
    mesh_id: str
    source: PathEnd
    target: PathEnd
    rate_hz: int
    source_ports: int
    ecn: bool
    reordering: bool
    starts_at: str
    ends_at: str
    stopped_at: str | None
    requested_by: str
    created_at: str
    status: OnDemandStatus
    seconds: int
    windows: list[OnDemandSecond]
    outbound: DelaySummaryRead
    inbound: DelaySummaryRead
    round_trip: DelaySummaryRead
    outbound_paths: list[OnDemandPathRead]
    inbound_paths: list[OnDemandPathRead]
    outbound_probes: PathProbesRead | None
    inbound_probes: PathProbesRead | None


class OnDemandSecond(TypedDict):
    """Second of a measurement: `outbound` is from source to target. `clock_error_ns` bounds the error of its delays."""

    started_at: str
    sent: int
    outbound: DelaySummaryRead
    inbound: DelaySummaryRead
    round_trip: DelaySummaryRead
    clock_error_ns: int | None


OnDemandStatus: TypeAlias = Literal["waiting", "running", "completed", "stopped", "no_data"]
"""`waiting`: no second has arrived; `running`; `completed`; `stopped` by a person; `no_data`: none arrived."""


class OneWayRead(TypedDict):
    """One direction of a path. Its error is at most `clock_error_ns`, also without synchronised clocks.

    `asymmetry_source`: `assumed` means that the estimate of the clock offset takes the fastest exchange as
    symmetric, `mesh` that the loops of the mesh corrected it, `hardware` that both ends have hardware clocks.
    """

    state: StateName
    count: int
    sent: int | None
    lost: int | None
    min_ns: int | None
    mean_ns: int | None
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    p999_ns: int | None
    max_ns: int | None
    sd_ns: float | None
    clock_error_ns: int | None
    asymmetry_source: Literal["assumed", "mesh", "hardware"]


class OneWaySeries(TypedDict):
    """Values by step; null without data."""

    delay_ns: list[int | None]
    clock_error_ns: list[int | None]
    loss: list[float | None]


class OpenIncident(TypedDict):
    """An unresolved incident with the applications it affects."""

    id: str
    severity: Severity
    state: IncidentState
    title: str
    culprit: CulpritRead
    paths: int
    onset_at: str
    seen_at: str
    recurrence: RecurrenceRead | None
    applications: list[AffectedRead]


Operation: TypeAlias = Literal["read", "update", "insert", "scan", "read-mod-write", "fetch"]
"""Operation of a client; a read-modify-write reads a record, then updates it."""


Optimality: TypeAlias = Literal["optimal", "bounded", "heuristic"]
"""optimal: proven, no placement is better. bounded: `gap` is proven. heuristic: nothing is proven."""


class OptimalityRead(TypedDict):
    """Proof of the chosen placement, on exact curves at the round trips of the training windows, within all limits.

    `gap`: no placement is better by more, in mean performance of links (objective slowdown: in mean 1 /
    performance); a move counts with its minimum gain. Null if heuristic.
    """

    state: Optimality
    gap: float | None
    words: str


class OptionRead(TypedDict):
    """Change of VMs for an application, with its gain and price.

    swap: two tasks exchange VMs. recreate: a VM is created again in a zone, or near the VMs of a host.
    over_allocate: rent `count` more VMs in a zone, keep the best and return the others after an hour. `draws`:
    measured VMs there that represent new ones.
    """

    kind: Literal["swap", "recreate", "over_allocate"]
    tasks: list[Named]
    zone: str | None
    host: str | None
    count: int
    gain: GainRead
    draws: int
    price_change_per_hour: float | None
    price_once: float | None
    words: str


class OptionsRead(TypedDict):
    """Options for an application other than moves, the best first. `untried`: what was left out of a large one."""

    application: Named
    window: Span
    options: list[OptionRead]
    untried: list[str]


Order: TypeAlias = Literal["absolute", "percent"]
"""Order of movers: by difference or by percentage."""


OriginInput: TypeAlias = Literal["published", "own"]
"""Origin of a curve: published by others, or measured by the tenant."""


class OtherIncidentRead(TypedDict):
    """An incident of the network at the same time, and what an application loses on its paths (a share of its best)."""

    id: str
    title: str
    application: str
    cost: float


class OutdatedAgent(TypedDict):
    """An agent of an older version."""

    vm: Named
    agent_version: str


class OutdatedAgents(TypedDict):
    """Agents older than the newest version in use."""

    newest: str | None
    count: int
    first: list[OutdatedAgent]


class OverviewRead(TypedDict):
    """Health of all meshes, and what needs attention."""

    meshes: list[MeshHealth]
    attention: Attention


class OwnTenantRead(TypedDict):
    """Tenant of the caller and the caller's role in it. `deletion_at` is set while its deletion is requested."""

    id: str
    key: int
    name: str
    role: Role
    is_current: bool
    deletion_at: str | None


class OwnTenants(TypedDict):
    """Tenants of the caller by name. `may_create`: the operator lets people create tenants."""

    items: list[OwnTenantRead]
    may_create: bool


PacketPolicy: TypeAlias = Literal["fcfs", "ps", "las", "srpt", "pbs", "d_tail_blind", "d_tail_aware", "tcp", "dctcp", "dctcp_d_tail_blind", "dctcp_d_tail_aware", "pfabric_las", "pfabric", "pfabric_d_tail_blind", "pfabric_d_tail_aware", "homa", "homa_d_tail_aware"]
"""Order in which a link sends packets; then transports of a leaf-spine network, simplified, with their orders."""


class PacketTreatmentRead(TypedDict):
    """Verdict of a comparison with its evidence and explanation; `share`: that of the preferred class delivered."""

    verdict: sinemoraadvisorsshapingcoretreatmentVerdict
    evidence: str
    explanation: str
    share: float | None


class PageAgentEventRead(TypedDict):
    """PageAgentEventRead."""

    items: list[AgentEventRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageAgentRead(TypedDict):
    """PageAgentRead."""

    items: list[AgentRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageAnnotationRead(TypedDict):
    """PageAnnotationRead."""

    items: list[AnnotationRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageApiKeyRead(TypedDict):
    """PageApiKeyRead."""

    items: list[ApiKeyRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageApplicationRead(TypedDict):
    """PageApplicationRead."""

    items: list[ApplicationRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageArtifactRead(TypedDict):
    """PageArtifactRead."""

    items: list[ArtifactRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageAuditEntryRead(TypedDict):
    """PageAuditEntryRead."""

    items: list[AuditEntryRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageBucketExportRead(TypedDict):
    """PageBucketExportRead."""

    items: list[BucketExportRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageBulkRunSummary(TypedDict):
    """PageBulkRunSummary."""

    items: list[BulkRunSummary]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageCurveRead(TypedDict):
    """PageCurveRead."""

    items: list[CurveRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageCurveVersionRead(TypedDict):
    """PageCurveVersionRead."""

    items: list[CurveVersionRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageDeliveryRead(TypedDict):
    """PageDeliveryRead."""

    items: list[DeliveryRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageEmbedLinkRead(TypedDict):
    """PageEmbedLinkRead."""

    items: list[EmbedLinkRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageEnrolmentTokenRead(TypedDict):
    """PageEnrolmentTokenRead."""

    items: list[EnrolmentTokenRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageIncidentSummary(TypedDict):
    """PageIncidentSummary."""

    items: list[IncidentSummary]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageInvitationRead(TypedDict):
    """PageInvitationRead."""

    items: list[InvitationRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageJobRead(TypedDict):
    """PageJobRead."""

    items: list[JobRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageMemberRead(TypedDict):
    """PageMemberRead."""

    items: list[MemberRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageMeshRead(TypedDict):
    """PageMeshRead."""

    items: list[MeshRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageMetricSourceRead(TypedDict):
    """PageMetricSourceRead."""

    items: list[MetricSourceRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageOnDemandRead(TypedDict):
    """PageOnDemandRead."""

    items: list[OnDemandRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PagePinRead(TypedDict):
    """PagePinRead."""

    items: list[PinRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PagePriceListRead(TypedDict):
    """PagePriceListRead."""

    items: list[PriceListRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageReceiverRead(TypedDict):
    """PageReceiverRead."""

    items: list[ReceiverRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageRecommendationSummary(TypedDict):
    """PageRecommendationSummary."""

    items: list[RecommendationSummary]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageRuleRead(TypedDict):
    """PageRuleRead."""

    items: list[RuleRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageSavedViewRead(TypedDict):
    """PageSavedViewRead."""

    items: list[SavedViewRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageScenarioRead(TypedDict):
    """PageScenarioRead."""

    items: list[ScenarioRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageSilenceRead(TypedDict):
    """PageSilenceRead."""

    items: list[SilenceRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageSimulationRead(TypedDict):
    """PageSimulationRead."""

    items: list[SimulationRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageSpikeRead(TypedDict):
    """PageSpikeRead."""

    items: list[SpikeRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageTokenBucketRead(TypedDict):
    """PageTokenBucketRead."""

    items: list[TokenBucketRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageVmRead(TypedDict):
    """PageVmRead."""

    items: list[VmRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PageZoneRead(TypedDict):
    """PageZoneRead."""

    items: list[ZoneRead]
    # Cursor of the next page; null on the last one
    next_cursor: str | None


class PairsRead(TypedDict):
    """Minutes with both numbers, oldest first."""

    points_at: list[str]
    latency_us: list[float]
    value: list[float]


class ParetoPoint(TypedDict):
    """Best gain for a number of moves; `positions` refer to `steps`."""

    moves: int
    expected: GainRead | None
    positions: list[int]


Part: TypeAlias = Literal["encryption", "transport", "schedule", "host"]
"""Part of the advice that a rule decides about."""


class PartsRead(TypedDict):
    """Delay and its shares, which add up to `delay_ns` exactly."""

    delay_ns: int
    low_ns: int
    high_ns: int
    shares: list[ShareRead]


class PathApplication(TypedDict):
    """Application with links over one path. `cost`: the part of its predicted loss of performance they cause.

    The costs of all paths of an application add up to 1 - `performance`; null while unknown.
    """

    id: str
    name: str
    path_links: int
    links: int
    performance: float | None
    cost: float | None
    objective: float | None
    below_objective: bool | None


class PathApplications(TypedDict):
    """Applications with links between two VMs in either direction, highest cost first."""

    window: Span
    items: list[PathApplication]


PathClass: TypeAlias = Literal["same_zone", "between_zones", "between_regions", "between_providers"]
"""Places of the ends of a path, relative to one another."""


class PathCosts(TypedDict):
    """Costs of selections of paths, in the order of the request."""

    window: Span
    items: list[SelectionCost]


class PathCounts(TypedDict):
    """Planned paths by the state of their newest window. `lost`: every packet of it was lost.

    `no_service`: an end is an IEEE 1588 responder that serves nothing; such a path is neither stale nor without
    data.
    """

    planned: int
    measured: int
    lost: int
    stale: int
    no_data: int
    no_service: int


class PathEnd(TypedDict):
    """VM at one end of a path."""

    id: str
    name: str
    zone_name: str


class PathEstimate(TypedDict):
    """Estimated one-way delays (p50) of a path that is not measured; see `EstimatesRead`."""

    coverage: float
    measured: int
    outbound: EstimateRead | None
    inbound: EstimateRead | None


class PathMixRead(TypedDict):
    """Mix for one path.

    `budget_ms` is the target less both one-way delays. `difference_per_hour` is the cost of the best mix minus that
    of the first path; null where either is not possible. `reason` says why there is no mix.
    """

    label: str
    outbound_us: float
    inbound_us: float
    statistic: str | None
    budget_ms: float
    serverless_response_ms: float | None
    best: str | None
    reason: str | None
    options: list[VmOptionRead]
    difference_per_hour: float | None
    curve: CostCurveRead | None
    profile: ProfileRead | None


class PathProbesRead(TypedDict):
    """Packets of a direction that were sent ECN-capable, with ECT(0), and the order of those sent in pairs.

    `ecn_known`: their ECN field at arrival is known. `ce`: marked by a congested switch; `cleared`: a hop cleared
    the field (bleached); `altered`: ECT(1). `reversed`: of `pairs` that arrived, those whose second packet came
    first.
    """

    ecn_known: int
    ce: int
    cleared: int
    altered: int
    pairs: int
    reversed: int


class PathRead(TypedDict):
    """Newest window of a path; `outbound` is source to target, whichever VM was the client.

    `by_flow` lists the source ports of a path with several, and is empty otherwise. An application that cannot
    choose its route gets up to the largest `p50_ns` of them: `slowest_outbound_ns` and `slowest_inbound_ns`, null
    with one flow. `timestamp_source`: the least precise origin of the client's timestamps in the window, null if
    not reported.
    """

    source: PathEnd
    target: PathEnd
    state: StateName
    started_at: str | None
    window_s: int | None
    flows: int | None
    outbound: OneWayRead | None
    inbound: OneWayRead | None
    round_trip: DirectionRead | None
    by_flow: list[FlowRead]
    slowest_outbound_ns: int | None
    slowest_inbound_ns: int | None
    timestamp_source: Literal["user", "kernel", "hardware"] | None
    no_service: NoServiceRead | None
    estimate: PathEstimate | None


class PathWrite(TypedDict):
    """Path between client and service: two VMs of `mesh`, or known one-way delays."""

    label: NotRequired[str | None]
    source: NotRequired[str | None]
    target: NotRequired[str | None]
    outbound_us: NotRequired[float | None]
    inbound_us: NotRequired[float | None]


Pattern: TypeAlias = Literal["one_to_one", "one_to_many", "many_to_one", "many_to_many"]
"""Pattern of a transfer."""


class PeakRead(TypedDict):
    """Best price of a regime for the provider, with the tenant's split and bill per hour."""

    regime: Regime
    price_per_busy_hour: float
    profit_per_hour: float
    split: SplitRead


Percentile: TypeAlias = Literal["p50", "p90", "p99"]
"""Statistic of each window's round trips."""


class PerformanceRead(TypedDict):
    """Share of the best performance with its 95 % band. `extrapolated`: beyond the domain, where `low` is 0."""

    performance: float
    low: float
    high: float
    extrapolated: bool


class PinCreate(TypedDict):
    """Pin to create: range of a mesh and the reason."""

    mesh_id: str
    started_at: str
    ended_at: str
    reason: str


class PinRead(TypedDict):
    """Pin."""

    id: str
    mesh_id: str
    mesh_name: str
    started_at: str
    ended_at: str
    reason: str
    made_by: str
    created_at: str


class Placed(TypedDict):
    """Task that was waiting, and its VM."""

    application: Named
    task: Named
    vm: Named


class PlacementMixRead(TypedDict):
    """Cheapest mix that keeps the target on the slowest measured path of an application.

    `budget_ms` is the target less both one-way delays. `split` is null where no mix keeps it; `reason` says why.
    `paths`: links between two VMs. Tasks on one VM need no network; without any path `path` is null.
    """

    path: str | None
    outbound_us: float
    inbound_us: float
    budget_ms: float
    paths: int
    paths_measured: int
    vm: str | None
    split: SplitRead | None
    reason: str | None


class PlanAdoptionRead(TypedDict):
    """Agents that follow the newest plan of a mesh.

    `following`: their current plan is the newest. `behind`: an older one. `unknown`: they name none, or are not
    live. `first_behind`: up to 20 names of VMs that are behind or unknown. An agent is live if it asked for its
    plan in the last 90 s, or reports. `active_everywhere`: every live agent follows this revision of the mesh, at
    least one; `active_since`: the time from which this holds. `first_waited_for`: up to 20 names of live ones that
    do not; `first_not_live`: up to 20 of those that are not live.
    """

    revision: int
    agents: int
    following: int
    behind: int
    unknown: int
    first_behind: list[str]
    live: int
    active_everywhere: bool
    active_since: str | None
    first_waited_for: list[str]
    first_not_live: list[str]


class PlanPreviewCreate(TypedDict):
    """Settings to compare the strategies of a mesh under; nothing changes. Omitted settings are those of the mesh.

    `prices`: replaces the price list, for all providers of the mesh.
    """

    window_s: NotRequired[int | None]
    rate_hz: NotRequired[Literal[1, 2, 4, 8, 16, 32, 64, 128] | None]
    flows: NotRequired[int | None]
    period_windows: NotRequired[int | None]
    representatives: NotRequired[int | None]
    prices: NotRequired[EgressPriceWrite | None]


class PlanPreviewRead(TypedDict):
    """Strategies of a mesh under equal settings. `prices`: those used, from the list of `prices_checked_on`, or empty
    with prices of the user.
    """

    mesh_id: str
    vms: int
    items: list[StrategyPreview]
    prices: list[ListedPrice]
    prices_checked_on: str


class PlannedTransfer(TypedDict):
    """One transfer: rate (Mbit/s) for pacing, or connections for TCP; place in the order, largest first.

    `connection_limit_mbit` is the most of one connection by measured round trip and loss; null if nothing limits
    it.
    """

    source: str
    target: str
    size_bytes: float
    rate_mbit: float
    connections: int
    connection_limit_mbit: float | None
    order: int
    finish_s: float
    fair_finish_s: float


Policy: TypeAlias = Literal["best", "nomora"]
"""Placement policy.

best: all tasks together within all limits, with the largest gap to the optimum. nomora: the published flow network
for the tasks of stars, whose roots stay; it knows no budget of moves, CPU or memory. Graphs and tasks larger than
one slot are then placed as under best.
"""


class PolicyOutcome(TypedDict):
    """Result of one policy; quantiles are null without values.

    `area_percent`: area above the distribution of scores; `source_percent`: as reported by the source. `solver_s`:
    per step with arrivals; `round_s` and `moved_share`: per round of moves; `placement_latency_s` and `response_s`:
    per job. `scores`: mean performance of a job over its life, at every percent of the jobs.
    """

    policy: str
    jobs: int
    area_percent: float
    source_percent: float | None
    worst_job: float
    solver_s: Quantiles | None
    round_s: Quantiles | None
    placement_latency_s: Quantiles | None
    response_s: Quantiles | None
    moved_share_mean: float
    moved_share: Quantiles | None
    scores: list[float]
    distributions: NotRequired[Distributions | None]


class PriceBasisRead(TypedDict):
    """Price basis of an application: recommended moves of its tasks are priced by this service."""

    application: Named
    service: ServiceWrite
    updated_at: str


class PriceDifferenceRead(TypedDict):
    """Price difference of a recommendation, by the delays of the windows that it was made from.

    `difference_per_hour` is the sum over its applications with a difference; null without any, or where their
    currencies differ. A negative one is a saving.
    """

    recommendation_id: str
    window: Span
    currency: str | None
    difference_per_hour: float | None
    applications: list[ApplicationPriceRead]


class PriceListCreate(TypedDict):
    """Price list to import: `entries`, or a document as `csv` or `json` text. Replaces the list of that name."""

    # One line
    name: str
    # ISO 4217
    currency: str
    # Date of the prices
    as_of: str
    source: NotRequired[str | None]
    entries: NotRequired[list[VmPrice | ServerlessPrice] | None]
    csv: NotRequired[str | None]
    json_text: NotRequired[str | None]


class PriceListRead(TypedDict):
    """Imported price list."""

    name: str
    currency: str
    as_of: str
    source: str | None
    entries: list[VmPrice | ServerlessPrice]
    id: str
    created_at: str
    updated_at: str


class PriceListSample(TypedDict):
    """Price list that ships with the product, to import as it is."""

    name: str
    currency: str
    as_of: str
    source: str | None
    entries: list[VmPrice | ServerlessPrice]


class ProbingCostRead(TypedDict):
    """Cost of probing, mean of a period. Packets of an agent are those it sends and receives.

    `agent_packets_per_s_max`: of the busiest agent in its busiest window. `usd_per_day`: null when a price is
    unknown.
    """

    pairs_per_window: float
    agent_packets_per_s: float
    agent_packets_per_s_max: float
    packets_per_s: float
    bytes_per_day: int
    traffic: TrafficRead
    usd_per_day: float | None


ProfileName: TypeAlias = Literal["none", "interference", "tb switch", "pq switch", "tb+pq switch", "tb host", "pq host", "tb+pq host", "pq host + tb switch", "tb host + pq switch"]
"""Name of a profile: token buckets (tb) and priority queues (pq), with their places."""


class ProfileRead(TypedDict):
    """Cheapest split through the profile with the best VM type; the other costs are those of one resource alone."""

    vm: str
    term_h: int
    cost: float
    vms_alone_cost: float | None
    serverless_alone_cost: float | None
    hours: list[HourRead]


class ProposedMoves(TypedDict):
    """The newest recommendation that waits for a decision."""

    id: str
    moves: int
    total: GainRead | None


class ProviderPriceCreate(TypedDict):
    """Market of one load: rates in jobs per second, prices and costs per hour."""

    load_per_s: float
    vm_rate_per_s: float
    serverless_rate_per_s: float
    vm_price_per_hour: NotRequired[float]
    # Provider's cost of a VM: a guess
    vm_cost_per_hour: float
    utilisation_max: float


class ProviderPriceRead(TypedDict):
    """Provider's profit by the price of a busy container.

    Above `switch_to_mixed` full VMs are cheaper for the tenant; above `switch_to_vms` one more VM is (null: no
    rest).
    """

    switch_to_mixed: float
    switch_to_vms: float | None
    peaks: list[PeakRead]
    equilibrium: PeakRead
    price_per_busy_hour: list[float]
    profit_per_hour: list[float]
    tenant_cost_per_hour: list[float]


class PublishedParameters(TypedDict):
    """Parameters of the published policy: thresholds of preference, and costs of waiting and of preemption.

    Costs are points: 100 divided by the predicted performance, so 105 is a loss of 5 percent (Popescu, UCAM-CL-
    TR-937, section 6.3).
    """

    # Cost up to which a machine is preferred
    p_m: NotRequired[int]
    # Cost up to which a rack is preferred
    p_r: NotRequired[int]
    # Cost of a waiting task per second (omega)
    omega: NotRequired[float]
    # Cost of a waiting task (gamma)
    gamma: NotRequired[int]
    # Discount of a task's machine per second of its run (beta)
    beta: NotRequired[float]


class PublishedTrace(TypedDict):
    """Delays of one trace between two VMs of a public cloud, for the ways of the metric."""

    name: str
    started_on: str
    messages_per_second: int
    mean_ns: int
    p50_ns: int
    p99_ns: int
    p999_ns: int
    max_ns: int
    sd_ns: int


class PutTask(TypedDict):
    """Move of a task to another VM; `vm` null unplaces it."""

    kind: Literal["task"]
    # Name or id
    application: str
    # Name or id
    task: str
    vm: str | None


class Quantiles(TypedDict):
    """Median and tail."""

    p50: float
    p90: float
    p99: float


Queue: TypeAlias = Literal["fast", "bulk", "solve"]
"""Queue of workers: `fast` for short jobs, `bulk` for moving data, `solve` for long computations."""


RackSource: TypeAlias = Literal["labels", "hosts", "round_trips"]
"""Origin of the racks."""


class RankedApplication(TypedDict):
    """An application and its predicted performance now; null while no link is measured."""

    id: str
    name: str
    mesh: Named
    performance: float | None
    objective: float | None
    below_objective: bool
    links: int
    measured: int


Reason: TypeAlias = Literal["too_few_packets", "one_rate", "unsteady_rate", "no_burst"]
"""Reason for no finding."""


ReasonCode: TypeAlias = Literal["one_way_up", "reverse_up", "reverse_unchanged", "reverse_down", "round_trip_changed", "round_trip_unchanged", "loss", "spikes", "clock_error", "silent", "bucket_empties", "shares_uneven", "other_incident", "delays_usual", "no_usual", "objective_missed", "applications_lose", "applications_unaffected", "applications_unknown", "no_applications"]
"""Kind of a reason; `verdict_of` says when each holds."""


class ReceiverFields(TypedDict):
    """A receiver of notifications.

    `settings`: `to` (addresses) of email, `url` of webhook. `secret`: `key` that signs a webhook, `url` of slack
    and teams, `routing_key` of pagerduty. Secrets are write-only.
    """

    name: str
    kind: ReceiverKind
    settings: NotRequired[dict[str, Any]]
    secret: NotRequired[dict[str, str]]


ReceiverKind: TypeAlias = Literal["email", "webhook", "slack", "pagerduty", "teams"]
"""Kind of a receiver."""


class ReceiverRead(TypedDict):
    """A receiver; `has_secret` instead of the secret."""

    id: str
    name: str
    kind: ReceiverKind
    settings: dict[str, Any]
    has_secret: bool
    version: int
    created_at: str


class ReceiverUpdate(TypedDict):
    """Changes of a receiver; omitted fields stay."""

    name: NotRequired[str]
    settings: NotRequired[dict[str, Any]]
    secret: NotRequired[dict[str, str]]


class RecentIncident(TypedDict):
    """A time in the last 24 hours at which an incident was seen. `ended_at` is null while it continues."""

    id: str
    severity: Severity
    title: str
    onset_at: str
    ended_at: str | None


class RecommendationCreate(TypedDict):
    """Request for a recommendation on one mesh: `mesh` takes a name or an id, `mesh_id` an id."""

    # Names or ids; empty selects all on the mesh
    applications: NotRequired[list[str]]
    policy: NotRequired[Policy]
    # loss: mean performance of tasks (default); slowdown: mean of 1 / performance, as published (default of
    # nomora); fair: applications weigh equally; worst_first: the worst-performing first
    objective: NotRequired[Objective | None]
    # Only best: paths from roots of stars count by this measure of all their exchanges instead of by `statistic`;
    # roots then stay
    risk: NotRequired[Risk | None]
    statistic: NotRequired[Percentile]
    # Look-back in minutes
    minutes: NotRequired[int]
    # Maximum number of moves
    moves_max: NotRequired[int]
    # Minimum gain of a move; default: the value of each application
    move_cost: NotRequired[float | None]
    # Artifact that the tasks of an application need on their VM, its image or state: name (newest release) or id,
    # by name of the application. Each move shows what bringing it costs
    artifacts: NotRequired[dict[str, str]]
    # Further minimum gain of a move, for each minute of bringing its artifact; default: 0
    bringing_cost: NotRequired[float | None]
    # Only nomora: its parameters; omitted ones have the published values
    nomora: NotRequired[PublishedParameters | None]
    # Only nomora: include every arc of the solved network, at most 5,000
    explain: NotRequired[bool]
    # Name or id of the mesh
    mesh: NotRequired[str | None]
    # Id of the mesh, instead of `mesh`
    mesh_id: NotRequired[str | None]


class RecommendationRead(TypedDict):
    """Recommendation with its moves and evidence."""

    id: str
    mesh: Named
    state: RecommendationState
    trigger: Trigger
    policy: str
    moves: int
    total: GainRead | None
    requested_by: str
    version: int
    created_at: str
    decided_at: str | None
    applied_at: str | None
    verified_at: str | None
    question: RecommendationRequest
    answer: RecommendationResult
    steps: list[MoveRead]
    reason: str | None
    outcome: VerifiedOutcome | None


class RecommendationRequest(TypedDict):
    """Scope and limits of a recommendation."""

    # Names or ids; empty selects all on the mesh
    applications: NotRequired[list[str]]
    policy: NotRequired[Policy]
    # loss: mean performance of tasks (default); slowdown: mean of 1 / performance, as published (default of
    # nomora); fair: applications weigh equally; worst_first: the worst-performing first
    objective: NotRequired[Objective | None]
    # Only best: paths from roots of stars count by this measure of all their exchanges instead of by `statistic`;
    # roots then stay
    risk: NotRequired[Risk | None]
    statistic: NotRequired[Percentile]
    # Look-back in minutes
    minutes: NotRequired[int]
    # Maximum number of moves
    moves_max: NotRequired[int]
    # Minimum gain of a move; default: the value of each application
    move_cost: NotRequired[float | None]
    # Artifact that the tasks of an application need on their VM, its image or state: name (newest release) or id,
    # by name of the application. Each move shows what bringing it costs
    artifacts: NotRequired[dict[str, str]]
    # Further minimum gain of a move, for each minute of bringing its artifact; default: 0
    bringing_cost: NotRequired[float | None]
    # Only nomora: its parameters; omitted ones have the published values
    nomora: NotRequired[PublishedParameters | None]
    # Only nomora: include every arc of the solved network, at most 5,000
    explain: NotRequired[bool]


class RecommendationResult(TypedDict):
    """Result of a recommendation. `network` is present if `explain` was requested.

    `binding`: the limits whose relaxation would gain most, best first, after the moves. `broken`: the limits that
    the placement breaks after the moves, because pins, the VMs there are or a budget contradict them, with what
    would mend it. Both are null in results of versions that did not look for them, as is `optimality`. Older
    versions had other policies. `nomora`: parameters of the published policy. `racks_from`: its racks are labels of
    VMs, their hosts, or clusters of VMs with alike round trips.
    """

    policy: str
    total: GainRead | None
    applications: list[ApplicationGain]
    objective: Objective
    certificate: CertificateRead | None
    optimality: OptimalityRead | None
    pareto_front: list[ParetoPoint]
    constraints: list[str]
    rejected: list[str]
    binding: list[BindingRead] | None
    broken: list[str] | None
    evidence: Evidence
    price_change_per_hour: float | None
    network: list[NetworkArc] | None
    nomora: PublishedParameters | None
    racks_from: RackSource | None


RecommendationState: TypeAlias = Literal["proposed", "accepted", "applied", "verified", "undone", "dismissed"]
"""Life cycle of a recommendation: an applied one is measured, then verified whatever the outcome.

It is undone instead when a task leaves its new VM before that.
"""


class RecommendationSummary(TypedDict):
    """Recommendation as a list item."""

    id: str
    mesh: Named
    state: RecommendationState
    trigger: Trigger
    policy: str
    moves: int
    total: GainRead | None
    requested_by: str
    version: int
    created_at: str
    decided_at: str | None
    applied_at: str | None
    verified_at: str | None


class RecreateVm(TypedDict):
    """Re-creation of a VM in another zone, with paths like those of the VMs there."""

    kind: Literal["vm"]
    # Name or id
    vm: str
    # Name or id
    zone: str


class RecurrenceRead(TypedDict):
    """How an incident recurs: seen `times` since `since`, `last_hour` of them in the hour until it was last seen.

    `flaps`: three times in that hour or more.
    """

    times: int
    since: str
    last_hour: int
    flaps: bool


Regime: TypeAlias = Literal["serverless_only", "mixed", "vm_only", "infeasible"]
"""Kind of an optimal split. `infeasible`: neither VMs nor serverless keep the target."""


Resolution: TypeAlias = Literal["auto", "window", "1m", "15m", "1h", "1d"]
"""Length of a step of a series; `auto` selects the finest one that stays readable."""


Resource: TypeAlias = Literal["vms", "paths", "windows_per_s", "raw_days", "minute_days", "artifact_mib"]
"""Limited resource."""


Responder: TypeAlias = Literal["agent", "ieee1588", "sptp"]
"""Program that responds to probes on a VM: our agent, or without one a standard IEEE 1588 master that negotiates
unicast, or a server of SPTP (Meta's Simple PTP).
"""


Risk: TypeAlias = Literal["mean", "p99", "cvar"]
"""Risk measure of a pair's latency distribution."""


Role: TypeAlias = Literal["viewer", "editor", "admin", "owner"]
"""Role of a member: read; also change; also manage members, keys and audit; also the tenant itself."""


class RosterRead(TypedDict):
    """Axes of all matrices of a mesh at this revision, ordered by zone name, then VM name."""

    revision: int
    vms: list[RosterVm]
    zones: list[RosterZone]


class RosterVm(TypedDict):
    """Row and column of the mesh's matrices."""

    id: str
    key: int
    name: str
    zone_id: str
    zone_name: str


class RosterZone(TypedDict):
    """Zone of consecutive rows: `count` VMs from index `first` on."""

    id: str
    name: str
    first: int
    count: int


class RoundTripSeries(TypedDict):
    """Values by step; null without data."""

    delay_ns: list[int | None]
    loss: list[float | None]


class RoundTrips(TypedDict):
    """Median round trips in ns, null where unknown, [source][target] by `names`: VMs of small meshes, else zones."""

    by: Literal["vm", "zone"]
    names: list[str]
    groups: list[str]
    before_ns: list[list[int | None]]
    after_ns: list[list[int | None]]


class RouteInput(TypedDict):
    """A route: matching incidents go to its receivers, or to those of its first matching child route.

    With `continue_`, later siblings are tried as well. Without matchers all incidents match. `repeat_s`, `resolved`
    and `hold_s` are inherited where they are null. `hold_s`: longest time for which notices below critical are held
    and sent together; 0 sends each by itself.
    """

    matchers: NotRequired[list[Matcher]]
    receivers: NotRequired[list[str]]
    repeat_s: NotRequired[int | None]
    resolved: NotRequired[bool | None]
    hold_s: NotRequired[int | None]
    continue_: NotRequired[bool]
    routes: NotRequired[list[RouteInput]]


class RouteOutput(TypedDict):
    """A route: matching incidents go to its receivers, or to those of its first matching child route.

    With `continue_`, later siblings are tried as well. Without matchers all incidents match. `repeat_s`, `resolved`
    and `hold_s` are inherited where they are null. `hold_s`: longest time for which notices below critical are held
    and sent together; 0 sends each by itself.
    """

    matchers: NotRequired[list[Matcher]]
    receivers: NotRequired[list[str]]
    repeat_s: NotRequired[int | None]
    resolved: NotRequired[bool | None]
    hold_s: NotRequired[int | None]
    continue_: NotRequired[bool]
    routes: NotRequired[list[RouteOutput]]


class RoutingRead(TypedDict):
    """The routing tree and its version."""

    root: RouteOutput
    version: int


class RoutingWrite(TypedDict):
    """The routing tree."""

    root: RouteInput


class RuleCreate(TypedDict):
    """A new rule of a mesh."""

    name: str
    enabled: NotRequired[bool]
    severity: NotRequired[Severity]
    condition: ConditionModel
    scope: NotRequired[ScopeModel]
    windows_x: NotRequired[int]
    windows_y: NotRequired[int]
    sources_min: NotRequired[int]
    hold_s: NotRequired[int]
    keep_firing_s: NotRequired[int]
    runbook_url: NotRequired[str | None]
    mesh_id: str


class RulePreview(TypedDict):
    """Value, limit and firing of a rule by window of a path (`points_at`: its start).

    Values above their limit are a breach. In ns, or ratios; null where unknown. `notes`: what one path cannot show.
    """

    points_at: list[str]
    values: list[float | None]
    limits: list[float | None]
    firing: list[bool]
    notes: list[str]


class RulePreviewCreate(TypedDict):
    """A rule to preview on one path; nothing is saved."""

    name: str
    enabled: NotRequired[bool]
    severity: NotRequired[Severity]
    condition: ConditionModel
    scope: NotRequired[ScopeModel]
    windows_x: NotRequired[int]
    windows_y: NotRequired[int]
    sources_min: NotRequired[int]
    hold_s: NotRequired[int]
    keep_firing_s: NotRequired[int]
    runbook_url: NotRequired[str | None]
    mesh_id: str
    source_id: str
    target_id: str
    # Look-back in hours
    hours: NotRequired[int]


class RuleRead(TypedDict):
    """A rule."""

    id: str
    mesh_id: str
    name: str
    enabled: bool
    severity: Severity
    condition: ConditionModel
    scope: ScopeModel
    windows_x: int
    windows_y: int
    sources_min: int
    hold_s: int
    keep_firing_s: int
    runbook_url: str | None
    origin: str | None
    version: int
    created_at: str
    updated_at: str


class RuleUpdate(TypedDict):
    """Changes of a rule; omitted fields stay."""

    name: NotRequired[str]
    enabled: NotRequired[bool]
    severity: NotRequired[Severity]
    condition: NotRequired[ConditionModel]
    scope: NotRequired[ScopeModel]
    windows_x: NotRequired[int]
    windows_y: NotRequired[int]
    sources_min: NotRequired[int]
    hold_s: NotRequired[int]
    keep_firing_s: NotRequired[int]
    runbook_url: NotRequired[str | None]


class RulesImported(TypedDict):
    """Result of an import: names of rules created, changed and unchanged."""

    created: list[str]
    changed: list[str]
    unchanged: list[str]


class Runbook(TypedDict):
    """The runbook of a rule that fired."""

    rule: str
    url: str


class RunnerUp(TypedDict):
    """Next best VM for the task; `worse_by` is a share of the task's performance."""

    vm: Named
    worse_by: float


class SampleRead(TypedDict):
    """Sample with its fitted value. `standardised` is the residual in units of its standard error."""

    added_us: float
    performance: float
    repeats: float
    error: float | None
    fitted: float
    residual: float
    standardised: float


class SampleRow(TypedDict):
    """Performance at one latency; `spread` is the standard deviation of its runs."""

    latency_us: float
    performance: float
    spread: NotRequired[float | None]
    repeats: NotRequired[int | None]


class SavedViewCreate(TypedDict):
    """View to save."""

    # One line
    name: str
    # Path and parameters of a page: /meshes/…?metric=loss
    address: str


class SavedViewRead(TypedDict):
    """A saved view."""

    id: str
    name: str
    address: str
    created_by: str
    created_at: str


class ScenarioCreate(TypedDict):
    """Scenario to save."""

    changes: NotRequired[list[PutTask | RecreateVm | DropZone | AddLatency | ChangeCurve]]
    statistic: NotRequired[Percentile]
    # Look-back in minutes: performance is the mean over its windows. Null: the newest window of each path, as for
    # the current performance of an application
    minutes: NotRequired[int | None]
    # Place waiting tasks after the changes; other tasks do not move
    place_waiting: NotRequired[bool]
    # Name or id
    mesh: str
    name: str


class ScenarioRead(TypedDict):
    """Saved scenario."""

    id: str
    name: str
    mesh: Named
    question: WhatIf
    version: int
    created_at: str
    updated_at: str


class ScenarioUpdate(TypedDict):
    """Update of a scenario; omitted fields stay. Changes are replaced as a whole; `minutes` may be set to null."""

    name: NotRequired[str]
    changes: NotRequired[list[PutTask | RecreateVm | DropZone | AddLatency | ChangeCurve]]
    statistic: NotRequired[Percentile]
    # Look-back in minutes: performance is the mean over its windows. Null: the newest window of each path, as for
    # the current performance of an application
    minutes: NotRequired[int | None]
    place_waiting: NotRequired[bool]


Schedule: TypeAlias = Literal["hourly", "daily"]
"""Schedule of an export, UTC: `daily` exports finished days, `hourly` also rewrites the day in progress."""


class ScheduleRead(TypedDict):
    """Scheduled request of a mesh and the time of its last run."""

    every_h: int
    question: RecommendationRequest
    asked_at: str | None


class ScheduleWrite(TypedDict):
    """Request repeated every `every_h` hours."""

    # Names or ids; empty selects all on the mesh
    applications: NotRequired[list[str]]
    policy: NotRequired[Policy]
    # loss: mean performance of tasks (default); slowdown: mean of 1 / performance, as published (default of
    # nomora); fair: applications weigh equally; worst_first: the worst-performing first
    objective: NotRequired[Objective | None]
    # Only best: paths from roots of stars count by this measure of all their exchanges instead of by `statistic`;
    # roots then stay
    risk: NotRequired[Risk | None]
    statistic: NotRequired[Percentile]
    # Look-back in minutes
    minutes: NotRequired[int]
    # Maximum number of moves
    moves_max: NotRequired[int]
    # Minimum gain of a move; default: the value of each application
    move_cost: NotRequired[float | None]
    # Artifact that the tasks of an application need on their VM, its image or state: name (newest release) or id,
    # by name of the application. Each move shows what bringing it costs
    artifacts: NotRequired[dict[str, str]]
    # Further minimum gain of a move, for each minute of bringing its artifact; default: 0
    bringing_cost: NotRequired[float | None]
    # Only nomora: its parameters; omitted ones have the published values
    nomora: NotRequired[PublishedParameters | None]
    # Only nomora: include every arc of the solved network, at most 5,000
    explain: NotRequired[bool]
    every_h: NotRequired[int]


Scheme: TypeAlias = Literal["random", "load_spreading", "nomora_105_110", "nomora_110_115", "nomora_preempt", "nomora_preempt_beta0", "nomora", "never_move", "exact", "budget", "gang", "gang_budget", "robust_budget"]
"""Policies that can be simulated."""


class ScopeModel(TypedDict):
    """Scope of a rule: paths that meet all of these; empty: all paths. VMs and zones by name."""

    # Paths with an end in one of these
    zones: NotRequired[list[str]]
    zone_pair: NotRequired[list[str] | None]
    # Paths with an end on one of these
    vms: NotRequired[list[str]]
    path: NotRequired[list[str] | None]
    # Paths with an end on a VM with all of these
    labels: NotRequired[dict[str, str]]
    # Paths between the VMs of its tasks
    application: NotRequired[str | None]


ScopeOutput: TypeAlias = Literal["read", "write", "inventory:read", "inventory:write", "measurements:read", "measurements:write", "alerts:read", "alerts:write", "applications:read", "applications:write", "recommendations:read", "recommendations:write", "annotations:read", "annotations:write", "tenant:read", "tenant:write"]
"""Scope of an API key: what it reads or changes. `read` and `write` are for every family."""


class ScopeRead(TypedDict):
    """Scope of an annotation. `task_vm_ids`: VMs that run tasks of its applications now. Deleted objects are absent."""

    vm_ids: list[str]
    zone_ids: list[str]
    application_ids: list[str]
    task_vm_ids: list[str]


class SelectionCost(TypedDict):
    """Number of applications with links over the paths of a selection, and the one they cost most; null without any."""

    selection: str
    applications: int
    worst: ApplicationCost | None


Separation: TypeAlias = Literal["separated", "distance_unknown", "distance_not_resolved", "distance_too_long"]
"""Outcome of separating propagation from processing.

`distance_unknown`: nothing to separate by. `distance_not_resolved`: light needs longer than the smallest delay, by
less than the clock error. `distance_too_long`: by more, so the distance or the places of the VMs are wrong.
"""


class SeriesItem(TypedDict):
    """Time series of a selection, a value per step; `values` by statistic."""

    selection: str
    title: str
    values: dict[str, list[float | None]]
    clock_error_ns: list[int | None]
    loss: list[float | None]
    count: list[int]


class SeriesRead(TypedDict):
    """Time series of a path: a value per step; `points_at` are the starts of the steps."""

    source: PathEnd
    target: PathEnd
    statistic: Statistic
    resolution_s: int
    points_at: list[str]
    outbound: OneWaySeries
    inbound: OneWaySeries
    round_trip: RoundTripSeries


SeriesRequest = TypedDict(
    "SeriesRequest",
    {
        "from": "NotRequired[str | None]",
        "to": "NotRequired[str | None]",
        "format": "NotRequired[Format | None]",
        "selections": "NotRequired[list[str]]",
        "metric": "NotRequired[Metric]",
        "statistics": "NotRequired[list[Statistic]]",
        "points": "NotRequired[int]",
    },
)
"""Query of time series of selections."""


class ServerlessPrice(TypedDict):
    """Price of a serverless offer: memory times busy time, and a fee per request."""

    kind: Literal["serverless"]
    # One line
    provider: str
    # One line
    region: str
    # One line
    name: str
    price_per_gb_second: float
    price_per_million_requests: NotRequired[float]


class ServerlessWrite(TypedDict):
    """Serverless offer. The price of a busy container: memory times `price_per_gb_second`, or `price_per_busy_hour`.

    Without either, that of `name` in `price_list_id`.
    """

    name: NotRequired[str | None]
    service_ms: float
    # Squared coefficient of variation of the service time: 0 is constant, 1 exponential
    variation: NotRequired[float]
    memory_gb: NotRequired[float]
    price_per_gb_second: NotRequired[float | None]
    price_per_busy_hour: NotRequired[float | None]
    price_per_million_requests: NotRequired[float | None]
    # Share of jobs that wait for a cold start
    cold_share: NotRequired[float]
    cold_ms: NotRequired[float]
    # The time of a cold start is paid for
    cold_billed: NotRequired[bool]


class ServiceWrite(TypedDict):
    """Load of a service, its response target, and what may carry it."""

    load_per_s: float
    target: TargetWrite
    vm_types: list[VmTypeWrite]
    serverless: NotRequired[ServerlessWrite | None]
    price_list_id: NotRequired[str | None]


class SessionRead(TypedDict):
    """Signed-in user and tenant. Send `csrf_token` as `X-CSRF-Token` with every unsafe request.

    `second_factor_due`: the tenant requires a second factor, and until the user sets one up only the account is
    open.
    """

    user: UserRead
    tenant: TenantRead
    role: Role
    csrf_token: str
    second_factor_due: bool


Severity: TypeAlias = Literal["info", "warning", "critical"]
"""Severity of a rule and its incidents."""


class ShapingCreate(TypedDict):
    """Trains over one path, or a known bucket; what uses it, and the application to check.

    Trains of the largest packets show the bucket; those of packets at most half as large show the unit of its
    tokens.
    """

    trains: NotRequired[list[TrainWrite]]
    rate_mbit: NotRequired[float | None]
    burst_kb: NotRequired[float | None]
    mechanism: NotRequired[Mechanism]
    # Rate of a second, higher limit; with `upper_burst_kb`
    upper_rate_mbit: NotRequired[float | None]
    upper_burst_kb: NotRequired[float | None]
    use_mbit: NotRequired[float | None]
    tokens_kb: NotRequired[float | None]
    line_mbit: NotRequired[float]
    transfer_mb: NotRequired[float | None]
    application: NotRequired[ApplicationWrite]


class ShapingRead(TypedDict):
    """Bucket, or the reason for none with the mean received rate; forecast and checks need a bucket."""

    bucket: BucketRead | None
    reason: Reason | None
    capacity_mbit: float | None
    trains_with_bucket: int
    forecast: ForecastRead | None
    checks: list[CheckRead]


class ShapingStudyCreate(TypedDict):
    """A study as `sinemora lab shape --output FILE` writes it."""

    link_mbit: float
    seconds: float
    acknowledged_writes: bool
    delay_us: float
    rows: list[StudyRow]


class ShapingStudyRead(TypedDict):
    """A study next to the source; compare ratios, not times: the source had 10 Gbit/s and other hosts."""

    link_mbit: float
    seconds: float
    acknowledged_writes: bool
    delay_us: float
    operations: list[StudyOperationRead]


class ShareEvidence(TypedDict):
    """Share of a member; `relative` is it over the mean share. Of VMs and flows requests per second: 1 / round trip."""

    name: str
    share: float
    relative: float


class ShareRead(TypedDict):
    """Part of a delay. Its `delay_ns` adds up with those of the other shares; no bound is below zero."""

    delay_ns: int
    low_ns: int
    high_ns: int
    cause: Cause


class SignInPolicyRead(TypedDict):
    """Rules of sign-in for the members of a tenant."""

    second_factor_required: bool


class SignedEvidence(TypedDict):
    """A report with its signature."""

    report: EvidenceReport
    signature: EvidenceSignature


class SilenceCreate(TypedDict):
    """A silence of incidents that match all matchers, from `starts_at` to `ends_at`, or weekly within that."""

    comment: str
    matchers: list[Matcher]
    starts_at: NotRequired[str | None]
    ends_at: str
    weekly: NotRequired[Weekly | None]


class SilencePreview(TypedDict):
    """Incidents of the last week that a silence would have matched."""

    incidents: list[IncidentSummary]


class SilenceRead(TypedDict):
    """A silence; `active`: it applies now."""

    id: str
    comment: str
    matchers: list[Matcher]
    starts_at: str
    ends_at: str
    weekly: Weekly | None
    created_by: str
    active: bool
    version: int


class SilentAgent(TypedDict):
    """An agent whose reports stopped."""

    vm: Named
    last_report_at: str


class SilentAgents(TypedDict):
    """Silent agents, longest silence first."""

    count: int
    first: list[SilentAgent]


class SimulatedArea(TypedDict):
    """Area of a policy."""

    policy: str
    area_percent: float


class SimulatedWorld(TypedDict):
    """Parameters of a run; `trace`, `latency` and `statistics` name the input, null where it was drawn.

    `mix`: share of the jobs with each curve, by the key of a published one or the name of one of `own_curves`,
    which are lines between points of added latency (µs) and performance. `nomora` and `preemption`: of the policy
    `nomora`, null in a report of before they could be chosen.
    """

    machines: int
    slots: int
    rack_size: NotRequired[int]
    pod_racks: NotRequired[int]
    seconds: int
    step_s: int
    round_s: int
    window_s: int
    history_s: int
    noise: float
    move_price: int
    mix: NotRequired[dict[str, Any]]
    own_curves: NotRequired[dict[str, Any]]
    nomora: NotRequired[NomoraParameters | None]
    preemption: NotRequired[bool]
    roots: NotRequired[int]
    start_at_random: NotRequired[bool]
    seed: int
    trace: str | None
    latency: str | None
    statistics: str | None
    # Version of Sinemora that simulated
    version: NotRequired[str | None]
    # Digest of the source code that simulated
    code: NotRequired[str | None]
    # Digest of the jobs and the latency
    inputs: NotRequired[str | None]


class SimulationCreate(TypedDict):
    """The report of a run under a name: the content of `simulation.json`."""

    name: str
    world: SimulatedWorld
    policies: list[PolicyOutcome]


class SimulationDetail(TypedDict):
    """The report of a simulation."""

    id: str
    name: str
    created_at: str
    world: SimulatedWorld
    policies: list[PolicyOutcome]


class SimulationRead(TypedDict):
    """A simulation in a list."""

    id: str
    name: str
    created_at: str
    world: SimulatedWorld
    policies: list[SimulatedArea]


class SimulationRun(TypedDict):
    """A simulation for the server to run: jobs and latency are drawn from published statistics.

    `mix`: shares of curves among the jobs, scaled to the sum of 1: keys of published curves, ids or names of the
    tenant's own. `nomora` and `preemption` are parameters of the policy `nomora`; the policies `nomora_…` have the
    published ones.
    """

    name: str
    policies: list[Scheme]
    machines: NotRequired[int]
    slots: NotRequired[int]
    rack_size: NotRequired[int]
    pod_racks: NotRequired[int]
    hours: NotRequired[float]
    step_s: NotRequired[int]
    round_s: NotRequired[int]
    window_s: NotRequired[int]
    history_s: NotRequired[int]
    noise: NotRequired[float]
    move_price: NotRequired[int]
    mix: NotRequired[dict[str, float]]
    nomora: NotRequired[NomoraParameters]
    preemption: NotRequired[bool]
    # Roots of a job; a task counts the nearest
    roots: NotRequired[int]
    start_at_random: NotRequired[bool]
    seed: NotRequired[int]


class SortWrite(TypedDict):
    """Shuffle of a sort of equal parts: every worker sends each other one its share."""

    workers: NotRequired[int]
    size_gb: NotRequired[float]
    # Standard deviation of the logarithm of a reducer's volume
    skew: NotRequired[float]


Source: TypeAlias = Literal["stated", "detected"]
"""Origin of rate and depth: stated by a person, as from a provider's documents, or detected from bursts."""


class SourceRead(TypedDict):
    """Bytes that a copy took from one VM, or from the backend where `vm_id` is null."""

    vm_id: str | None
    name: str
    size_bytes: int


SourceVerdict: TypeAlias = Literal["agrees", "lower", "cannot"]
"""`agrees`: as much as the source says, or more; `lower`: less; `cannot`: one link cannot show it."""


Span = TypedDict(
    "Span",
    {
        "from": "str | None",
        "to": "str | None",
    },
)
"""Time range [from, to); both null without any data."""


class SpikeEvidence(TypedDict):
    """Spike with the exchanges around it; `outbound_ns` is source to target. Times are relative to `started_at`."""

    id: str
    source: PathEnd
    target: PathEnd
    started_at: str
    window_s: int
    max_ns: int
    median_ns: int
    rise_ns: int
    at_ns: list[int]
    outbound_ns: list[int]
    inbound_ns: list[int]


class SpikeRead(TypedDict):
    """Spike: a window whose largest delay is `rise_ns` above its median."""

    id: str
    source: PathEnd
    target: PathEnd
    started_at: str
    window_s: int
    max_ns: int
    median_ns: int
    rise_ns: int


class SplitRead(TypedDict):
    """VMs, load to serverless (jobs/s) and cost per hour."""

    vms: int
    serverless_per_s: float
    cost_per_hour: float
    regime: Regime


class SpreadRead(TypedDict):
    """Least and most of the rates and depths that the single bursts with a bucket show, of `bursts` bursts."""

    bursts: int
    rate_min_mbit: float
    rate_max_mbit: float
    burst_min_kb: float
    burst_max_kb: float


StateName: TypeAlias = Literal["measured", "not_planned", "no_data", "stale", "lost", "earlier", "no_service", "estimated"]
"""State of a path: `measured`; `not_planned`; `no_data` yet; `stale`: the agent is silent; `lost`: no response.

`earlier`: measured in an earlier window of the period; its turn has not come again. `no_service`: the IEEE 1588
responder grants nothing, so nothing is measured and nothing is lost; of zones if all of their paths have it.
`estimated`: not measured; only where estimates are asked for.
"""


class StatedRead(TypedDict):
    """Measurement as stated by a source, and the value of the curve there. `setup` names differing configuration."""

    added_us: float
    relation: Literal["=", "\u2248", "<", ">"]
    performance: float
    curve: float
    words: str
    source: str
    setup: str


Statistic: TypeAlias = Literal["min", "mean", "p50", "p90", "p99", "p999", "max", "sd"]
"""A number that sums up a distribution of delays. Loss and clock error have one number only."""


class StepsRead(TypedDict):
    """One-way p50 of a path by step, oldest first, null where a step has none; `points_at` are their starts."""

    points_at: list[str]
    delay_ns: list[int | None]


StrategyKind: TypeAlias = Literal["full", "zones", "sparse", "event"]
"""Strategy of a mesh.

`full`: every pair in every window. `zones`: within a zone every pair in every window, between zones only the
representatives of that window. `sparse`: every pair once in a period, and every pair of zones in every window.
`event`: as `sparse`, and the paths of an open incident in every window.
"""


class StrategyPreview(TypedDict):
    """Strategy of a mesh with its cost. `measured`: share of pairs that are measured at least once in a period.

    `exceeds_agent_cap`: the busiest agent would need more packets than the limit of its plan, and leave some out.
    """

    strategy: StrategyKind
    period_s: int
    measured: float
    cost: ProbingCostRead
    detection: DetectionsRead
    exceeds_agent_cap: bool


class StudyOperationRead(TypedDict):
    """An operation of a workload under the ten profiles of the source, in its order."""

    workload: WorkloadName
    title: str
    operation: Operation
    profiles: list[StudyProfileRead]


class StudyProfileRead(TypedDict):
    """A profile: what it does in the lab, its figures in the study, and those of the source; null where not run."""

    profile: ProfileName
    measures: list[str]
    measured: MeasuredRead | None
    source: sinemoralabsshapinglabschemasReferenceRead | None


class StudyRow(TypedDict):
    """Figures of an operation of a workload under a profile; null where too few operations ran."""

    workload: WorkloadName
    profile: ProfileName
    operation: Operation
    count: int
    per_s: float
    mb_per_s: float | None
    p50_us: float | None
    p95_us: float | None
    p99_us: float | None
    p999_us: float | None
    tail: StudyTail
    source: NotRequired[StudySource | None]
    # Ignored, as `source`
    source_mb_per_s: NotRequired[float | None]


class StudySource(TypedDict):
    """Row of the source in a file. It is ignored: the reference rows of the product are returned."""

    workload: str
    operation: str
    profile: str
    p95_us: float
    p99_us: float
    p999_us: float


class StudyTail(TypedDict):
    """Retransmission tail of an operation, as the lab found it."""

    found: bool
    evidence: str
    share: float | None
    mean_cost_ms: float | None


TailBaseline: TypeAlias = Literal["fcfs", "ps", "las", "srpt", "tcp", "dctcp", "pfabric_las", "pfabric", "homa"]
"""Policies without α."""


class TailBesideSourceRead(TypedDict):
    """A gain that the source prints and the gain found here. `source_alpha` is the best α that the source names."""

    protocol: str
    policy: PacketPolicy
    against: PacketPolicy
    figure: TailFigure
    source_percent: float
    source_alpha: float | None
    here_percent: float
    here_alpha: float
    verdict: SourceVerdict
    why: str


class TailBucketRead(TypedDict):
    """Flows of a range of sizes up to `bytes_max`; `p99_s` is null without flows."""

    bytes_max: int
    flows: int
    p99_s: float | None


class TailCreate(TypedDict):
    """Latencies of single requests, or three percentiles of them, ms."""

    latency_ms: NotRequired[list[float]]
    p95_ms: NotRequired[float | None]
    p99_ms: NotRequired[float | None]
    p999_ms: NotRequired[float | None]


class TailEvaluationRead(TypedDict):
    """Figures at one α on the flows of the search. `allowed`: the mean rises no more than permitted."""

    alpha: float
    figures: TailFiguresRead
    gain: float
    mean_loss: float
    allowed: bool


TailFigure: TypeAlias = Literal["p99", "tail_mean", "mean", "small_p99"]
"""Figure that a search minimises."""


class TailFiguresRead(TypedDict):
    """Mean, p99, mean of the slowest 1 % (tail mean), and p99 of the smallest bucket of sizes."""

    mean: float
    p99: float
    tail_mean: float
    small_p99: float


class TailGainRead(TypedDict):
    """Gains over a baseline: how much lower each figure is."""

    against: PacketPolicy
    gains: TailFiguresRead


class TailOutcomeRead(TypedDict):
    """Outcome of one policy on the compared flows.

    `alpha`: null without one, 1e15 for infinity. `classes`: null where priorities are exact, or there are none;
    else `boundaries` are log2 of the priority, ascending, and `class_shares` the shares of bytes, lowest class
    first. `tail_means_s`: mean of the flows at or above the 25th, 50th, 75th, 90th and 99th percentile. `slowdown`:
    at every percent of the flows, time over that on an empty network. `packets`: null on a single link.
    `egress_guard`: the command that puts these classes in force on a VM; null for exact priorities, for policies
    that know sizes, and in a network.
    """

    policy: PacketPolicy
    alpha: float | None
    classes: int | None
    figures: TailFiguresRead
    gains: list[TailGainRead]
    tail_means_s: list[float]
    buckets: list[TailBucketRead]
    slowdown: list[float]
    boundaries: list[float]
    class_shares: list[float]
    packets: TailPacketsRead | None
    egress_guard: str | None


class TailPacketsRead(TypedDict):
    """Packets in a leaf-spine network: dropped, delivered again, marked (ECN), and transmissions by all ports."""

    dropped: int
    duplicates: int
    marked: int
    hops: int


class TailRead(TypedDict):
    """Finding about one retransmission timeout (195 to 235 ms) in the latencies, with its evidence.

    `share` of requests wait for it, which adds `mean_cost_ms` to the mean.
    """

    found: bool
    evidence: str
    share: float | None
    mean_cost_ms: float | None


class TailSearchRead(TypedDict):
    """Search of α of a policy: its evaluations in the order made, and the best."""

    policy: PacketPolicy
    against: PacketPolicy
    evaluations: list[TailEvaluationRead]
    best: TailEvaluationRead


class TailStudyCreate(TypedDict):
    """Study of the order of packets at one link, or of transports in a leaf-spine network. α is searched unless given.

    The search minimises `objective` where the mean rises by at most `mean_loss_max` percent over the baseline:
    `against`, or LAS for policies that do not know sizes and SRPT for those that do; in `leaf_spine` the transport
    without α. `leaf_spine` is the network of the source: 144 hosts, 10 Gbit/s, packets of 1,460 bytes, 8 classes.
    """

    name: NotRequired[str]
    topology: NotRequired[TailTopology]
    workload: NotRequired[WorkloadKey]
    # Own flow sizes: column `bytes`, and optionally `count`
    sizes_csv: NotRequired[str | None]
    # Share of the capacity of the link, or of hosts' links
    load: NotRequired[float]
    link_mbit: NotRequired[float]
    # Data of a full packet
    packet_bytes: NotRequired[int]
    # Null: about 10 million packets, 20,000 flows or more; in `leaf_spine` a fifth
    flows: NotRequired[int | None]
    seed: NotRequired[int]
    # Null: all of `single_link` but `pbs`; in `leaf_spine` DCTCP, pFabric, Homa and aware D-TAIL
    policies: NotRequired[list[PacketPolicy] | None]
    objective: NotRequired[TailFigure]
    against: NotRequired[TailBaseline | None]
    # Null: any rise of the mean
    mean_loss_max: NotRequired[float | None]
    # Null: by search; 1e15 is infinity
    alpha: NotRequired[float | None]
    evaluations: NotRequired[int]
    # Compare with so many classes of priority
    classes: NotRequired[int | None]
    # What every class carries equally much of
    spread: NotRequired[ClassSpread]


class TailStudyRead(TypedDict):
    """Study: outcomes of all policies on the same flows, searches on others, figures next to those of the source.

    `flows`, `packets`, `mean_bytes` and `offered_load` are those of the compared flows.
    """

    id: str
    name: str
    topology: TailTopology
    workload: WorkloadKey
    workload_name: str
    load: float
    link_mbit: float
    packet_bytes: int
    seed: int
    objective: TailFigure
    mean_loss_max: float | None
    flows: int
    packets: int
    mean_bytes: float
    offered_load: float
    outcomes: list[TailOutcomeRead]
    searches: list[TailSearchRead]
    beside_source: list[TailBesideSourceRead]


TailTopology: TypeAlias = Literal["single_link", "leaf_spine"]
"""Network of a study."""


class TailWorkloadRead(TypedDict):
    """Workload of the source. `points`: bytes, and the share of flows of at most so many; linear between two."""

    key: WorkloadKey
    name: str
    mean_bytes: float
    points: list[list[float]]


class TargetWrite(TypedDict):
    """Response target: the mean, or `percentile` of the responses, within `response_ms`."""

    response_ms: float
    percentile: NotRequired[float | None]


class TaskRead(TypedDict):
    """Task and its VM; `vm` is null while the task waits.

    `placed_at`: since when it runs on this VM; `waiting_since`: since when it waits for one; null where unknown.
    """

    id: str
    name: str
    vm: VmName | None
    root: bool
    pinned: bool
    slots: int
    cpu_millicores: int
    memory_mib: int
    placed_at: str | None
    waiting_since: str | None


class TaskWrite(TypedDict):
    """Task. `vm` is the VM's name or id; without one the task waits. Default name: that of the VM."""

    name: NotRequired[str | None]
    vm: NotRequired[str | None]
    root: NotRequired[bool]
    pinned: NotRequired[bool]
    slots: NotRequired[int]
    cpu_millicores: NotRequired[int]
    memory_mib: NotRequired[int]


class TenantRead(TypedDict):
    """Tenant. `key` identifies it in time series."""

    id: str
    key: int
    name: str


class ThresholdRead(TypedDict):
    """Latency up to which no performance is lost, with its 95 % interval; bounds are null if unknown."""

    at_us: float
    low_us: float | None
    high_us: float | None


class TimelineEntry(TypedDict):
    """An event in the timeline of an incident."""

    at: str
    kind: str
    actor: str
    text: str


Timescale: TypeAlias = Literal["short", "long", "weekly"]
"""Memory of a baseline: the last half hour, days, or this hour of the week in the last weeks."""


class TokenBucketRead(TypedDict):
    """Token bucket of a VM. `forecast` is null while its agent has reported no traffic for two minutes."""

    vm_id: str
    vm_name: str
    direction: Direction
    rate_mbit: float
    burst_kb: float
    source: Source
    updated_at: str
    forecast: TokenForecastRead | None


class TokenBucketWrite(TypedDict):
    """Token bucket of a VM. `rate_mbit` is its refill in Mbit/s, `burst_kb` its depth in 1,000 bytes."""

    rate_mbit: float
    # Depth, 1,000 bytes
    burst_kb: float
    direction: NotRequired[Direction]
    source: NotRequired[Source]


class TokenForecastRead(TypedDict):
    """Tokens of a bucket at `at`, the end of the VM's newest window of traffic, and what follows at its present use.

    `tokens_kb` takes the bytes of windows as evenly spread; `tokens_min_kb` and `tokens_max_kb` are the least and
    the most possible. `use_mbit`: mean of the last ten seconds. `empty_in_s`: 0 when empty, null when this use
    never empties it; `empty_in_min_s` and `empty_in_max_s` by the least and the most tokens. `full_in_s`: null for
    never.
    """

    at: str
    use_mbit: float
    level: Level
    tokens_kb: float
    tokens_min_kb: float
    tokens_max_kb: float
    empty_in_s: float | None
    empty_in_min_s: float | None
    empty_in_max_s: float | None
    full_in_s: float | None


Topology: TypeAlias = Literal["star", "two_rack", "four_rack", "zones"]
"""Network between the hosts: one switch, racks of equal size in the order of the hosts, or the zones of the VMs."""


TraceKind: TypeAlias = Literal["csv", "ptpd"]
"""Format of a trace."""


TraceTimes: TypeAlias = Literal["keep", "end_now"]
"""Times of an imported trace: unchanged, or shifted by whole minutes so that it ends now."""


class TrafficRead(TypedDict):
    """Bytes of all packets of a day (IPv4), by where they go."""

    same_zone_bytes_per_day: int
    between_zones_bytes_per_day: int
    between_regions_bytes_per_day: int
    between_providers_bytes_per_day: int


class TrafficShapeCreate(TypedDict):
    """Bytes sent by window, oldest first."""

    sent_bytes: list[float]


class TrafficShapeRead(TypedDict):
    """Shape of traffic: `burst` (as a sort), `steady` (as k-means) or `unclear`, with its evidence."""

    shape: sinemoraadvisorstransferscoreshapeShape
    idle_share: float | None
    peak_to_mean: float | None


class TrainWrite(TypedDict):
    """Packets of a burst in the order sent; `received_ns` is null for lost ones. The clocks need not agree."""

    # With the headers that the shaper counts
    packet_bytes: int
    sent_ns: list[int]
    received_ns: list[int | None]


class TransferPlanCreate(TypedDict):
    """Transfers that start at once: a list, or the shuffle of a sort.

    With `mesh`, hosts are its VMs: measured round trips and loss limit the rate of a connection.
    """

    transfers: NotRequired[list[TransferWrite]]
    sort: NotRequired[SortWrite | None]
    topology: NotRequired[Topology]
    # Of each host, both ways
    capacity_gbit: NotRequired[float]
    # Of single hosts, where it differs
    capacities_gbit: NotRequired[dict[str, Any]]
    # Capacity of the hosts of a rack or zone over that of its uplink
    oversubscription: NotRequired[float]
    # Of a pair
    connections_max: NotRequired[int]
    # Name or id
    mesh: NotRequired[str | None]
    # Limit hosts to the rates of their token buckets, else of trials of the bulk sender
    measured_capacities: NotRequired[bool]
    # Look-back of round trips and loss
    minutes: NotRequired[int]
    # Largest TCP window of a connection
    window_mib: NotRequired[float]


class TransferPlanRead(TypedDict):
    """Plan of transfers.

    No schedule is done before `bound_s`; `bottleneck` is the link that sets it. `finish_s` is the simulated finish
    with the planned connections, `fair_finish_s` with one connection each.
    """

    bound_s: float
    bottleneck: str
    finish_s: float
    fair_finish_s: float
    gain_percent: float
    # Transfers whose path has no round trip; nothing limits them
    unmeasured: int
    # Empty unless asked for
    capacities: list[MeasuredCapacity]
    transfers: list[PlannedTransfer]


class TransferRunCreate(TypedDict):
    """Transfers between VMs of `mesh`, planned and run: each at its planned rate and with its connections."""

    transfers: NotRequired[list[TransferWrite]]
    sort: NotRequired[SortWrite | None]
    topology: NotRequired[Topology]
    # Of each host, both ways
    capacity_gbit: NotRequired[float]
    # Of single hosts, where it differs
    capacities_gbit: NotRequired[dict[str, Any]]
    # Capacity of the hosts of a rack or zone over that of its uplink
    oversubscription: NotRequired[float]
    # Of a pair
    connections_max: NotRequired[int]
    # Name or id
    mesh: NotRequired[str | None]
    # Limit hosts to the rates of their token buckets, else of trials of the bulk sender
    measured_capacities: NotRequired[bool]
    # Look-back of round trips and loss
    minutes: NotRequired[int]
    # Largest TCP window of a connection
    window_mib: NotRequired[float]


class TransferRunRead(TypedDict):
    """Finish of planned transfers: predicted, and measured from the first connection to the last acknowledgement.

    `bound_s`: no schedule is done before it, by the capacities of the plan.
    """

    bound_s: float
    predicted_s: float
    measured_s: float | None
    error_percent: float | None


class TransferWrite(TypedDict):
    """Bytes to move from one host to another."""

    source: str
    target: str
    size_bytes: float


class TransportCreate(TypedDict):
    """Question for a transport. Fields of the path are measured between `source` and `target`, unless given here.

    Agents measure round trips, loss and routes. ECN and reordering are those of the newest measurement on demand of
    the last 24 hours that probed them.
    """

    mesh: NotRequired[str | None]
    source: NotRequired[str | None]
    target: NotRequired[str | None]
    # Look-back of round trips
    minutes: NotRequired[int]
    min_round_trip_us: NotRequired[float | None]
    # Median
    round_trip_us: NotRequired[float | None]
    loss: NotRequired[float | None]
    reordering: NotRequired[float | None]
    ecn: NotRequired[Ecn | None]
    routes: NotRequired[int | None]
    same_host: NotRequired[bool | None]
    interfaces: NotRequired[int | None]
    # One flow is sent over several links, packet by packet
    is_split: NotRequired[bool | None]
    pattern: NotRequired[Pattern]
    fan_in: NotRequired[int | None]
    volume_ratio: NotRequired[float | None]
    encrypt: NotRequired[bool]
    deadlines: NotRequired[bool]
    programmable_network: NotRequired[bool]
    prioritised_streams: NotRequired[bool]
    prefers_low_latency: NotRequired[bool]
    short_flows_fair: NotRequired[bool]
    # Share of the job's time that is transfer
    transfer_share: NotRequired[float]
    # What the kernel offers: tcp_available_congestion_control, mptcp, tls
    available: NotRequired[list[str] | None]


class TransportRead(TypedDict):
    """Rules that fired, in the order of precedence; the first of each part is the advice."""

    evidence: sinemoraadvisorstransportschemasEvidenceRead
    fired: list[FiredRead]
    source: str


class TransportTrialCreate(TypedDict):
    """Comparison of two transports between two VMs: `rounds` transfers of `size_mb` (1,000,000 bytes) with each."""

    # Name or id
    mesh: str
    # Name or id
    source: str
    # Name or id
    target: str
    size_mb: NotRequired[float]
    rounds: NotRequired[int]
    a: NotRequired[TransportVariant]
    b: TransportVariant


class TransportVariant(TypedDict):
    """Transport of a transfer: `congestion` null is the kernel's default; `connections` share the bytes evenly."""

    congestion: NotRequired[str | None]
    connections: NotRequired[int]
    mptcp: NotRequired[bool]
    tls: NotRequired[bool]


class TreatmentCreate(TypedDict):
    """Packets of a burst of several sizes or two DSCP classes in turn, in the order sent; null for lost ones."""

    packet_bytes: list[int]
    dscp: list[int]
    received_dscp: list[int | None]
    sent_ns: list[int]
    received_ns: list[int | None]


class TreatmentRead(TypedDict):
    """Treatment of packets by size and by DSCP class."""

    by_size: PacketTreatmentRead
    by_class: PacketTreatmentRead


class TrialRead(TypedDict):
    """Result of a trial. `change` is null before two rounds are complete."""

    a: VariantRead
    b: VariantRead
    change: ChangeRead | None
    advice: str


Trigger: TypeAlias = Literal["asked", "scheduled", "objective"]
"""Origin of a recommendation."""


Unit: TypeAlias = Literal["bytes", "packets"]
"""Unit of tokens: a packet takes as many as it has bytes, or one."""


class UnusualRead(TypedDict):
    """Unusual path or zone pair."""

    onset_at: str
    is_onset_known: bool
    last_hour: StepsRead
    source: Axis
    target: Axis
    state: StateName | Literal["no_baseline"]
    value_ns: int | None
    baseline_ns: int | None
    deviation_ns: int | None
    dead_band_ns: int | None
    clock_error_ns: int | None
    basis: Literal["same_hour", "last_day", "last_hour"] | None
    steps: int
    is_unusual: bool | None


class UnusualSince(TypedDict):
    """Time since which a path or zone pair is unusual. `onset_at`: start of the first step after the last usual one.

    `is_onset_known` is false when all known steps of the last 24 h are unusual: the change is older than
    `onset_at`. `last_hour` ends with the newest value.
    """

    onset_at: str
    is_onset_known: bool
    last_hour: StepsRead


class UpperBucketRead(TypedDict):
    """Bucket that a burst meets first: a higher rate and a smaller depth, as a peak rate above a sustained one."""

    rate_mbit: float
    burst_kb: float


class UsageItem(TypedDict):
    """Quota. `used` is null for quotas of retention. `set_by`: for this tenant, by its plan or for the installation."""

    resource: Resource
    used: float | None
    limit: float
    set_by: sinemoraaccesstenantsquotasOrigin


class UsageRead(TypedDict):
    """Usage of the tenant and its quotas.

    `plan`: its service plan, null without one. `contact`: whom to ask for more, as the operator wrote it.
    """

    plan: str | None
    contact: str | None
    items: list[UsageItem]


class UserRead(TypedDict):
    """User."""

    id: str
    email: str


class VariabilityInterval(TypedDict):
    """Distribution of standard deviations within intervals of one length; `count` is paths times intervals."""

    interval: Interval
    count: int
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    max_ns: int | None
    bins: BinsRead


class VariabilityItem(TypedDict):
    """Variability of a selection."""

    selection: str
    title: str
    intervals: list[VariabilityInterval]


class VariabilityRead(TypedDict):
    """Variability of delay within a minute, ten minutes, an hour."""

    mesh_id: str
    metric: Metric
    window: Span
    items: list[VariabilityItem]


Variant: TypeAlias = Literal["a", "b"]
"""Transport of a transfer: A, as it is now, or B, which is tried."""


class VariantRead(TypedDict):
    """Transfers of one transport: mean and slowest time (s), means of Jain's index and of the slowest share."""

    transport: TransportVariant
    done: int
    mean_s: float | None
    slowest_s: float | None
    jain: float | None
    slowest_share: float | None


VerdictKind: TypeAlias = Literal["network", "clock", "agent", "application", "shaping", "fairness", "undecided"]
"""Cause of an incident. `shaping`: a token bucket runs empty. `fairness`: shares are uneven. `undecided`: no usual
values are known yet, or delays are usual.
"""


class VerdictRead(TypedDict):
    """Verdict: the network, a clock, an agent or an application is at fault, with the reasons.

    `others`: incidents of the network that explain why an application misses its objective, costliest first.
    """

    kind: VerdictKind
    reasons: list[sinemoraalertsincidentsschemasReasonRead]
    others: list[OtherIncidentRead]


class VerifiedOutcome(TypedDict):
    """Measured outcome of applied moves; gains are means over the moved applications.

    held: the observed interval excludes no gain and overlaps the promised one. cannot_tell: data were missing or
    too wide, and `observed` may be null. `window`: the time that was compared, after the moves had settled.
    """

    verdict: sinemorarecommendationscoreverdictVerdict
    reason: str
    judged_by: JudgedBy
    promised: GainInterval
    observed: GainInterval | None
    window: Span
    applications: list[ApplicationOutcome]


class VisibleMesh(TypedDict):
    """Mesh that a member, an invitation or an API key is limited to."""

    id: str
    name: str


class VmClock(TypedDict):
    """Clock errors of the outbound paths of a VM in one mesh by step: median and largest, null in a step without
    paths.

    `points_at` are the starts of the steps of `resolution_s` seconds, `paths` the number of paths in each.
    """

    mesh: Axis
    resolution_s: int
    points_at: list[str]
    paths: list[int]
    median_ns: list[int | None]
    largest_ns: list[int | None]


class VmClocksRead(TypedDict):
    """Clock errors of a VM in a range, mesh by mesh. In meshes of many VMs, only of paths whose client is the VM."""

    vm_id: str
    window: Span
    meshes: list[VmClock]


class VmCreate(TypedDict):
    """VM. Without an address it is not probed; the enrolment of its agent sets the address.

    Where no agent can run, set `responder` to `ieee1588`: the agents of its meshes then measure against the unicast
    IEEE 1588 master at its address (ptpd, ptp4l …), in its `ptp_domain`. `sptp`: they measure a server of SPTP
    (ptp4u).
    """

    event_port: NotRequired[int]
    general_port: NotRequired[int]
    name: str
    zone_id: str
    labels: NotRequired[dict[str, str]]
    probe_address: NotRequired[str | None]
    responder: NotRequired[Responder]
    ptp_domain: NotRequired[int]


class VmDirection(TypedDict):
    """Paths from (or to) a VM. `lossy` of them lost packets, `lost` all; `median_ns` is that of their one-way p50.

    `worst`: lost ones, then most dead bands away from their baseline, then slowest.
    """

    paths: int
    measured: int
    lost: int
    unusual: int
    lossy: int
    median_ns: int | None
    worst: list[VmPath]


class VmMesh(TypedDict):
    """Paths of a VM in one mesh. `clock_error_ns`: median over its outbound paths."""

    mesh: Axis
    ended_at: str | None
    clock_error_ns: int | None
    outbound: VmDirection
    inbound: VmDirection


class VmName(TypedDict):
    """Reference to a VM: ids and name."""

    id: str
    key: int
    name: str


class VmOptionRead(TypedDict):
    """Cheapest split with one VM type.

    `utilisation_max` keeps the target; `capacity_per_s` is the most load of one VM; `break_even_per_s` is the load
    at which serverless costs as much as one VM. `split` is null where nothing keeps the target.
    """

    vm: str
    price_per_hour: float
    utilisation_max: float
    capacity_per_s: float
    break_even_per_s: float | None
    split: SplitRead | None
    vms_alone: SplitRead | None
    serverless_alone: SplitRead | None
    saving_per_hour: float | None


class VmPath(TypedDict):
    """Path at one end of which the VM is, with the share of packets lost; null while unknown.

    `since` is null unless the path is unusual.
    """

    source: Axis
    target: Axis
    state: StateName | Literal["no_baseline"]
    value_ns: int | None
    baseline_ns: int | None
    deviation_ns: int | None
    dead_band_ns: int | None
    clock_error_ns: int | None
    basis: Literal["same_hour", "last_day", "last_hour"] | None
    steps: int
    is_unusual: bool | None
    loss: float | None
    since: UnusualSince | None


class VmPathsRead(TypedDict):
    """Newest windows of the paths of a VM, mesh by mesh."""

    vm_id: str
    meshes: list[VmMesh]


class VmPrice(TypedDict):
    """Price of a VM type."""

    kind: Literal["vm"]
    # One line
    provider: str
    # One line
    region: str
    # One line
    name: str
    price_per_hour: float
    vcpus: NotRequired[float | None]
    memory_gb: NotRequired[float | None]


class VmRead(TypedDict):
    """Virtual machine. `key` identifies it in matrices and on the wire."""

    id: str
    key: int
    name: str
    zone: ZoneRead
    labels: dict[str, str]
    probe_address: str | None
    event_port: int
    general_port: int
    responder: Responder
    ptp_domain: int
    version: int
    created_at: str
    agent: AgentSummary | None


class VmTrafficRead(TypedDict):
    """Traffic of a VM's network interface in a range, by the kernel's counters of bytes and packets.

    `points_at` are the starts of the steps of `resolution_s` seconds. Rates are means over the windows of a step,
    peaks the largest window of it; null in a step without windows. Bytes include headers from Ethernet up.
    `interface` is that of the newest window, null without one in the range.
    """

    vm_id: str
    window: Span
    interface: str | None
    resolution_s: int
    points_at: list[str]
    sent_bit_per_s: list[float | None]
    received_bit_per_s: list[float | None]
    sent_packets_per_s: list[float | None]
    received_packets_per_s: list[float | None]
    peak_sent_bit_per_s: list[float | None]
    peak_received_bit_per_s: list[float | None]


class VmTrafficShape(TypedDict):
    """Shape of what a VM sent, by windows of ten seconds in which its agent counted."""

    shape: sinemoraadvisorstransferscoreshapeShape
    idle_share: float | None
    peak_to_mean: float | None
    vm: Named
    windows: int


class VmTypeWrite(TypedDict):
    """VM type. Without `price_per_hour`, the price of this name in `price_list_id`."""

    # One line
    name: str
    # Mean time of one job on an idle VM
    service_ms: float
    # Squared coefficient of variation of the service time: 0 is constant, 1 exponential
    variation: NotRequired[float]
    price_per_hour: NotRequired[float | None]


class VmUpdate(TypedDict):
    """Changes to a VM. Omitted fields do not change."""

    name: NotRequired[str]
    zone_id: NotRequired[str]
    labels: NotRequired[dict[str, str]]
    probe_address: NotRequired[str | None]
    event_port: NotRequired[int]
    general_port: NotRequired[int]
    responder: NotRequired[Responder]
    ptp_domain: NotRequired[int]


Waiting: TypeAlias = Literal["rounds", "requests"]
"""Pattern of requests: rounds that wait for the slowest of many replies, or nearly independent requests."""


WaitsFor: TypeAlias = Literal["distribution", "agent", "request"]
"""Reason that a copy is incomplete, other than its turn in the queue."""


class Weekly(TypedDict):
    """A weekly recurrence in UTC. `weekday`: 0 is Monday."""

    weekday: int
    # Minute of the day
    minute: int
    lasts_min: int


class WhatIf(TypedDict):
    """Changes in order, and the windows to evaluate them on."""

    changes: NotRequired[list[PutTask | RecreateVm | DropZone | AddLatency | ChangeCurve]]
    statistic: NotRequired[Percentile]
    # Look-back in minutes: performance is the mean over its windows. Null: the newest window of each path, as for
    # the current performance of an application
    minutes: NotRequired[int | None]
    # Place waiting tasks after the changes; other tasks do not move
    place_waiting: NotRequired[bool]


class WhatIfCreate(TypedDict):
    """What-if request for a mesh."""

    changes: NotRequired[list[PutTask | RecreateVm | DropZone | AddLatency | ChangeCurve]]
    statistic: NotRequired[Percentile]
    # Look-back in minutes: performance is the mean over its windows. Null: the newest window of each path, as for
    # the current performance of an application
    minutes: NotRequired[int | None]
    # Place waiting tasks after the changes; other tasks do not move
    place_waiting: NotRequired[bool]
    # Name or id
    mesh: str


class WhatIfRead(TypedDict):
    """Impact on every application of the mesh; `broken` lists constraints violated after the changes.

    `statistic` and `minutes` are those of the request: the basis of every performance.
    """

    window: Span
    windows: int
    statistic: Percentile
    minutes: int | None
    applications: list[ApplicationImpact]
    placed: list[Placed]
    broken: list[str]
    trips: RoundTrips


class WindowIndexRead(TypedDict):
    """Index of one window; `members` is 0 where the table holds indices."""

    window: str
    index: float | None
    members: int


WorkloadKey: TypeAlias = Literal["w1", "w2", "w3", "w4", "w5", "own"]
"""Workloads of the source, and `own` for imported flow sizes."""


WorkloadName: TypeAlias = Literal["a", "b", "c", "d", "e", "f", "batch"]
"""Mix of YCSB, or the shuffle."""


class WorstPath(TypedDict):
    """Path with its value."""

    source: PathEnd
    target: PathEnd
    value: float
    clock_error_ns: int | None
    state: StateName


class WorstPaths(TypedDict):
    """Paths with the highest values (for asymmetry: farthest from zero), highest first."""

    mesh_id: str
    revision: int
    metric: Metric
    statistic: Statistic
    unit: Literal["ns", "ratio"]
    items: list[WorstPath]


class ZoneCreate(TypedDict):
    """Zone. `physical_id` is the provider's identifier of the physical zone, if it publishes one (AWS: `euw1-az2`)."""

    provider: str
    region: str
    name: str
    physical_id: NotRequired[str | None]


class ZoneRead(TypedDict):
    """Availability zone of a provider."""

    id: str
    provider: str
    region: str
    name: str
    physical_id: str | None
    version: int
    created_at: str


class ZoneUpdate(TypedDict):
    """Changes to a zone. Omitted fields do not change."""

    name: NotRequired[str]
    physical_id: NotRequired[str | None]


sinemoraaccesstenantsquotasOrigin: TypeAlias = Literal["tenant", "plan", "installation"]
"""Where a quota is set: for this tenant, in its service plan, or in the settings of the installation."""


sinemoraadvisorsbulkcoretrialVerdict: TypeAlias = Literal["shorter", "longer", "uncertain"]
"""`shorter` or `longer`: the whole interval of the change is below or above 0."""


sinemoraadvisorsshapingcoretreatmentVerdict: TypeAlias = Literal["different", "same", "stripped", "not_loaded", "too_few_packets"]
"""Result of a comparison: a difference, none, a mark that was removed, or a path without load."""


sinemoraadvisorstransferscoreshapeShape: TypeAlias = Literal["burst", "steady", "unclear"]
"""Shape of traffic; `unclear` lies between, or has too few windows or no bytes."""


class sinemoraadvisorstransportschemasEvidenceRead(TypedDict):
    """Evidence that was used; `measured` names the fields that were measured, null is unknown.

    `probed_at`: start of the measurement on demand that probed ECN or reordering.
    """

    min_round_trip_us: float | None
    round_trip_us: float | None
    loss: float | None
    reordering: float | None
    ecn: Ecn | None
    routes: int | None
    same_host: bool | None
    measured: list[str]
    probed_at: str | None


class sinemoraalertsincidentsschemasEvidenceRead(TypedDict):
    """Evidence of an incident. `rise_ns`: median rise above the baseline. `loss`: mean ratio on its paths.

    `token_bucket`: the one that the incident is about, null of others. `fairness`: uneven shares, null of others.
    """

    hypotheses: list[HypothesisRead]
    heatmap: HeatmapRead
    paths: int
    rise_ns: int | None
    impact: ImpactRead | None
    loss: float | None
    token_bucket: BucketEvidence | None
    fairness: FairnessEvidence | None


class sinemoraalertsincidentsschemasReasonRead(TypedDict):
    """A reason of a verdict: `paths` of `compared` ones, the median `change_ns`, `loss` as a ratio."""

    code: ReasonCode
    paths: int | None
    compared: int | None
    change_ns: int | None
    loss: float | None
    applications: list[str]


sinemoraapplicationscurvesschemasOrigin: TypeAlias = Literal["published", "own"]
"""Origin of a curve: published by others, or measured by the tenant."""


class sinemoraapplicationslearningschemasReasonRead(TypedDict):
    """Reason why the data is insufficient."""

    code: str
    message: str


sinemoraapplicationsschemasShape: TypeAlias = Literal["star", "graph"]
"""Communication pattern: all tasks with the root, or along edges."""


class sinemoralabsshapinglabschemasReferenceRead(TypedDict):
    """Figures of the source under a profile: tables 9 to 20; of the shuffle the throughput of its sort (plots).

    `ratio`: p99 over that under the profile `interference`.
    """

    mb_per_s: float | None
    p95_us: float | None
    p99_us: float | None
    p999_us: float | None
    ratio: float | None


sinemorameasurementslatencybudgetreferenceVerdict: TypeAlias = Literal["below", "within", "above"]
"""Place of a measured base delay relative to the sum of the reference."""


class sinemorameasurementsquerylatencybudgetsreadReferenceRead(TypedDict):
    """Published contribution of a component, for the ways of the metric. It was not measured here."""

    component: Component
    low_ns: int
    high_ns: int
    source: str


class sinemoraoverviewannotationsschemasScope(TypedDict):
    """VMs, zones and applications that an annotation is about."""

    vm_ids: NotRequired[list[str]]
    zone_ids: NotRequired[list[str]]
    application_ids: NotRequired[list[str]]


sinemorarecommendationscoreverdictVerdict: TypeAlias = Literal["held", "not_held", "cannot_tell"]
"""Outcome of applied moves."""
