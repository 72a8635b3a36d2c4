import { spawnSync } from 'node:child_process';

/**
 * Debian starts the services that it installs, unless policy-rc.d says 101.
 * https://manpages.debian.org/bookworm/init-system-helpers/invoke-rc.d.8.en.html
 * The file belongs to a shell, which outlives this process and removes it when the command has ended; should the shell
 * be killed too, the file allows everything again and removes itself when it is next asked, or when this runs again.
 */
const GUARD = `
policy=$1; shift
owner=$(sed -n 's/^# of the process //p' "$policy" 2>/dev/null)
if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then rm -f "$policy"; fi
if [ -e "$policy" ]; then exec "$@"; fi
trap 'rm -f "$policy"' EXIT
trap : HUP INT TERM
cat > "$policy" <<END
#!/bin/sh
# of the process $$
if kill -0 $$ 2>/dev/null; then exit 101; fi
rm -f "$policy"
exit 0
END
chmod 755 "$policy"
"$@"
`;

/** Runs a command while no service is started; the result is that of `spawnSync`. */
export function runWithoutServices(command, { policy = '/usr/sbin/policy-rc.d', ...options } = {}) {
  return spawnSync('sh', ['-c', GUARD, 'sh', policy, ...command], { encoding: 'utf8', ...options });
}
