"""Archives of the database: their format, the tables they have, export and deletion of a tenant."""
