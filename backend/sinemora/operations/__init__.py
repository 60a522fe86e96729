"""What an operator does to the whole store: backup and restore, a tenant's export and deletion, the check of frames."""
