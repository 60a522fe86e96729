"""HTTP of token buckets."""

from uuid import UUID

from sqlalchemy import select

from sinemora.access.tenants.access import Editor, Viewer, signed_in_router
from sinemora.kit.db import SessionDep
from sinemora.kit.errors import responses
from sinemora.kit.http.etag import Precondition
from sinemora.kit.http.paging import Page, Paging, paginate
from sinemora.measurements.token_buckets import service
from sinemora.measurements.token_buckets.models import TokenBucket
from sinemora.measurements.token_buckets.schemas import TokenBucketRead, TokenBucketWrite

router = signed_in_router("/v1", "vms")


@router.get("/token-buckets")
def list_token_buckets(session: SessionDep, actor: Viewer, page: Paging) -> Page[TokenBucketRead]:
    """List the token buckets of the tenant's VMs, newest first, each with the tokens left and when it will be empty."""
    rows = paginate(session, select(TokenBucket), page, TokenBucket.created_at, TokenBucket.id, descending=True)
    return Page(items=[service.read(session, row) for row in rows.items], next_cursor=rows.next_cursor)


@router.get("/vms/{vm_id}/token-bucket", responses=responses(404))
def read_token_bucket(vm_id: UUID, session: SessionDep, actor: Viewer) -> TokenBucketRead:
    """Return the token bucket of a VM, the tokens left by its traffic, and when it will be empty at its present use."""
    return service.read(session, service.get(session, vm_id))


@router.put("/vms/{vm_id}/token-bucket", responses=responses(404, 409, 412, 422))
def set_token_bucket(
    vm_id: UUID, body: TokenBucketWrite, session: SessionDep, actor: Editor, precondition: Precondition
) -> TokenBucketRead:
    """Set the token bucket that shapes a VM: from its provider's documents, or as detected from bursts."""
    return service.read(session, service.put(session, actor, vm_id, body, precondition))


@router.delete("/vms/{vm_id}/token-bucket", status_code=204, responses=responses(404, 412))
def delete_token_bucket(vm_id: UUID, session: SessionDep, actor: Editor, precondition: Precondition) -> None:
    """Delete the token bucket of a VM. Its traffic is still counted."""
    service.delete(session, actor, vm_id, precondition)
