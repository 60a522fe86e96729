"""Studies that were stored by earlier versions."""

import json
from importlib.resources import files

from sinemora.labs.tail_lab.schemas import TailStudyRead


def test_a_study_with_other_fields_is_read() -> None:
    examples = json.loads(files("sinemora.contract").joinpath("examples/advisors.json").read_text("utf-8"))
    study = _find(examples)
    study["topology"] = "single_link"
    for outcome in study["outcomes"]:
        del outcome["egress_guard"]
        outcome["packets"] = None
    read = TailStudyRead.model_validate(study)
    assert {outcome.egress_guard for outcome in read.outcomes} == {None}


def _find(value: object) -> dict:
    """Return the study among the examples."""
    if isinstance(value, dict):
        if "beside_source" in value:
            return value
        value = list(value.values())
    found = [_find(each) for each in value] if isinstance(value, list) else []
    return next((each for each in found if each), {})
