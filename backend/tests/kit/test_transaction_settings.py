"""Statements that set what row-level security reads."""

import pytest

from sinemora.kit.transaction_settings import set_tenant


@pytest.mark.parametrize("value", ["'", "1'; DROP TABLE vms --", "\\", "1\n", "x"])
def test_what_is_no_key_is_not_written_into_a_statement(value: str):
    with pytest.raises(ValueError, match="neither keys nor UUIDs"):
        set_tenant(value, 1)
