import { delimiter } from 'node:path';
import type { EngineContext } from '../../engine.ts';
import { type Flavour, serverOf } from '../introspect.ts';

/** A server that can be started. */
export interface ServerPrograms {
  flavour: Flavour;
  /** `mariadbd`, `mysqld`. */
  server: string;
  /** Makes its first files; MySQL's server does that itself. */
  installer: string | null;
}

/** Beside the PATH, which seldom has the folders of administrators. */
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

/** Which of the two flavours a server is, it says itself: what is called `mysqld` may be either. */
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

/** The first server of each flavour where the runner runs them. */
export async function findServerPrograms({ runner, environment, signal }: EngineContext): Promise<ServerPrograms[]> {
  // A container's folders are not ours.
  const onPath = runner.id === 'local' ? (environment.PATH ?? '').split(delimiter).filter((path) => path !== '') : [];
  const directories = [...new Set([...onPath, ...USUAL_PLACES])];
  const { stdout } = await runner.run(
    { file: '/bin/sh', args: ['-c', LOOK_FOR_SERVERS, 'sh', ...directories] },
    { signal },
  );
  const lines = stdout.split('\n').map((line) => line.split('\t'));
  const installer = lines.find(([kind]) => kind === 'installer')?.[1] ?? null;
  const servers = lines.flatMap(([kind, server = '', version = '']): ServerPrograms[] => {
    if (kind !== 'server' || version === '') return [];
    const { flavour } = serverOf(version);
    if (flavour === 'mysql') return [{ flavour, server, installer: null }];
    return installer === null ? [] : [{ flavour, server, installer }];
  });
  return servers.filter(({ flavour }, index) => servers.findIndex((other) => other.flavour === flavour) === index);
}
