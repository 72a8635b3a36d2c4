import { join } from 'node:path';
import type { ToolReport } from '../../../results/configuration/configuration-results.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { ClientProgram } from '../../facets/connect.ts';
import { toolFinder } from '../../shared/find-tools.ts';
import { connectionEnvironment } from './url.ts';

export interface ClientTools {
  directory: string;
  version: string;
  major: number;
  psql: string;
  pg_dump: string;
  pg_restore: string;
  pg_isready: string;
}

/** Debian, Red Hat, Homebrew on both architectures, Postgres.app. */
const USUAL_PLACES = [
  '/usr/lib/postgresql/*/bin',
  '/usr/pgsql-*/bin',
  '/opt/homebrew/opt/libpq/bin',
  '/opt/homebrew/opt/postgresql*/bin',
  '/usr/local/opt/libpq/bin',
  '/usr/local/opt/postgresql*/bin',
  '/Applications/Postgres.app/Contents/Versions/*/bin',
];

const PROGRAMS = ['psql', 'pg_dump', 'pg_restore', 'pg_isready'];

/**
 * Prints folders with all programs, and their version. Debian's slow pg_wrapper is skipped: it starts programs of the
 * usual folders.
 */
const LOOK_FOR_TOOLS = `
places=$PATH PATH=$PATH:/usr/bin:/bin IFS=:
for directory in ${USUAL_PLACES.join(' ')} $places; do
  for program in ${PROGRAMS.join(' ')}; do
    [ -f "$directory/$program" ] && [ -x "$directory/$program" ] || continue 2
  done
  [ "$directory/pg_dump" -ef /usr/share/postgresql-common/pg_wrapper ] && continue
  if [ -L "$directory/pg_dump" ]; then
    case $(readlink -f "$directory/pg_dump") in */pg_wrapper) continue ;; esac
  fi
  printf '%s\t%s\n' "$directory" "$("$directory/pg_dump" --version 2>/dev/null)"
done`;

const INSTALL_HINT =
  'apt-get install postgresql-client (Debian, Ubuntu), brew install libpq (macOS), or https://www.postgresql.org/download/. Or run them in a container: pgdocker:// in the URL, or docker.images.postgres.';

export async function reportTools(context: EngineContext): Promise<ToolReport[]> {
  const installations = await findClientTools(context);
  return installations.flatMap(({ psql, pg_dump, pg_restore, version }) =>
    Object.entries({ pg_dump, pg_restore, psql }).map(([name, path]) => ({ name, path, version })),
  );
}

export const findClientTools = toolFinder(LOOK_FOR_TOOLS, (lines) => {
  const tools = lines.flatMap(readTools);
  const unique = tools.filter((entry, index) => tools.findIndex((other) => other.version === entry.version) === index);
  return unique.sort((a, b) => compareVersions(b.version, a.version));
});

/** `/usr/lib/postgresql/15/bin`, a tab, `pg_dump (PostgreSQL) 15.18 (Debian …)`. */
function readTools(line: string): ClientTools[] {
  const [directory = '', answer = ''] = line.split('\t');
  const version = /(\d+(?:\.\d+)*)/.exec(answer)?.[1];
  if (version === undefined) return [];
  return [
    {
      directory,
      version,
      major: majorOf(version),
      psql: join(directory, 'psql'),
      pg_dump: join(directory, 'pg_dump'),
      pg_restore: join(directory, 'pg_restore'),
      pg_isready: join(directory, 'pg_isready'),
    },
  ];
}

export async function anyClientTools(context: EngineContext): Promise<ClientTools> {
  const [newest] = await findClientTools(context);
  if (newest) return newest;
  throw new UserError('tools_missing', 'No PostgreSQL client programs (psql, pg_dump, pg_restore) were found', {
    hint: `Install them: ${INSTALL_HINT}`,
  });
}

/** pg_dump refuses a server newer than itself. */
export function toolsForServer(tools: ClientTools[], serverVersion: string): ClientTools {
  const [newest] = tools;
  if (newest && newest.major >= majorOf(serverVersion)) return newest;
  throw new UserError(
    'tools_too_old',
    `The server is PostgreSQL ${serverVersion}, but the newest pg_dump here is ${newest?.version}`,
    {
      hint: `pg_dump refuses a server newer than itself. Install version ${majorOf(serverVersion)} or newer: ${INSTALL_HINT}`,
    },
  );
}

/** The oldest that reads the archive: the closer to the server, the fewer settings that the server does not know. */
export function toolsForArchive(tools: ClientTools[], writtenBy: string): ClientTools {
  const able = tools.filter((entry) => entry.major >= majorOf(writtenBy));
  const oldest = able.at(-1);
  if (oldest) return able.find((entry) => entry.major === oldest.major) ?? oldest;
  throw new UserError(
    'tools_too_old',
    `The snapshot was written by pg_dump ${writtenBy}, but the newest pg_restore here is ${tools[0]?.version}`,
    {
      hint: `pg_restore cannot read the archive of a newer pg_dump. Install version ${majorOf(writtenBy)} or newer: ${INSTALL_HINT}`,
    },
  );
}

/** First minor release with `\restrict`, which limits psql to SQL. CVE-2025-8714. */
const RESTRICT_SINCE = new Map([
  [13, 22],
  [14, 19],
  [15, 14],
  [16, 10],
  [17, 6],
]);

export function knowsRestrict({ version, major }: Pick<ClientTools, 'version' | 'major'>): boolean {
  const since = RESTRICT_SINCE.get(major);
  return since === undefined ? major > 17 : Number(version.split('.')[1] ?? 0) >= since;
}

export function majorOf(version: string): number {
  return Number.parseInt(version, 10);
}

function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** psql for a person: with the messages and the encoding of the terminal. */
export async function clientProgram(context: EngineContext, { url }: { url: DatabaseUrl }): Promise<ClientProgram> {
  const { psql: file } = await anyClientTools(context);
  const { args } = connectionEnvironment(url);
  return { file, args, env: url.password === null ? {} : { PGPASSWORD: url.password } };
}
