#!/bin/sh
# Writes the parts of the configuration that depend on the installation, runs nginx, takes over the connections of the
# entrance (entrance.cfg), and has nginx read a certificate that is new: a renewal needs no restart.
#
# nginx listens on sockets in a folder of its own below SINEMORA_PROXY_SOCKETS, and the link `current` there leads the
# entrance to the proxy that started last. So the next proxy starts while this one serves, and no connection is refused.
#
#   SINEMORA_PROXY_SOCKETS    folder shared with the entrance (/sockets)
#   SINEMORA_PROXY_FOLDER     folder for the configuration and temporary files (/tmp/proxy)
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
set -eu

made=${SINEMORA_PROXY_FOLDER:-/tmp/proxy}
sockets=${SINEMORA_PROXY_SOCKETS:-/sockets}
configuration=${SINEMORA_PROXY_CONF:-/etc/sinemora-proxy/nginx.conf}
if [ ! -w "$sockets" ]; then
    echo "proxy: user $(id -u) cannot write to $sockets, the folder that it shares with the entrance (SINEMORA_PROXY_SOCKETS)" >&2
    exit 1
fi
mkdir -p "$made"
rm -f "$made/nginx.pid"
own=$(mktemp -d "$sockets/XXXXXX")
ln -sf "$own/health" "$made/health" # where the engine looks

say() { printf '%s\n' "$1" >>"$made/$2.conf"; }

largest() {
    most=0
    for bytes in "$@"; do
        [ "$bytes" -le "$most" ] || most=$bytes
    done
    echo "$most"
}

configure() {
    cp "$configuration" "$made/nginx.conf"
    : >"$made/http.conf"
    : >"$made/server.conf"
    : >"$made/servers.conf"
    : >"$made/imports.conf"

    # nginx does not read resolv.conf by itself.
    nameservers=$(awk '$1 == "nameserver" { print ($2 ~ /:/ ? "[" $2 "]" : $2) }' /etc/resolv.conf | tr '\n' ' ')
    if [ -n "$nameservers" ]; then
        say "resolver $nameservers valid=5s ipv6=off;" http
    fi

    # The entrance names the caller's address in the PROXY protocol. Only a trusted caller may name another.
    say 'set_real_ip_from unix:;' http
    if [ -n "${SINEMORA_PROXY_TRUSTED:-}" ]; then
        say 'geo $proxy_protocol_addr $trusted { default 0;' http
        for address in $SINEMORA_PROXY_TRUSTED; do
            say "$address 1;" http
        done
        say '}' http
        for address in $SINEMORA_PROXY_TRUSTED; do
            say "set_real_ip_from $address;" http
        done
        say 'real_ip_header X-Forwarded-For;' http
        say 'real_ip_recursive on;' http
        say 'map "$trusted $remote_addr" $client {
    "1 unix:" $proxy_protocol_addr;
    ~^1 $remote_addr;
    default $proxy_protocol_addr;
}' http
        say 'map "$trusted $http_x_forwarded_proto" $forwarded_proto { "1 https" https; default $scheme; }' http
    else
        say 'real_ip_header proxy_protocol;' http
        say 'map $remote_addr $client { default $remote_addr; }' http
        say 'map $scheme $forwarded_proto { default $scheme; }' http
    fi

    say "set \$api ${SINEMORA_PROXY_UPSTREAM:-api:8420};" server
    bytes=$(largest "${SINEMORA_BODY_LIMIT_BYTES:-262144}" "${SINEMORA_DATA_LIMIT_BYTES:-4194304}" \
        "${SINEMORA_REPORT_LIMIT_BYTES:-8388608}")
    say "client_max_body_size $bytes;" server
    say "client_max_body_size ${SINEMORA_IMPORT_LIMIT_BYTES:-67108864};" imports
    say "server {
    listen unix:$own/health;
    access_log off;
    location = /proxy-healthz { return 200; }
}" servers
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
        say "listen unix:$own/https ssl http2 proxy_protocol;" server
        say 'ssl_certificate /tls/tls.crt;' server
        say 'ssl_certificate_key /tls/tls.key;' server
        say 'ssl_protocols TLSv1.2 TLSv1.3;' server
        say 'ssl_session_cache shared:tls:8m;' server
        say "server {
    listen unix:$own/http proxy_protocol;
    $proofs
    location = /proxy-healthz { access_log off; return 200; }
    location / { return 308 ${SINEMORA_PUBLIC_URL%/}\$request_uri; }
}" servers
    elif [ -n "$proofs" ]; then
        echo "proxy: waiting for the first certificate; only the proofs for it are served" >&2
        say "listen unix:$made/waiting;" server
        say "server {
    listen unix:$own/http proxy_protocol;
    $proofs
    location = /proxy-healthz { access_log off; return 200; }
    location / { return 503 'The certificate of this installation is on its way. Try again in a minute.'; }
}" servers
    else
        echo "proxy: no certificate in /tls, serving plain HTTP" >&2
        say "listen unix:$own/http proxy_protocol;" server
    fi
}

# What the certificate is now; a renewal changes it.
certificate() { cat /tls/tls.crt /tls/tls.key 2>/dev/null | cksum; }

lives() { kill -0 "$server" 2>/dev/null; }
answers() { curl -fsS -o /dev/null --max-time 5 --unix-socket "$1/health" http://localhost/proxy-healthz 2>/dev/null; }

# One rename: whenever the entrance looks, one of the proxies is there.
take_over() {
    ln -sfn "$own" "$own/next"
    mv -T "$own/next" "$sockets/current"
}

# Ends this proxy. Connections that were led here wait in the queue of its socket, which would be lost with the socket: so
# first no more are led here, then nginx takes those, finishes open requests (worker_shutdown_timeout limits it) and ends.
finish() {
    if [ "$(readlink "$sockets/current")" = "$own" ]; then
        rm -f "$sockets/current"
    fi
    sleep 0.5
    until answers "$own" || ! lives; do sleep 0.1; done # before that nginx may miss the signal
    kill -QUIT "$server" 2>/dev/null || true
}

known=$(certificate)
configure
server=""
stopping=""
trap 'stopping=yes; [ -z "$server" ] || finish' TERM INT QUIT
nginx -p "$made" -c "$made/nginx.conf" -g 'daemon off;' &
server=$!
until answers "$own" || ! lives || [ -n "$stopping" ]; do sleep 0.1; done
[ -n "$stopping" ] || ! lives || take_over
[ -z "$stopping" ] || finish # it came before the number of the process was known, or while taking over
while [ -z "$stopping" ] && lives; do
    # In the background, so that a signal is heard at once.
    sleep 5 &
    wait $! || true
    # The one that started after this one may have been killed.
    [ -n "$stopping" ] || answers "$sockets/current" || take_over
    now=$(certificate)
    # Between the two files of a pair, or with one that is wrong, nginx refuses and keeps what it has; then again.
    if [ "$now" != "$known" ] && (configure) &&
        nginx -t -q -p "$made" -c "$made/nginx.conf" -g 'daemon off;'; then
        kill -HUP "$server"
        known=$now
        echo "proxy: new certificate" >&2
    fi
done
while :; do
    status=0
    wait "$server" || status=$?
    lives || break # else a second signal ended the wait early
done
rm -rf "$own"
exit "$status"
