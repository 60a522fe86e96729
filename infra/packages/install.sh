#!/bin/sh
# Installs the Sinemora agent @VERSION@ and starts it as a service:
#
#   curl -fsSL https://sinemora.example/packages/install.sh | sudo sh -s -- --backend https://sinemora.example --token sme_…
#
# The download is checked against the sums below before anything is installed. Further `--key value` pairs are settings
# of the agent (`--zone-name eu-west-1a`). A later run installs another version and keeps settings and identity.
set -eu

SUMS='
@SUMS@
'

say() { printf '%s\n' "$*" >&2; }
die() { say "install.sh: $*"; exit 1; }

backend='' token='' settings=''
while [ $# -gt 0 ]; do
    case "$1" in
    --insecure-http) settings="$settings --insecure-http=true"; shift; continue ;;
    --?*) [ $# -ge 2 ] || die "$1 needs a value" ;;
    *) die "unknown argument: $1. Usage: install.sh --backend URL [--token TOKEN] [--SETTING VALUE …]" ;;
    esac
    case "$2" in *[\'\"\\]* | *'
'*) die "the value of $1 must not contain quotes, backslashes or line breaks" ;; esac
    case "$1" in
    --backend) backend=${2%/} ;;
    --token) token=$2 ;;
    *[!a-z-]*) die "unknown argument: $1" ;;
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
if command -v dpkg >/dev/null 2>&1; then kind=deb
elif command -v rpm >/dev/null 2>&1; then kind=rpm
else kind=tar.gz
fi
file=$(printf '%s' "$SUMS" | sed -n "s/^[0-9a-f]*  \(.*$machine\.$kind\)\$/\1/p")
[ -n "$file" ] || die "there is no $kind package for $machine on $backend"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
say "Fetching $backend/packages/$file"
if command -v curl >/dev/null 2>&1; then curl -fsSL -o "$folder/$file" "$backend/packages/$file"
elif command -v wget >/dev/null 2>&1; then wget -q -O "$folder/$file" "$backend/packages/$file"
else die "neither curl nor wget is installed"
fi
printf '%s' "$SUMS" | grep "  $file\$" >"$folder/sums"
(cd "$folder" && sha256sum -c sums >/dev/null) || die "the checksum of $file does not match; nothing was installed"

case $kind in
deb) dpkg -i "$folder/$file" >/dev/null ;;
rpm) rpm -U --replacepkgs "$folder/$file" ;;
tar.gz) tar -xzf "$folder/$file" -C / --no-same-owner ;;
esac

mkdir -p /etc/sinemora
umask 077
if [ -n "$token" ]; then printf 'SINEMORA_AGENT_TOKEN=%s\n' "$token" >/etc/sinemora/agent.env; fi
umask 022
# The agent rewrites its file itself: it knows TOML, and keeps comments and settings that are not given here.
eval "set -- $settings"
PATH=$PATH:/usr/local/bin sinemora-agent set --config /etc/sinemora/agent.toml --backend "$backend" "$@" >/dev/null ||
    die "/etc/sinemora/agent.toml was not changed, and the agent was not restarted"

if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl enable sinemora-agent.service >/dev/null 2>&1
    systemctl restart sinemora-agent.service
    say "The agent runs: systemctl status sinemora-agent"
else
    say "Installed. This machine has no systemd; start the agent with: sinemora-agent run"
fi
