#!/bin/sh
# The role of the hub: tool hub migrate grants its rights.
set -eu
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
  --set password="$(cat /run/secrets/hub-password)" <<'SQL'
CREATE ROLE hub LOGIN PASSWORD :'password';
SQL
