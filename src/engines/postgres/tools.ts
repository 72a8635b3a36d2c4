import { readdir, realpath } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { EXIT, UserError } from '../../errors.ts';
import type { Runner } from '../../process/runner.ts';
import type { EngineContext, ToolReport } from '../engine.ts';

/** The client programs of one installation, which are always taken together. */
export interface ClientTools {
  directory: string;
  /** As `pg_dump --version` says it: `15.18`. */
  version: string;
  major: number;
  psql: string;
  pg_dump: string;
  pg_restore: string;
  pg_isready: string;
}

/** Folders whose children may hold a `bin` with the programs: Debian, Red Hat, Homebrew on both chips, Postgres.app. */
const USUAL_PLACES: { parent: string; bin: (child: string) => string }[] = [
  { parent: '/usr/lib/postgresql', bin: (child) => `/usr/lib/postgresql/${child}/bin` },
  { parent: '/usr', bin: (child) => (child.startsWith('pgsql-') ? `/usr/${child}/bin` : '') },
  { parent: '/opt/homebrew/opt', bin: (child) => homebrew('/opt/homebrew/opt', child) },
  { parent: '/usr/local/opt', bin: (child) => homebrew('/usr/local/opt', child) },
  {
    parent: '/Applications/Postgres.app/Contents/Versions',
    bin: (child) => `/Applications/Postgres.app/Contents/Versions/${child}/bin`,
  },
];

const INSTALL_HINT =
  'apt-get install postgresql-client (Debian, Ubuntu), brew install libpq (macOS), or https://www.postgresql.org/download/';

/** What a runner finds does not change while it lives, and one operation asks often. */
const found = new WeakMap<Runner, Promise<ClientTools[]>>();

/** Every installation of the client programs on this machine, newest first. */
export function findClientTools(context: EngineContext): Promise<ClientTools[]> {
  const known = found.get(context.runner) ?? lookForTools(context);
  found.set(context.runner, known);
  return known;
}

async function lookForTools({ runner, environment }: EngineContext): Promise<ClientTools[]> {
  const directories = await candidateDirectories(environment);
  const looked = await Promise.all(directories.map((directory) => inspectDirectory(runner, directory)));
  const tools = looked.filter((entry) => entry !== null);
  const unique = tools.filter((entry, index) => tools.findIndex((other) => other.version === entry.version) === index);
  return unique.sort((a, b) => compareVersions(b.version, a.version));
}

/** The newest client programs, for what any version can do. */
export async function anyClientTools(context: EngineContext): Promise<ClientTools> {
  const [newest] = await findClientTools(context);
  if (newest) return newest;
  throw new UserError('No PostgreSQL client programs (psql, pg_dump, pg_restore) were found', {
    code: 'tools_missing',
    exit: EXIT.failed,
    hint: `Install them: ${INSTALL_HINT}`,
  });
}

/** The newest `pg_dump` that can dump the server: pg_dump refuses a server newer than itself. */
export function toolsForServer(tools: ClientTools[], serverVersion: string): ClientTools {
  const [newest] = tools;
  if (newest && newest.major >= majorOf(serverVersion)) return newest;
  throw new UserError(`The server is PostgreSQL ${serverVersion}, but the newest pg_dump here is ${newest?.version}`, {
    code: 'tools_too_old',
    exit: EXIT.failed,
    hint: `pg_dump refuses a server newer than itself. Install version ${majorOf(serverVersion)} or newer: ${INSTALL_HINT}`,
  });
}

/**
 * The oldest `pg_restore` that reads what a `pg_dump` of this version wrote: the closer to the server it restores
 * into, the fewer settings it sets that the server does not know.
 */
export function toolsForArchive(tools: ClientTools[], writtenBy: string): ClientTools {
  const able = tools.filter((entry) => entry.major >= majorOf(writtenBy));
  const oldest = able.at(-1);
  if (oldest) return able.find((entry) => entry.major === oldest.major) ?? oldest;
  throw new UserError(
    `The snapshot was written by pg_dump ${writtenBy}, but the newest pg_restore here is ${tools[0]?.version}`,
    {
      code: 'tools_too_old',
      exit: EXIT.failed,
      hint: `pg_restore cannot read the archive of a newer pg_dump. Install version ${majorOf(writtenBy)} or newer: ${INSTALL_HINT}`,
    },
  );
}

/** What `config check` shows. */
export async function reportTools(context: EngineContext): Promise<ToolReport[]> {
  const installations = await findClientTools(context);
  return installations.flatMap(({ psql, pg_dump, pg_restore, version }) =>
    Object.entries({ pg_dump, pg_restore, psql }).map(([name, path]) => ({ name, path, version })),
  );
}

/** `15.18` → 15. */
export function majorOf(version: string): number {
  return Number.parseInt(version, 10);
}

async function candidateDirectories(environment: NodeJS.ProcessEnv): Promise<string[]> {
  const onPath = (environment.PATH ?? '').split(delimiter).filter((directory) => directory !== '');
  const usual = await Promise.all(
    USUAL_PLACES.map(async ({ parent, bin }) => (await readdir(parent).catch((): string[] => [])).map(bin)),
  );
  return [...new Set([...usual.flat(), ...onPath])].filter((directory) => directory !== '');
}

function homebrew(parent: string, child: string): string {
  return child === 'libpq' || child.startsWith('postgresql') ? `${parent}/${child}/bin` : '';
}

async function inspectDirectory(runner: Runner, directory: string): Promise<ClientTools | null> {
  const names = await readdir(directory).catch((): string[] => []);
  if (!['psql', 'pg_dump', 'pg_restore', 'pg_isready'].every((name) => names.includes(name))) return null;
  const pg_dump = join(directory, 'pg_dump');
  // Debian's wrapper, which starts what lies in the usual places, and takes its time.
  if (basename(await realpath(pg_dump).catch(() => '')) === 'pg_wrapper') return null;
  const answer = await runner.run({ file: pg_dump, args: ['--version'] }).catch(() => null);
  const version = /(\d+(?:\.\d+)*)/.exec(answer?.stdout ?? '')?.[1];
  if (version === undefined) return null;
  return {
    directory,
    version,
    major: majorOf(version),
    psql: join(directory, 'psql'),
    pg_dump,
    pg_restore: join(directory, 'pg_restore'),
    pg_isready: join(directory, 'pg_isready'),
  };
}

function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
