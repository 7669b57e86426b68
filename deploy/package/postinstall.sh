#!/bin/sh
# Debian calls it with "configure" and the previous version, rpm with the number of installed versions.
set -e
if ! getent group touchline >/dev/null; then
	groupadd --system touchline
fi
if ! getent passwd touchline >/dev/null; then
	useradd --system --gid touchline --home-dir /var/lib/touchline --no-create-home --shell /usr/sbin/nologin --comment Touchline touchline
fi
chown root:touchline /etc/touchline /etc/touchline/touchline.env
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart touchline.service
fi
if { [ "$1" = configure ] && [ -z "$2" ]; } || [ "$1" = 1 ]; then
	echo "Touchline is installed. Its settings are in /etc/touchline/touchline.env. Start it with: systemctl enable --now touchline"
fi
