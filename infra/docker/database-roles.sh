#!/bin/sh
# Run once by the database image, when its volume is still empty: the three roles and the database they share.
# The owner owns the schema and runs migrations. The application works as one tenant, the system role across tenants;
# neither may own a table or bypass row-level security. The superuser keeps no password: it is reached by the socket in
# the container alone, not with the password of the owner.
set -eu

psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" \
    -v owner_password="$SINEMORA_DATABASE_OWNER_PASSWORD" -v app_password="$SINEMORA_DATABASE_PASSWORD" \
    -v system_password="$SINEMORA_DATABASE_SYSTEM_PASSWORD" -v database="$POSTGRES_DB" <<'SQL'
CREATE ROLE sinemora_owner LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD :'owner_password';
CREATE ROLE sinemora_app LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD :'app_password';
CREATE ROLE sinemora_system LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD :'system_password';
ALTER DATABASE :"database" OWNER TO sinemora_owner;
ALTER SCHEMA public OWNER TO sinemora_owner;
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT, TEMPORARY ON DATABASE :"database" TO sinemora_app, sinemora_system;
ALTER ROLE CURRENT_USER PASSWORD NULL;
SQL
