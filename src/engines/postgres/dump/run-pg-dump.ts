import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { redact } from '../../../process/redact.ts';
import type { ProcessResult } from '../../../process/runner.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { DumpRequest } from '../../facets/dump.ts';
import { groupsOf } from '../../shared/groups.ts';
import type { CatalogTable } from '../catalog/introspect.ts';
import { PG_DUMP_LOCK_FLAG } from '../connection/lock-waits.ts';
import { quoteName } from '../connection/quote.ts';
import type { ClientTools } from '../connection/tools.ts';
import { connectionEnvironment, type SessionSettings } from '../connection/url.ts';
import { listArchive } from '../restore/list-archive.ts';
import { withoutDate } from './archive.ts';
import { CONTENTS, digestDefinitions } from './archive-contents.ts';
import { cutDefinitions } from './cut-definitions.ts';
import type { DumpContents } from './dump-contents.ts';
import type { DumpSelection } from './dump-source.ts';

/** The folder that pg_dump writes into, which must be its own. */
export const ARCHIVE = 'archive';

interface DatabaseDump {
  request: DumpRequest;
  tools: ClientTools;
  snapshot: string;
  selected: DumpSelection;
  own: CatalogTable[];
  encoding: SessionSettings;
  explain: (message: string, details: string[]) => Promise<UserError>;
}

/** Dumps all but the rows of its own tables. */
export async function dumpDatabase(
  context: EngineContext,
  { request, tools, snapshot, selected, own, encoding, explain }: DatabaseDump,
) {
  const { url, directory } = request;
  // Excluding the other schemas keeps the extensions, which `--schema` would drop without a word.
  const schemas = selected.excluded.map((schema) => `--exclude-schema=${quoteName(schema)}`);
  const jobs = `--jobs=${workersOf(request, { tools, selected, own })}`;
  const result = await runPgDump(context, {
    ...{ url, tools, snapshot, settings: encoding, archive: join(directory, ARCHIVE) },
    flags: ['--compress=0', '--no-sync', jobs, ...schemas, ...exclusionsOf(own)],
  });
  if (result.exitCode === 0) return;
  throw await explain(`pg_dump failed on ${url.display}`, wordsOf(result.stderr));
}

export type WrittenArchive = Pick<DumpContents, 'archive' | 'definitions'>;

/** Removes from the written archive what cannot be restored, and lists the rest. */
export async function cutArchive(
  context: EngineContext,
  { request, tools, selected }: Pick<DatabaseDump, 'request' | 'tools' | 'selected'>,
): Promise<WrittenArchive> {
  const archive = join(request.directory, ARCHIVE);
  // A database that has not changed gives the same files again.
  const contents = withoutDate(cutDefinitions(await readFile(join(archive, CONTENTS)), selected));
  await writeFile(join(archive, CONTENTS), contents);
  const entries = await listArchive(context, { tools, archive, unreadable: archiveUnreadable });
  return { archive: entries, definitions: digestDefinitions(contents) };
}

function archiveUnreadable(details: string[]): UserError {
  return new UserError('dump_failed', 'pg_restore cannot read the output of pg_dump', {
    details,
    hint: 'Is the disk full?',
  });
}

export interface PgDumpRun {
  url: DatabaseUrl;
  tools: ClientTools;
  settings: SessionSettings;
  /** Default: an instant of its own. */
  snapshot?: string;
  /** The folder to write, which must be its own. */
  archive: string;
  flags: string[];
}

/** A copy must not start to replicate, and belongs to the restoring role. */
const DUMP_FLAGS = ['--no-publications', '--no-subscriptions', '--no-privileges', '--no-password', PG_DUMP_LOCK_FLAG];

export async function runPgDump(
  { runner, signal }: EngineContext,
  { url, tools, settings, snapshot, archive, flags }: PgDumpRun,
): Promise<ProcessResult> {
  const { args, env, mounts } = connectionEnvironment(url, { statement_timeout: '0', ...settings });
  const instant = snapshot === undefined ? [] : [`--snapshot=${snapshot}`];
  const into = ['--format=directory', ...instant, `--file=${archive}`];
  return await runner.run(
    {
      file: tools.pg_dump,
      args: [...into, ...DUMP_FLAGS, ...flags, ...args],
      env,
      mounts: [...mounts, { path: dirname(archive), writable: true }],
    },
    { signal },
  );
}

/** Most tables that one pattern names: a regular expression of very many takes the server long. */
const TABLES_OF_PATTERN = 50;

function exclusionsOf(tables: Pick<CatalogTable, 'schema' | 'name'>[]): string[] {
  return tablePatterns(tables).map((pattern) => `--exclude-table-data=${pattern}`);
}

/**
 * pg_dump sends three statements for each pattern, so one names many tables: `"sales".("orders"|"invoice")`.
 * https://www.postgresql.org/docs/current/app-psql.html#APP-PSQL-PATTERNS
 */
export function tablePatterns(tables: Pick<CatalogTable, 'schema' | 'name'>[]): string[] {
  return [...Map.groupBy(tables, ({ schema }) => schema)].flatMap(([schema, within]) => {
    const names = within.map(({ name }) => quoteName(name));
    return [...groupsOf(names, TABLES_OF_PATTERN)].map((some) => `${quoteName(schema)}.(${some.join('|')})`);
  });
}

/** Since this version pg_dump divides large objects between its workers. */
const BLOBS_IN_PARALLEL = 17;

/** Workers only where it has something to do for them: each is a connection. */
function workersOf({ cpus }: DumpRequest, { tools, selected, own }: Pick<DatabaseDump, 'tools' | 'selected' | 'own'>) {
  const hasRows = own.length < selected.tables.filter((table) => !table.of_extension).length;
  const hasBlobs = tools.major >= BLOBS_IN_PARALLEL && selected.hasLargeObjects;
  return hasRows || hasBlobs ? cpus : 1;
}

/** Returns the last 20 lines of errors, warnings and their details, without reports of progress. */
function wordsOf(stderr: string): string[] {
  const lines = redact(stderr).split('\n');
  return lines.filter((line) => /(error|warning|detail|hint|fatal|query was|command was):/i.test(line)).slice(-20);
}
