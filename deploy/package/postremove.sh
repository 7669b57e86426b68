#!/bin/sh
# The data in /var/lib/touchline, the backups in /var/lib/touchline-backups and the user stay, also after a purge: files may be the only copy.
set -e
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
if [ "$1" = purge ] && [ -d /var/lib/touchline ]; then
	echo "The data of Touchline is still in /var/lib/touchline. Delete it when you do not need it any more."
fi
