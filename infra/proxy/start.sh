#!/bin/sh
# Writes the parts of the configuration that depend on the installation, runs nginx, and has it read a certificate that is
# new: a renewal needs no restart.
#
#   SINEMORA_PROXY_UPSTREAM   host:port of the API (api:8420)
#   SINEMORA_PROXY_TRUSTED    addresses (CIDR, space separated) of a load balancer in front, whose
#                             X-Forwarded-For and X-Forwarded-Proto are believed; empty: nobody's
#   SINEMORA_BODY_LIMIT_BYTES, SINEMORA_DATA_LIMIT_BYTES, SINEMORA_REPORT_LIMIT_BYTES
#                             largest requests, as for the API, which knows the limit of each route; the largest of them
#                             (8 MiB) passes here
#   SINEMORA_IMPORT_LIMIT_BYTES largest trace (64 MiB), as for the API
#   SINEMORA_ACME             on: a certificate comes by ACME (acme.sh), whose proofs in /acme/proofs are served
#   SINEMORA_PUBLIC_URL       where plain HTTP is sent to when there is a certificate
#   /tls/tls.crt, /tls/tls.key   certificate chain and key (PEM); without them plain HTTP is served
#
# Listens on 8080 (HTTP) and, with a certificate, on 8443 (HTTPS): no privilege is needed for either.
set -eu

made=/tmp/proxy
mkdir -p "$made"

say() { printf '%s\n' "$1" >>"$made/$2.conf"; }

largest() {
    most=0
    for bytes in "$@"; do
        [ "$bytes" -le "$most" ] || most=$bytes
    done
    echo "$most"
}

configure() {
    : >"$made/http.conf"
    : >"$made/server.conf"
    : >"$made/redirect.conf"
    : >"$made/imports.conf"

    # nginx does not read resolv.conf by itself.
    nameservers=$(awk '$1 == "nameserver" { print ($2 ~ /:/ ? "[" $2 "]" : $2) }' /etc/resolv.conf | tr '\n' ' ')
    if [ -n "$nameservers" ]; then
        say "resolver $nameservers valid=5s ipv6=off;" http
    fi

    if [ -n "${SINEMORA_PROXY_TRUSTED:-}" ]; then
        for address in $SINEMORA_PROXY_TRUSTED; do
            say "set_real_ip_from $address;" http
        done
        say 'real_ip_header X-Forwarded-For;' http
        say 'real_ip_recursive on;' http
        say 'map $http_x_forwarded_proto $forwarded_proto { https https; default $scheme; }' http
    else
        say 'map $scheme $forwarded_proto { default $scheme; }' http
    fi

    say "set \$api ${SINEMORA_PROXY_UPSTREAM:-api:8420};" server
    bytes=$(largest "${SINEMORA_BODY_LIMIT_BYTES:-262144}" "${SINEMORA_DATA_LIMIT_BYTES:-4194304}" \
        "${SINEMORA_REPORT_LIMIT_BYTES:-8388608}")
    say "client_max_body_size $bytes;" server
    say "client_max_body_size ${SINEMORA_IMPORT_LIMIT_BYTES:-67108864};" imports
    # The proofs of ACME (RFC 8555, §8.3) are read without TLS.
    proofs=""
    if [ "${SINEMORA_ACME:-}" = on ]; then
        proofs='location ^~ /.well-known/acme-challenge/ { default_type text/plain; root /acme/proofs; }'
    fi
    if [ -e /tls/tls.crt ] && [ -e /tls/tls.key ]; then
        for file in /tls/tls.crt /tls/tls.key; do
            if [ ! -r "$file" ]; then
                echo "proxy: $file cannot be read by user $(id -u); make it readable for that user" >&2
                exit 1
            fi
        done
        case "${SINEMORA_PUBLIC_URL:-}" in
        https://*) ;;
        *)
            echo "proxy: there is a certificate, so SINEMORA_PUBLIC_URL must start with https://" >&2
            exit 1
            ;;
        esac
        # HTTP/2: a browser opens only six plain connections to one host, and live pages hold one each.
        say 'listen 8443 ssl http2;' server
        say 'ssl_certificate /tls/tls.crt;' server
        say 'ssl_certificate_key /tls/tls.key;' server
        say 'ssl_protocols TLSv1.2 TLSv1.3;' server
        say 'ssl_session_cache shared:tls:8m;' server
        say "server {
    listen 8080;
    $proofs
    location = /proxy-healthz { access_log off; return 200; }
    location / { return 308 ${SINEMORA_PUBLIC_URL%/}\$request_uri; }
}" redirect
    elif [ -n "$proofs" ]; then
        echo "proxy: waiting for the first certificate; only the proofs for it are served" >&2
        say 'listen 127.0.0.1:8081;' server
        say "server {
    listen 8080;
    $proofs
    location = /proxy-healthz { access_log off; return 200; }
    location / { return 503 'The certificate of this installation is on its way. Try again in a minute.'; }
}" redirect
    else
        echo "proxy: no certificate in /tls, serving plain HTTP" >&2
        say 'listen 8080;' server
    fi
}

# What the certificate is now; a renewal changes it.
certificate() { cat /tls/tls.crt /tls/tls.key 2>/dev/null | cksum; }

configuration=${SINEMORA_PROXY_CONF:-/etc/sinemora-proxy/nginx.conf}
known=$(certificate)
configure
# Finishes open requests: a report that an agent is sending is answered (worker_shutdown_timeout limits it).
server=""
stopping=""
trap 'stopping=yes; [ -z "$server" ] || kill -QUIT "$server"' TERM INT QUIT
nginx -c "$configuration" -g 'daemon off;' &
server=$!
[ -z "$stopping" ] || kill -QUIT "$server" # it came before the number of the process was known
while [ -z "$stopping" ] && kill -0 "$server" 2>/dev/null; do
    # In the background, so that a signal is heard at once.
    sleep 5 &
    wait $! || true
    now=$(certificate)
    # Between the two files of a pair, or with one that is wrong, nginx refuses and keeps what it has; then again.
    if [ "$now" != "$known" ] && (configure) && nginx -t -q -c "$configuration" -g 'daemon off;'; then
        kill -HUP "$server"
        known=$now
        echo "proxy: new certificate" >&2
    fi
done
while :; do
    status=0
    wait "$server" || status=$?
    kill -0 "$server" 2>/dev/null || break # else a second signal ended the wait early
done
exit "$status"
