#!/bin/sh
# Replaces the containers of services by new ones, with the images and settings of now, while agents upload: the new ones
# serve before the old ones stop, so that no connection is refused. Run it in the folder of docker-compose.yml.
#
#   sh infra/docker/replace.sh              the proxy
#   sh infra/docker/replace.sh api proxy    the API first; `docker compose run --rm migrate` before, for a new version
#
#   COMPOSE       the command of Compose, with options (docker compose, else docker-compose)
#   PATIENCE_S    how long a new container may take until it is healthy, in whole seconds (180)
set -eu

if [ -z "${COMPOSE:-}" ]; then
    COMPOSE="docker compose"
    docker compose version >/dev/null 2>&1 || COMPOSE=docker-compose
fi
patience_s=${PATIENCE_S:-180}
known_s=6 # the proxy looks the addresses of the API up every 5 s

health() { docker inspect -f '{{.State.Health.Status}}' "$1" 2>/dev/null || echo gone; }

for service in "${@:-proxy}"; do
    case "$service" in
    api | proxy) ;;
    *)
        echo "replace: '$service' cannot be replaced this way, only api and proxy; restart it: $COMPOSE up -d $service" >&2
        exit 2
        ;;
    esac
done
for service in "${@:-proxy}"; do
    old=$($COMPOSE ps -q "$service")
    if [ -z "$old" ]; then
        echo "replace: $service does not run here; start the stack: $COMPOSE up -d" >&2
        exit 1
    fi
    count=$(echo "$old" | wc -l)
    $COMPOSE up -d --no-build --no-deps --no-recreate --scale "$service=$((2 * count))" "$service"
    new=$($COMPOSE ps -q "$service" | grep -vxF "$old" || true)
    if [ -z "$new" ]; then
        echo "replace: no new container of $service started, see the messages of Compose above; the old one goes on" >&2
        exit 1
    fi
    for container in $new; do
        waited_s=0
        until [ "$(health "$container")" = healthy ]; do
            if [ "$waited_s" -ge "$patience_s" ] || [ "$(health "$container")" = gone ]; then
                docker logs --tail 15 "$container" >&2 || true
                docker rm -f $new >/dev/null
                echo "replace: the new $service is not healthy after $waited_s s, see its log above; the old one goes on" >&2
                exit 1
            fi
            sleep 1
            waited_s=$((waited_s + 1))
        done
    done
    [ "$service" = proxy ] || sleep "$known_s"
    docker stop -t 30 $old >/dev/null
    docker rm $old >/dev/null
    echo "replace: $service replaced"
done
