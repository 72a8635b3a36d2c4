#!/bin/bash
# The health check of the image: the hub is healthy when it is ready. Every other command is, as long as it runs.
set -u
mapfile -d '' -t words < /proc/1/cmdline
[[ " ${words[*]} " == *' hub serve '* ]] || exit 0

address=${TOOL_HUB_LISTEN:-127.0.0.1:3000}
[[ -n ${TOOL_HUB_LISTEN_FILE:-} ]] && address=$(<"$TOOL_HUB_LISTEN_FILE")
host=${address%:*}
case $host in
  0.0.0.0) host=127.0.0.1 ;;
  '[::]') host=::1 ;;
  '['*']') host=${host:1:-1} ;;
esac
exec 3<> "/dev/tcp/$host/${address##*:}" || exit 1
printf 'GET /readyz HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' "$address" >&3
read -r -t 8 _ status _ <&3 && [[ $status == 200 ]]
