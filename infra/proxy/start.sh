#!/bin/sh
# Writes the parts of the configuration that depend on the installation, then becomes nginx.
#
#   SINEMORA_PROXY_UPSTREAM   host:port of the API (api:8420)
#   SINEMORA_PROXY_TRUSTED    addresses (CIDR, space separated) of a load balancer in front, whose
#                             X-Forwarded-For and X-Forwarded-Proto are believed; empty: nobody's
#   SINEMORA_BODY_LIMIT_BYTES largest request (8 MiB), as for the API
#   SINEMORA_IMPORT_LIMIT_BYTES largest trace (64 MiB), as for the API
#   SINEMORA_PUBLIC_URL       where plain HTTP is sent to when there is a certificate
#   /tls/tls.crt, /tls/tls.key   certificate chain and key (PEM); without them plain HTTP is served
#
# Listens on 8080 (HTTP) and, with a certificate, on 8443 (HTTPS): no privilege is needed for either.
set -eu

made=/tmp/proxy
mkdir -p "$made"
: >"$made/http.conf"
: >"$made/server.conf"
: >"$made/redirect.conf"
: >"$made/imports.conf"

say() { printf '%s\n' "$1" >>"$made/$2.conf"; }

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
say "client_max_body_size ${SINEMORA_BODY_LIMIT_BYTES:-8388608};" server
say "client_max_body_size ${SINEMORA_IMPORT_LIMIT_BYTES:-67108864};" imports
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
    location = /proxy-healthz { access_log off; return 200; }
    location / { return 308 ${SINEMORA_PUBLIC_URL%/}\$request_uri; }
}" redirect
else
    echo "proxy: no certificate in /tls, serving plain HTTP" >&2
    say 'listen 8080;' server
fi

exec nginx -c "${SINEMORA_PROXY_CONF:-/etc/sinemora-proxy/nginx.conf}" -g 'daemon off;'
