import { delimiter } from 'node:path';
import type { EngineContext } from '../../engine-context.ts';
import { type Flavour, serverOf } from '../catalog/introspect.ts';

export interface ServerPrograms {
  flavour: Flavour;
  server: string;
  /** Version of the server, `10.11.6`, and its answer to `--version`. */
  version: string;
  build: string;
  /** For the first files; `null` for MySQL, whose server creates them. */
  installer: string | null;
}

/** The PATH seldom includes the folders of servers. */
const USUAL_PLACES = [
  '/usr/sbin',
  '/usr/bin',
  '/usr/local/sbin',
  '/usr/local/bin',
  '/usr/libexec',
  '/opt/homebrew/bin',
  '/opt/homebrew/opt/mysql/bin',
  '/usr/local/mysql/bin',
  '/usr/local/mysql/scripts',
];

/** `mysqld` may be of either flavour: `--version` tells. */
const LOOK_FOR_SERVERS = `
for directory do
  for name in mariadbd mysqld; do
    test -x "$directory/$name" && printf 'server\\t%s\\t%s\\n' "$directory/$name" "$("$directory/$name" --no-defaults --version 2>/dev/null)"
  done
  for name in mariadb-install-db mysql_install_db; do
    test -x "$directory/$name" && printf 'installer\\t%s\\n' "$directory/$name"
  done
done
true`;

/** Finds the server programs of each flavour; the folders of the PATH come first. */
export async function findServerPrograms(context: EngineContext): Promise<ServerPrograms[]> {
  const all = await findAllServerPrograms(context);
  return all.filter(({ flavour }, index) => all.findIndex((other) => other.flavour === flavour) === index);
}

export async function findAllServerPrograms({ runner, environment, signal }: EngineContext): Promise<ServerPrograms[]> {
  // The PATH of this machine is not that of a container.
  const onPath = runner.id === 'local' ? (environment.PATH ?? '').split(delimiter).filter((path) => path !== '') : [];
  const directories = [...new Set([...onPath, ...USUAL_PLACES])];
  const { stdout } = await runner.run(
    { file: '/bin/sh', args: ['-c', LOOK_FOR_SERVERS, 'sh', ...directories] },
    { signal },
  );
  const lines = stdout.split('\n').map((line) => line.split('\t'));
  const installer = lines.find(([kind]) => kind === 'installer')?.[1] ?? null;
  return lines.flatMap(([kind, server = '', answer = '']): ServerPrograms[] => {
    // `/usr/sbin/mariadbd  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64 (Debian 12)`
    const build = /Ver (\d[^\n]{0,200})/.exec(answer)?.[1];
    if (kind !== 'server' || build === undefined) return [];
    const { flavour, version } = serverOf(build);
    if (flavour === 'mysql') return [{ flavour, server, version, build, installer: null }];
    return installer === null ? [] : [{ flavour, server, version, build, installer }];
  });
}
