"""Statements that set what row-level security reads."""

from uuid import UUID

import pytest

from sinemora.kit.mesh_limit import MeshLimit
from sinemora.kit.transaction_settings import set_meshes, set_tenant

TENANT = UUID("8a007f0a-80c6-4af6-8f41-6c564a7496f0")


def test_a_tenant_is_set_by_literals():
    assert set_tenant(TENANT, 7, MeshLimit(frozenset({TENANT}), frozenset({3, 12}))) == (
        f"SET LOCAL sinemora.tenant_id = '{TENANT}';SET LOCAL sinemora.tenant_key = '7';"
        f"SET LOCAL sinemora.mesh_ids = ',{TENANT},';SET LOCAL sinemora.mesh_keys = ',12,3,';"
    )


def test_no_tenant_is_every_tenant_and_no_limit_every_mesh():
    assert set_tenant(None, None) == "SET LOCAL sinemora.tenant_id = '*';SET LOCAL sinemora.tenant_key = '*';"
    assert set_meshes(None) == "SET LOCAL sinemora.mesh_ids = '';SET LOCAL sinemora.mesh_keys = '';"


@pytest.mark.parametrize("value", ["'", "1'; DROP TABLE vms --", "\\", "1\n", "x"])
def test_other_characters_are_refused(value: str):
    with pytest.raises(ValueError, match="neither keys nor UUIDs"):
        set_tenant(value, 1)
