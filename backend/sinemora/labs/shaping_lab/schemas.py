"""JSON schemas of studies of the shaping lab. Latencies in µs, throughput in MB/s (1,000,000 bytes)."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from sinemora.kit.schemas import Read, Write
from sinemora.labs.shaping_lab.core.profiles import ProfileName
from sinemora.labs.shaping_lab.core.workloads import Operation, WorkloadName, workload_named

ROWS_MAX = 500
"""Most rows of a study; all workloads under all profiles have 120."""
Us = Annotated[float, Field(ge=0, le=1e12)]
Rate = Annotated[float, Field(ge=0, le=1e12)]
_LABEL = Annotated[str, Field(max_length=50)]


class StudyTail(Write):
    """Retransmission tail of an operation, as the lab found it."""

    found: bool
    evidence: Annotated[str, Field(max_length=500)]
    share: Annotated[float | None, Field(ge=0, le=1)]
    mean_cost_ms: Annotated[float | None, Field(ge=0, le=1e9)]


class StudySource(Write):
    """Row of the source in a file. It is ignored: the reference rows of the product are returned."""

    workload: _LABEL
    operation: _LABEL
    profile: _LABEL
    p95_us: Us
    p99_us: Us
    p999_us: Us


class StudyRow(Write):
    """Figures of an operation of a workload under a profile; null where too few operations ran."""

    workload: WorkloadName
    profile: ProfileName
    operation: Operation
    count: Annotated[int, Field(ge=1, le=10**12)]
    per_s: Rate
    mb_per_s: Rate | None
    p50_us: Us | None
    p95_us: Us | None
    p99_us: Us | None
    p999_us: Us | None
    tail: StudyTail
    source: StudySource | None = None
    source_mb_per_s: Rate | None = None

    @model_validator(mode="after")
    def _of_workload(self) -> Self:
        operations = [operation for operation, _ in workload_named(self.workload).shares]
        if self.operation not in operations:
            names = ", ".join(operations)
            raise ValueError(f"workload {self.workload} has no {self.operation}, only {names}")
        return self


class ShapingStudyCreate(Write):
    """A study as `sinemora lab shape --output FILE` writes it."""

    link_mbit: Annotated[float, Field(gt=0, le=1e6)]
    seconds: Annotated[float, Field(gt=0, le=1e6)]
    acknowledged_writes: bool
    delay_us: Annotated[float, Field(ge=0, le=1e9)]
    rows: Annotated[list[StudyRow], Field(min_length=1, max_length=ROWS_MAX)]

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        seen = set()
        for row in self.rows:
            key = (row.workload, row.operation, row.profile)
            if key in seen:
                raise ValueError(f"{row.operation} of workload {row.workload} under {row.profile} occurs twice")
            seen.add(key)
        return self


class MeasuredRead(Read):
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


class ReferenceRead(Read):
    """Figures of the source under a profile: tables 9 to 20; of the shuffle the throughput of its sort (plots)."""

    mb_per_s: float | None
    p95_us: float | None
    p99_us: float | None
    p999_us: float | None
    ratio: float | None


class StudyProfileRead(Read):
    """A profile: what it does in the lab, its figures in the study, and those of the source; null where not run."""

    profile: ProfileName
    measures: list[str]
    measured: MeasuredRead | None
    source: ReferenceRead | None


class StudyOperationRead(Read):
    """An operation of a workload under the ten profiles of the source, in its order."""

    workload: WorkloadName
    title: str
    operation: Operation
    profiles: list[StudyProfileRead]


class ShapingStudyRead(Read):
    """A study next to the source; compare ratios, not times: the source had 10 Gbit/s and other hosts."""

    link_mbit: float
    seconds: float
    acknowledged_writes: bool
    delay_us: float
    operations: list[StudyOperationRead]
