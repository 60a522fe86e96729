#!/bin/sh
# On removal, not on an upgrade: Debian says "remove", RPM how many versions stay.
set -e
case "${1:-}" in
remove | 0)
    if [ -d /run/systemd/system ]; then
        systemctl disable --now sinemora-agent.service
    fi
    ;;
esac
