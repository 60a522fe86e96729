"""Verification of aged ranges: every object that is read in place of rows is in the storage, as it was written."""

import hashlib
from datetime import datetime

from sinemora.kit.db import system_session
from sinemora.kit.object_storage import ObjectMissing, StorageError, installation_storage
from sinemora.measurements.store.aged import catalogue
from sinemora.measurements.store.aged.catalogue import AgedObject
from sinemora.operations.findings import Fault, Findings

_FROM_A_COPY = "cannot be repaired: restore the object from a copy or an earlier version in the bucket"


def check_objects(since: datetime, findings: Findings) -> None:
    """Read every current object of ranges that ended after a time, and compare its bytes with the catalogue."""
    with system_session() as session:
        objects = catalogue.find(session, "state = 'current' AND ended_at > :since", since=since)
    for one in objects:
        try:
            problem = _problem_of(one)
        except StorageError as error:  # the others would only wait for the same storage
            what = f"{error}; {len(objects) - findings.aged_objects} of {len(objects)} objects were not checked"
            findings.add(Fault("aged_objects", f"({one.object_key})", what, "run `sinemora aged check`"))
            return
        findings.aged_objects += 1
        if problem is not None:
            findings.add(Fault("aged_objects", f"({one.object_key})", problem, _FROM_A_COPY))


def _problem_of(one: AgedObject) -> str | None:
    """Return what is wrong with an object; None when nothing is, or it was removed meanwhile. StorageError."""
    try:
        content = installation_storage().get(one.object_key)
    except ObjectMissing:
        with system_session() as session:
            is_current = catalogue.find(session, "id = :id AND state = 'current'", id=one.id)
        return "its object is missing in the object storage" if is_current else None
    if len(content) != one.size_bytes:
        return f"its object has {len(content):,} bytes instead of {one.size_bytes:,}"
    if hashlib.sha256(content).digest() != one.checksum:
        return "its object does not have the checksum it was written with"
    return None
