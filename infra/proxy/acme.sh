#!/bin/sh
# Gets the certificate of the proxy from an ACME certification authority (RFC 8555) and renews it, for ever. The proxy serves
# the proofs (HTTP-01: port 80 of the public name must reach it) from the volume `acme`, and takes the certificate from the
# volume `tls` as soon as it lies there.
#
#   SINEMORA_PUBLIC_URL     https://NAME; the certificate is for NAME
#   SINEMORA_ACME_EMAIL     whom the authority tells of problems; empty: nobody
#   SINEMORA_ACME_SERVER    directory of the authority (Let's Encrypt)
#   SINEMORA_ACME_EVERY_S   pause between two looks at the age of the certificate, s (12 h)
set -eu

case "${SINEMORA_PUBLIC_URL:-}" in
https://*) ;;
*)
    echo "acme: SINEMORA_PUBLIC_URL must start with https:// and name this host, not '${SINEMORA_PUBLIC_URL:-}'" >&2
    exit 1
    ;;
esac
name=${SINEMORA_PUBLIC_URL#https://}
name=${name%%/*}
name=${name%%:*}
case "$name" in
*[!A-Za-z0-9.-]* | "" | -*)
    echo "acme: '$name' in SINEMORA_PUBLIC_URL is no host name that a certificate can be for" >&2
    exit 1
    ;;
esac

# The account and the certificates; the proxy sees copies only.
kept=/acme/account
live=$kept/live/$name

set -- certonly --non-interactive --agree-tos --keep-until-expiring --webroot --webroot-path /acme/proofs \
    --config-dir "$kept" --work-dir /tmp/work --logs-dir /tmp/logs --cert-name "$name" --domain "$name" \
    --server "${SINEMORA_ACME_SERVER:-https://acme-v02.api.letsencrypt.org/directory}"
if [ -n "${SINEMORA_ACME_EMAIL:-}" ]; then
    set -- "$@" --email "$SINEMORA_ACME_EMAIL"
else
    set -- "$@" --register-unsafely-without-email
fi

for folder in /acme /tls; do
    if [ ! -w "$folder" ]; then
        echo "acme: user $(id -u) cannot write to $folder. A volume of an earlier version belongs to root: stop the stack," \
            "remove the volumes acme and tls (docker volume rm), and start it again" >&2
        exit 1
    fi
done
mkdir -p /acme/proofs
while true; do
    if certbot "$@"; then
        # The key first, and each by a rename: the proxy never reads half a file.
        if ! cmp -s "$live/fullchain.pem" /tls/tls.crt; then
            for pair in privkey:tls.key fullchain:tls.crt; do
                cp "$live/${pair%%:*}.pem" "/tls/.${pair##*:}"
                chmod 0400 "/tls/.${pair##*:}"
                mv "/tls/.${pair##*:}" "/tls/${pair##*:}"
            done
            echo "acme: new certificate for $name"
        fi
        pause=${SINEMORA_ACME_EVERY_S:-43200}
    else
        echo "acme: no certificate for $name this time; trying again in an hour" >&2
        pause=3600 # the authority allows few failures an hour
    fi
    # In the background, so that a stop ends it at once.
    sleep "$pause" &
    wait $!
done
