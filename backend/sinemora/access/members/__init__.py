"""Members of a tenant: roles, invitations, removal, transfer of ownership, and switching between tenants."""
