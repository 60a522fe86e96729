#!/bin/sh
# Installs the Sinemora agent @VERSION@ and starts it as a service:
#
#   curl -fsSL https://sinemora.example/packages/install.sh | sudo sh -s -- --backend https://sinemora.example --token sme_…
#
# `--ca-pin sha256//…` names the public key of a backend whose certificate no authority of this machine has signed.
# Packages and archive of `make packages` hold one static binary for every Linux of the processor: it needs no library,
# and no version of glibc. The download is checked against the sums below before anything is installed; with `--public-key FILE` the sums
# are those that were signed with the private key of FILE. Further `--key value` pairs are settings of the agent
# (`--zone-name eu-west-1a`); those of sinemora-transfer (`--artifacts true`) also start its service. A later run installs another version, newer or older, and keeps settings and identity.
set -eu

SUMS='
@SUMS@
'

say() { printf '%s\n' "$*" >&2; }
die() { say "install.sh: $*"; exit 1; }

backend='' token='' key='' pin='' settings='' transfer=''
while [ $# -gt 0 ]; do
    case "$1" in
    --insecure-http) settings="$settings --insecure-http=true"; shift; continue ;;
    --?*) [ $# -ge 2 ] || die "$1 needs a value" ;;
    *) die "unknown argument: $1. Usage: install.sh --backend URL [--token TOKEN] [--public-key FILE] [--SETTING VALUE …]" ;;
    esac
    case "$2" in *[\'\"\\]* | *'
'*) die "the value of $1 must not contain quotes, backslashes or line breaks" ;; esac
    case "$1" in
    --backend) backend=${2%/} ;;
    --token) token=$2 ;;
    --public-key) key=$2 ;;
    --ca-pin) pin=$2; settings="$settings $1='$2'" ;;
    *[!a-z-]*) die "unknown argument: $1" ;;
    --artifacts* | --bulk-*) transfer="$transfer $1='$2'" ;;
    *) settings="$settings $1='$2'" ;;
    esac
    shift 2
done
[ -n "$backend" ] || die "the URL of the backend is missing: --backend https://…"
[ "$(id -u)" = 0 ] || die "must run as root (sudo): it installs a package and a service"

case "$(uname -m)" in
x86_64 | amd64) machine=x86_64 ;;
aarch64 | arm64) machine=aarch64 ;;
*) die "there is no agent for $(uname -m); it is built for x86_64 and aarch64" ;;
esac
# A program without its database is not what installs packages here: BusyBox has a dpkg and an rpm, too.
if command -v dpkg >/dev/null 2>&1 && [ -e /var/lib/dpkg/status ]; then kind=deb
elif command -v rpm >/dev/null 2>&1 && [ -d "$(rpm --eval '%{_dbpath}' 2>/dev/null)" ]; then kind=rpm
else kind=tar.gz
fi

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fetch() {
    say "Fetching $backend/packages/$1"
    if [ -n "$pin" ]; then curl -fsSL --insecure --pinnedpubkey "$pin" -o "$folder/$1" "$backend/packages/$1"
    elif command -v curl >/dev/null 2>&1; then curl -fsSL -o "$folder/$1" "$backend/packages/$1"
    elif command -v wget >/dev/null 2>&1; then wget -q -O "$folder/$1" "$backend/packages/$1"
    else die "neither curl nor wget is installed"
    fi || die "$backend/packages/$1 cannot be fetched; nothing was installed"
}

if [ -n "$key" ]; then
    [ -r "$key" ] || die "the public key $key cannot be read"
    command -v openssl >/dev/null 2>&1 || die "openssl is not installed: the signature cannot be checked"
    fetch SHA256SUMS
    fetch SHA256SUMS.sig
    openssl pkeyutl -verify -rawin -pubin -inkey "$key" -in "$folder/SHA256SUMS" -sigfile "$folder/SHA256SUMS.sig" \
        >/dev/null 2>&1 || die "the checksums of $backend are not signed with the key of $key; nothing was installed"
    SUMS=$(cat "$folder/SHA256SUMS")
fi
offered() { printf '%s\n' "$SUMS" | sed -n "s/^[0-9a-f]*  \(.*$machine\.$1\)\$/\1/p"; }
file=$(offered "$kind")
# `make up` packs the agent it builds as an archive alone; `make packages` adds packages.
[ -n "$file" ] || { kind=tar.gz; file=$(offered "$kind"); }
[ -n "$file" ] || die "there is no package for $machine on $backend"
fetch "$file"
printf '%s\n' "$SUMS" | grep "  $file\$" >"$folder/sums"
(cd "$folder" && sha256sum -c sums >/dev/null) || die "the checksum of $file does not match; nothing was installed"

case $kind in
deb) dpkg -i "$folder/$file" >/dev/null ;;
rpm) rpm -U --replacepkgs --oldpackage "$folder/$file" ;;
tar.gz) tar -xzf "$folder/$file" -C / --no-same-owner ;;
esac

PATH=$PATH:/usr/local/bin sinemora-agent --version >/dev/null 2>&1 ||
    die "the agent of $backend cannot run here: it was built there for a newer Linux. Run make packages in its checkout, which builds one for every Linux, then this again"

mkdir -p /etc/sinemora
umask 077
if [ -n "$token" ]; then printf 'SINEMORA_AGENT_TOKEN=%s\n' "$token" >/etc/sinemora/agent.env; fi
[ -e /etc/sinemora/agent.env ] || : >/etc/sinemora/agent.env
umask 022
# The agent rewrites its file itself: it knows TOML, and keeps comments and settings that are not given here.
eval "set -- $settings"
PATH=$PATH:/usr/local/bin sinemora-agent set --config /etc/sinemora/agent.toml --backend "$backend" "$@" >/dev/null ||
    die "/etc/sinemora/agent.toml was not changed, and the agent was not restarted"
if [ -n "$transfer" ]; then
    eval "set -- $transfer"
    PATH=$PATH:/usr/local/bin sinemora-transfer set --config /etc/sinemora/agent.toml "$@" >/dev/null ||
        die "the settings of sinemora-transfer were not written, and the agent was not restarted"
fi

if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl enable sinemora-agent.service >/dev/null 2>&1
    systemctl restart sinemora-agent.service
    if [ -n "$transfer" ]; then
        systemctl enable sinemora-transfer.service >/dev/null 2>&1
        systemctl restart sinemora-transfer.service
    fi
    say "The agent runs: systemctl status sinemora-agent"
else
    # Without systemd no one reads the file of the token for the agent.
    say "Installed. This machine has no systemd; start the agent as root with: set -a; . /etc/sinemora/agent.env; sinemora-agent run"
fi
