import { basename } from 'node:path';
import type { LogLine } from '../../src/state/run.ts';
import { formatDuration } from '../../src/text/format.ts';

/** Purposes of commands; the key of the log shows a command in full. */
const PURPOSES: Record<string, string> = {
  pg_dump: 'read definitions and rows of the source',
  pg_restore: 'create definitions in the restored database',
  psql: 'run SQL',
  pg_isready: 'wait for the server',
  initdb: 'create a temporary server',
  pg_ctl: 'start or stop a temporary server',
  postgres: 'start a temporary server',
  mysqldump: 'read definitions and rows of the source',
  'mariadb-dump': 'read definitions and rows of the source',
  mysql: 'run SQL',
  mariadb: 'run SQL',
  mysqld: 'start a temporary server',
  mariadbd: 'start a temporary server',
  'mariadb-install-db': 'create a temporary server',
  docker: 'run a program in a container',
  sh: 'run a shell script',
  git: 'read the state of the git repository',
};

/** The text of a line: of a command its program and purpose, unless it is unfolded. */
export function logText({ kind, text, tookMs }: LogLine, { unfolded }: { unfolded: boolean }): string {
  const took = tookMs === undefined ? '' : `  ${formatDuration(tookMs)}`;
  return `${kind === 'command' && !unfolded ? foldedCommand(text) : text}${took}`;
}

function foldedCommand(command: string): string {
  const first = /^\s*(?:'([^']*)'|"([^"]*)"|(\S+))/.exec(command);
  const program = basename(first?.slice(1).find((word) => word !== undefined) ?? command);
  const purpose = PURPOSES[program];
  return purpose === undefined ? `${program} …` : `${program}: ${purpose}`;
}
