#!/bin/sh
# Nothing starts before somebody says where the backend is; an agent that runs goes on with the new version.
set -e
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl try-restart sinemora-agent.service
fi
