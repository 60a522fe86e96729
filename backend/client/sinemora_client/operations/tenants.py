"""Operations with the tag `tenants`.

Generated from the contract by `make gen`; do not edit.
"""

from uuid import UUID

from sinemora_client import models
from sinemora_client.calls import Calls
from sinemora_client.transport import segment


class TenantsOperations(Calls):
    """Operations with the tag `tenants`."""

    def list_own_tenants(self) -> models.OwnTenants:
        """List the tenants that the caller belongs to, with the role in each. An API key belongs to one.

        GET /v1/tenants, role viewer.
        """
        answer: models.OwnTenants = self._json("GET", "/v1/tenants")
        return answer

    def read_tenant(self, tenant_id: str | UUID) -> models.OwnTenantRead:
        """Return the tenant of this session or key.

        GET /v1/tenants/{tenant_id}, role viewer. Raises `ApiError` with `tenant_unknown`.
        """
        answer: models.OwnTenantRead = self._json("GET", f"/v1/tenants/{segment(tenant_id)}")
        return answer

    def read_usage(self) -> models.UsageRead:
        """Return the tenant's usage and quotas.

        GET /v1/usage, role viewer.
        """
        answer: models.UsageRead = self._json("GET", "/v1/usage")
        return answer

