"""Commands of an operator: backup, restore, verification, and export, quota and deletion of a tenant."""
