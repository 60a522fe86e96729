"""Row-level security of callers who are limited to some meshes.

`sinemora.mesh_ids` and `sinemora.mesh_keys` list what the transaction sees, between commas; empty for every mesh. A
policy restricts, in addition to that of the tenant, each table whose rows belong to a mesh: by its column `mesh_id` or
`mesh_key`, or by the foreign keys that lead to such a table. VMs are seen through the meshes that they are members of,
zones through their VMs, and what is about a VM or a zone alone with it.
Text that people wrote about the tenant is hidden when it names what is hidden.

Each condition reads a setting once in a statement and calls its function only for limited callers. It ends in `<> 0`,
from which the planner expects nearly all rows, as it did without the policy.
"""

import re
from collections.abc import Iterable

from sqlalchemy import Connection, text

from sinemora.kit.row_policies import set_policies

_IDS = "(SELECT NULLIF(current_setting('sinemora.mesh_ids', true), ''))"
_KEYS = "(SELECT NULLIF(current_setting('sinemora.mesh_keys', true), ''))"
_NOBODY = "00000000-0000-0000-0000-000000000000"
_OF_MESHES = f"sees_meshes({_IDS}, COALESCE(mesh_ids, '{{{_NOBODY}}}'))"
# Columns of text about the whole tenant that may name a mesh or a VM.
_TEXT = {
    "silences": "comment || matchers::text",
    "alert_routings": "tree::text",
    "saved_views": "name || address",
}
# A target belongs to what it names. Its annotation asks for its targets: through it the question would be endless.
_NOT_THROUGH = {("annotation_targets", "annotations")}

_AS_OWNER = "sees_target(text, uuid, uuid), sees_text(text, uuid, text)"
_PARENT = re.compile(r"sees_row_of_(\w+)")

_FUNCTIONS = (
    # A VM of a mesh that the caller sees: of `mesh_vms` row-level security shows no others.
    """CREATE OR REPLACE FUNCTION sees_vm(listed text, tenant uuid, vm uuid) RETURNS bigint
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN (SELECT count(*) FROM mesh_vms m WHERE m.tenant_id = tenant AND m.vm_id = vm);
END $$""",
    # A zone with a VM that the caller sees.
    """CREATE OR REPLACE FUNCTION sees_zone(listed text, tenant uuid, zone uuid) RETURNS bigint
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN (SELECT count(*) FROM (SELECT FROM vms v WHERE v.tenant_id = tenant AND v.zone_id = zone LIMIT 1) AS one);
END $$""",
    # A VM by its key in time series: of `vms` row-level security shows no others.
    """CREATE OR REPLACE FUNCTION sees_vm_key(listed text, vm integer) RETURNS bigint
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN (SELECT count(*) FROM vms v WHERE v.key = vm);
END $$""",
    # An annotation about hidden things alone is hidden. As the owner, since a new one has no targets yet.
    """CREATE OR REPLACE FUNCTION sees_target(listed text, tenant uuid, annotation uuid) RETURNS bigint
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN (SELECT count(*) FILTER (WHERE
        EXISTS (SELECT FROM mesh_vms m JOIN vms v ON v.tenant_id = m.tenant_id AND v.id = m.vm_id
                   WHERE m.tenant_id = tenant AND (m.vm_id = t.vm_id OR v.zone_id = t.zone_id)
                   AND strpos(listed, m.mesh_id::text) > 0)
        OR EXISTS (SELECT FROM applications a WHERE a.tenant_id = tenant AND a.id = t.application_id
                   AND strpos(listed, a.mesh_id::text) > 0)
    ) + (count(*) = 0)::int FROM annotation_targets t WHERE t.tenant_id = tenant AND t.annotation_id = annotation);
END $$""",
    # Work of a caller who sees no more than this one.
    """CREATE OR REPLACE FUNCTION sees_meshes(listed text, meshes uuid[]) RETURNS bigint
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN (SELECT count(*) FROM (SELECT) AS one
            WHERE NOT EXISTS (SELECT FROM unnest(meshes) AS mesh WHERE strpos(listed, mesh::text) = 0));
END $$""",
    # As the owner of the tables, whom no limit hides meshes and VMs from.
    """CREATE OR REPLACE FUNCTION sees_text(listed text, tenant uuid, content text) RETURNS bigint
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    RETURN (SELECT count(*) FROM (SELECT) AS one WHERE NOT EXISTS (
        SELECT FROM meshes m WHERE m.tenant_id = tenant AND strpos(listed, m.id::text) = 0
        AND (strpos(content, m.name) > 0 OR strpos(content, m.id::text) > 0)
    ) AND NOT EXISTS (
        SELECT FROM vms v WHERE v.tenant_id = tenant
        AND (strpos(content, v.name) > 0 OR strpos(content, v.id::text) > 0)
        AND NOT EXISTS (SELECT FROM mesh_vms m WHERE m.tenant_id = tenant AND m.vm_id = v.id
                        AND strpos(listed, m.mesh_id::text) > 0)
    ));
END $$""",
)


def apply(connection: Connection, tables: Iterable[str], role: str) -> None:
    """Make the policy `meshes` of each of these tables that needs one, for the role of requests (quoted)."""
    for function in _FUNCTIONS:
        connection.execute(text(function))
    # These two read as the owner of any tenant they are asked about: for other roles they would be a way to its names.
    connection.execute(text(f"REVOKE EXECUTE ON FUNCTION {_AS_OWNER} FROM PUBLIC"))
    connection.execute(text(f"GRANT EXECUTE ON FUNCTION {_AS_OWNER} TO {role}"))
    known = list(tables)
    of_meshes = conditions(connection, known)
    for parent in {name for condition in of_meshes.values() for name in _PARENT.findall(condition)}:
        connection.execute(text(_sees_row(parent)))
    definition = {table: f"AS RESTRICTIVE TO {role} USING ({condition})" for table, condition in of_meshes.items()}
    set_policies(connection, "meshes", {table: definition.get(table) for table in known})


def conditions(connection: Connection, tables: Iterable[str]) -> dict[str, str]:
    """Return the condition under which a limited caller sees a row, of each table that has one."""
    known = set(tables)
    columns: dict[str, set[str]] = {table: set() for table in known}
    for table, column in connection.execute(
        text("SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'")
    ):
        if table in known:
            columns[table].add(column)
    found = {
        "meshes": _not_zero(f"strpos({_IDS}, id::text)"),
        "vms": _not_zero(f"sees_vm({_IDS}, tenant_id, id)"),
        "zones": _not_zero(f"sees_zone({_IDS}, tenant_id, id)"),
        "jobs": _not_zero(_OF_MESHES),
    }
    for table, content in _TEXT.items():
        found[table] = _not_zero(f"sees_text({_IDS}, tenant_id, {content})")
    if "mesh_ids" in columns["saved_views"]:  # what a limited caller wrote names nothing that they do not know
        found["saved_views"] = (
            f"CASE WHEN mesh_ids IS NULL THEN {found['saved_views']} ELSE {_not_zero(_OF_MESHES)} END"
        )
    for table in known - found.keys():
        if "mesh_id" in columns[table]:
            found[table] = _not_zero(f"strpos({_IDS}, mesh_id::text)")
        elif "mesh_key" in columns[table]:
            found[table] = _not_zero(f"strpos({_KEYS}, ',' || mesh_key || ',')")
        elif "vm_key" in columns[table]:
            found[table] = _not_zero(f"sees_vm_key({_IDS}, vm_key)")
    found["annotations"] += f" AND (NOT scoped OR {_not_zero(f'sees_target({_IDS}, tenant_id, id)')})"
    return found | _through_foreign_keys(connection, known, found)


def _through_foreign_keys(connection: Connection, known: set[str], found: dict[str, str]) -> dict[str, str]:
    """Return the conditions of tables that refer to a table with one, directly or through others."""
    keys = connection.execute(
        text(
            "SELECT c.conrelid::regclass::text, c.confrelid::regclass::text, a.attname FROM pg_constraint c"
            " JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[2]"
            " WHERE c.contype = 'f' AND c.connamespace = 'public'::regnamespace AND cardinality(c.conkey) = 2"
            " ORDER BY 1, 2, 3"
        )
    ).all()
    added: dict[str, str] = {}
    while True:
        seen = found.keys() | added.keys()
        found_now: dict[str, list[str]] = {}
        for table, parent, column in keys:
            if table in known - seen and parent in seen and (table, parent) not in _NOT_THROUGH:
                sees = _not_zero(f"sees_row_of_{parent}({_IDS}, tenant_id, {column})")
                found_now.setdefault(table, []).append(sees)
        if not found_now:
            return added
        added |= {table: " AND ".join(sees) for table, sees in found_now.items()}


def _sees_row(parent: str) -> str:
    """Return the function that asks whether a row of `parent` is seen; the policy of that table answers."""
    return (
        f"CREATE OR REPLACE FUNCTION sees_row_of_{parent}(listed text, tenant uuid, parent uuid) RETURNS bigint"
        " LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$"
        f" BEGIN RETURN (SELECT count(*) FROM {parent} p WHERE p.tenant_id = tenant AND p.id = parent); END $$"
    )


def _not_zero(number: str) -> str:
    return f"COALESCE({number}, 1) <> 0"
