"""Parts of the contract that operations share: shared and inlined again, nothing is lost."""

import json

from generator.references import inlined
from sinemora.kit.http.shared_parts import share
from sinemora.kit.json_text import json_text
from tests.recorded_examples import COMMITTED


def test_what_is_shared_comes_back_as_it_was():
    contract = json.loads(COMMITTED.read_text("utf-8"))
    shared = inlined(contract)
    share(shared)
    assert shared == contract


def test_titles_of_schemas_go_and_data_stays():
    schema = {
        "title": "MeshRead",
        "properties": {"title": {"title": "Title", "type": "string", "default": {"title": "kept"}}},
        "examples": [{"title": "kept"}],
    }
    share({"paths": {}, "components": {"schemas": {"MeshRead": schema}}})
    assert schema == {
        "properties": {"title": {"type": "string", "default": {"title": "kept"}}},
        "examples": [{"title": "kept"}],
    }


def test_json_for_people_has_scalars_on_one_line():
    value = {"a": [1, None, "é"], "b": [{"c": {}}, []], "long": ["x" * 50, "y" * 50]}
    text = json_text(value)
    assert json.loads(text) == value
    assert text.splitlines() == [
        *("{", '  "a": [1, null, "é"],', '  "b": [', '    {"c": {}},', "    []", "  ],"),
        *('  "long": [', f'    "{"x" * 50}",', f'    "{"y" * 50}"', "  ]", "}"),
    ]
