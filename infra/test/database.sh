#!/bin/sh
# What the public PostgreSQL images do at start, as far as the production stack relies on it: create the cluster when
# there is none, run /docker-entrypoint-initdb.d once, then serve as the user `postgres`.
set -eu
PATH=/usr/lib/postgresql/15/bin:$PATH

if [ "$(id -u)" = 0 ]; then
    mkdir -p "$PGDATA" /var/run/postgresql
    chown postgres: "$PGDATA" /var/run/postgresql
    exec setpriv --reuid postgres --regid postgres --init-groups "$0" "$@"
fi

if [ ! -s "$PGDATA/PG_VERSION" ]; then
    # shellcheck disable=SC2086 # several arguments in one setting
    initdb -U "$POSTGRES_USER" --pwfile "$POSTGRES_PASSWORD_FILE" --auth-local=trust --no-sync $POSTGRES_INITDB_ARGS
    echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
    pg_ctl -w start -o "-c listen_addresses=''"
    createdb -U "$POSTGRES_USER" "$POSTGRES_DB"
    for script in /docker-entrypoint-initdb.d/*; do
        "$script"
    done
    pg_ctl -w stop
fi
exec postgres -c listen_addresses='*'
