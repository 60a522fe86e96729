#!/bin/sh
# Run once by the database image, when its volume is still empty: the three roles and the database they share.
# The owner owns the schema and runs migrations. The application works as one tenant, the system role across tenants;
# neither may own a table or bypass row-level security. The superuser keeps no password: it is reached by the socket in
# the container alone, not with the password of the owner.
#
# With the secret database_archive_password there is a fourth one for the archive: it may replicate and read statistics,
# but no row. infra/docker/archive.yml adds it; an installation that exists runs the script again with --archiver.
#
# Passwords are read from the files of the stack's secrets by psql itself, so that no process list shows them.
set -eu
secrets=${SINEMORA_SECRETS:-/run/secrets}

archiver() {
    [ -s "$secrets/database_archive_password" ] || return 0
    psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" -v database="$POSTGRES_DB" <<SQL
\\set password \`cat '$secrets/database_archive_password'\`
CREATE ROLE sinemora_archiver LOGIN REPLICATION NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD :'password';
GRANT pg_monitor TO sinemora_archiver;
GRANT CONNECT ON DATABASE :"database" TO sinemora_archiver;
SQL
    # The image lets no role replicate over the network.
    file=$(psql -At -U "$POSTGRES_USER" -d "$POSTGRES_DB" -c 'SHOW hba_file')
    echo 'host replication sinemora_archiver all scram-sha-256' >> "$file"
    psql -q -U "$POSTGRES_USER" -d "$POSTGRES_DB" -c 'SELECT pg_reload_conf()' > /dev/null
}

if [ "${1:-}" = --archiver ]; then
    archiver
    exit
fi

for name in database_owner_password database_password database_system_password; do
    if [ ! -s "$secrets/$name" ]; then
        echo "roles: the secret $secrets/$name is missing or empty; write the password into that file" >&2
        exit 1
    fi
done

psql -v ON_ERROR_STOP=1 -U "$POSTGRES_USER" -d "$POSTGRES_DB" -v database="$POSTGRES_DB" <<SQL
\\set owner_password \`cat '$secrets/database_owner_password'\`
\\set app_password \`cat '$secrets/database_password'\`
\\set system_password \`cat '$secrets/database_system_password'\`
CREATE ROLE sinemora_owner LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD :'owner_password';
CREATE ROLE sinemora_app LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD :'app_password';
CREATE ROLE sinemora_system LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD :'system_password';
ALTER DATABASE :"database" OWNER TO sinemora_owner;
ALTER SCHEMA public OWNER TO sinemora_owner;
REVOKE ALL ON DATABASE :"database" FROM PUBLIC;
GRANT CONNECT, TEMPORARY ON DATABASE :"database" TO sinemora_app, sinemora_system;
ALTER ROLE CURRENT_USER PASSWORD NULL;
SQL
archiver
