#!/bin/sh
# An upgrade keeps the service running until the new version restarts it.
set -e
if { [ "$1" = remove ] || [ "$1" = 0 ]; } && [ -d /run/systemd/system ]; then
	systemctl disable --now touchline-backup.timer touchline.service
fi
