"""Job that runs a study; its output is the study as JSON."""

from typing import Any

from sinemora.jobs.context import JobContext
from sinemora.jobs.models import Queue
from sinemora.jobs.registry import JobKind, register
from sinemora.kit.errors import ProductError
from sinemora.labs.tail_lab.core.study import StudyRequest, run
from sinemora.labs.tail_lab.reads import request_of, study_read
from sinemora.labs.tail_lab.schemas import TailStudyCreate


def refuse_networks(params: dict[str, Any]) -> None:
    """Refuse a study of a leaf-spine network, which earlier versions had. ProductError `tail_study_retired`."""
    if params["study"].get("topology") == "leaf_spine":
        raise ProductError(
            "tail_study_retired",
            409,
            "Study of a leaf-spine network: the tail lab has single links only. Ask again for a link.",
        )


def asked(params: dict[str, Any]) -> tuple[TailStudyCreate, StudyRequest]:
    """Return the body and the request of a job's parameters; flow sizes of the body are kept as points.

    ProductError `tail_study_retired`.
    """
    refuse_networks(params)
    points = params.get("points")
    known = {name: value for name, value in params["study"].items() if name != "topology"}
    if points is not None:
        known["sizes_csv"] = ""
    body = TailStudyCreate.model_validate(known)
    return body, request_of(body, points)


def _work(running: JobContext) -> dict[str, Any]:
    body, request = asked(running.params)
    study = run(request, running.progress)
    with running.output("tail-study.json", "application/json") as file:
        file.write(study_read(running.job_id, body, study).model_dump_json().encode())
    return {"study_id": str(running.job_id)}


def _transmissions(params: dict[str, Any]) -> float:
    _, request = asked(params)
    return request.transmissions


STUDY = register(
    JobKind(
        "advisors.tail_study",
        Queue.solve,
        _work,
        size=_transmissions,
        second_per_size=1e-7,
        href="/v1/advisors/tail-studies/{study_id}",
    )
)
