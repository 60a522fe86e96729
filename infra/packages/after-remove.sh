#!/bin/sh
# Identity, spool and secrets stay until the package is purged (Debian) or somebody deletes them.
set -e
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
fi
if [ "${1:-}" = purge ]; then
    rm -rf /etc/sinemora/agent.env /var/lib/sinemora-agent /var/lib/private/sinemora-agent
fi
