"""Texts of one line for the conformance run: of every length that the contract allows, and drawn quickly."""

import re
import time

import schemathesis
from schemathesis.generation import GenerationMode

from lab.conformance import one_line
from sinemora.kit.names import NAME_MAX, ONE_LINE

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Names", "version": "1"},
    "paths": {
        "/v1/zones": {
            "post": {
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {
                                    "name": {
                                        "type": "string",
                                        "minLength": 1,
                                        "maxLength": NAME_MAX,
                                        "pattern": ONE_LINE,
                                    }
                                },
                            }
                        }
                    },
                },
                "responses": {"201": {"description": "created"}},
            }
        }
    },
}


def test_names_of_the_shortest_and_the_longest_length_take_no_second() -> None:
    one_line.install()
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    (found,) = schema.get_all_operations()
    began_s = time.process_time()
    cases = schema.iter_coverage_cases(
        found.ok(), generation_modes=[GenerationMode.POSITIVE], generation_config=schema.config.generation
    )
    names = [case.body["name"] for case in cases]
    assert time.process_time() - began_s < 2  # 36 without
    assert {1, 2, NAME_MAX - 1, NAME_MAX} <= {len(name) for name in names}
    assert all(re.fullmatch(ONE_LINE, name) for name in names)
