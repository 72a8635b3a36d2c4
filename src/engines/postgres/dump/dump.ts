import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { redact } from '../../../process/redact.ts';
import type { ManifestTable } from '../../../repository/manifest.ts';
import { EXIT, UserError } from '../../../runtime/errors.ts';
import { startStep } from '../../../runtime/events.ts';
import { formatNumberOf } from '../../../text/format.ts';
import type { DumpRequest, DumpResult, EngineContext, PackedFile } from '../../engine.ts';
import { connect } from '../connection/connect.ts';
import type { PsqlSession } from '../connection/session.ts';
import { connectionOf } from '../connection/url.ts';
import type { CatalogTable } from '../introspect.ts';
import { type ClientTools, findClientTools, toolsForServer } from '../tools.ts';
import {
  type ArchiveDetails,
  type ArchiveEntry,
  DATA_TERMINATOR,
  isTableData,
  parseArchiveList,
  TERMINATOR_LINES,
  withoutDate,
} from './archive.ts';
import { cutDefinitions } from './cut-definitions.ts';
import { createDumpProgress, type DumpProgress, nameOf } from './dump-progress.ts';
import { readSource, type Source } from './dump-source.ts';
import { explainDumpFailure } from './rights.ts';

/**
 * One consistent dump by parallel workers: a transaction of ours exports its snapshot, the catalog is read in it and
 * pg_dump reads in it too. Tables are packed while they are written, so that no more than the largest ones lie on
 * the disk uncompressed.
 */
export async function dump(context: EngineContext, request: DumpRequest): Promise<DumpResult> {
  const { report } = context;
  const connected = startStep(report, 'connect', `Connect to ${request.url.display}`);
  const installed = await findClientTools(context);
  await using session = await connect(context, request.url);
  const serverVersion = await readServerVersion(session);
  const tools = toolsForServer(installed, serverVersion);
  const snapshot = await exportSnapshot(session);
  const source = await readSource(context, session, { request, serverVersion });
  connected(`Connected to PostgreSQL ${serverVersion}`);

  const of = `${formatNumberOf(source.tables.length, 'table')} of ${request.url.display}`;
  const dumped = startStep(report, 'dump', `Dump ${of}`);
  const progress = createDumpProgress({ tables: source.tables, expected: request.expectedBytes, report });
  const packing = createPacking(request, progress);
  const dumping = runPgDump(context, { request, tools, snapshot, session, source, progress });
  await followFiles(request.directory, { until: dumping, found: packing.follow });
  request.finish();
  await cutDefinitions(join(request.directory, 'toc.dat'), source);
  const archive = await listArchive(context, tools, request.directory);
  await fixDate(join(request.directory, 'toc.dat'));
  await packing.packRest(await readdir(request.directory));
  const packed = await packing.done();
  dumped(`Dumped ${of}`);
  return { serverVersion, toolVersion: tools.version, ...assemble({ packed, archive, source }) };
}

async function readServerVersion(session: PsqlSession): Promise<string> {
  const [row] = await session.query<{ version: string }>(`SELECT current_setting('server_version') AS version`);
  // Distributions add their own words: `15.18 (Debian 15.18-0+deb12u1)`.
  return row?.version.split(' ')[0] ?? '';
}

async function exportSnapshot(session: PsqlSession): Promise<string> {
  await session.execute('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const [row] = await session.query<{ id: string }>('SELECT pg_export_snapshot() AS id');
  if (!row) throw new Error('pg_export_snapshot() gave no row');
  return row.id;
}

interface Packing {
  /** Packs a table's file from the moment it appears. */
  follow(name: string): void;
  /** Packs the files that only now are complete. */
  packRest(names: string[]): Promise<void>;
  done(): Promise<Map<string, PackedFile>>;
}

function createPacking({ pack }: DumpRequest, progress: DumpProgress): Packing {
  const running = new Map<string, Promise<PackedFile>>();

  function start(name: string): void {
    if (running.has(name)) return;
    const terminator = isTableFile(name) ? DATA_TERMINATOR : null;
    const packed = pack({ name, terminator, onBytes: (bytes) => progress.onBytes(name, bytes) });
    // Awaited in `done`; when the dump fails before, its error is the one to tell.
    packed.catch(() => {});
    running.set(name, packed);
  }

  return {
    follow(name) {
      if (isTableFile(name)) start(name);
    },
    async packRest(names) {
      for (const name of names) start(name);
    },
    async done() {
      const files = await Promise.all(running.values());
      return new Map(files.map((packed) => [packed.file.name, packed]));
    },
  };
}

/** A table's rows, by the number of their entry in the archive. */
function isTableFile(name: string): boolean {
  return /^\d+\.dat$/.test(name);
}

const LOOK_EVERY = 25;

/** Tells of the folder's files as they appear. A watch of the kernel's would also tell of every write into them. */
async function followFiles(
  directory: string,
  { until, found }: { until: Promise<void>; found: (name: string) => void },
): Promise<void> {
  let over = false;
  const end = (): void => {
    over = true;
  };
  until.then(end, end);
  while (!over) {
    for (const name of await readdir(directory)) found(name);
    await Promise.race([until, setTimeout(LOOK_EVERY)]);
  }
  await until;
}

interface PgDump {
  request: DumpRequest;
  tools: ClientTools;
  snapshot: string;
  /** Asked why, when it fails. */
  session: PsqlSession;
  source: Source;
  progress: DumpProgress;
}

async function runPgDump(
  context: EngineContext,
  { request, tools, snapshot, session, source, progress }: PgDump,
): Promise<void> {
  const { url, jobs, directory } = request;
  const { args, env, mounts } = connectionOf(url, { statement_timeout: '0' });
  // Excluding the other schemas keeps the extensions, which `--schema` would drop without a word.
  const exclusions = source.excluded.map((schema) => `--exclude-schema="${schema.replaceAll('"', '""')}"`);
  const flags = [
    '--format=directory',
    '--compress=0',
    `--jobs=${jobs}`,
    `--snapshot=${snapshot}`,
    `--file=${directory}`,
  ];
  const result = await context.runner.run(
    {
      file: tools.pg_dump,
      args: [...flags, ...DUMP_FLAGS, ...exclusions, ...args],
      env,
      mounts: [...mounts, { path: directory, writable: true }],
    },
    { signal: context.signal, onErrorLine: progress.onToolLine },
  );
  if (result.exitCode === 0) return;
  const schemas = source.details.schemas.map(({ name }) => name);
  const { hint, details } = await explainDumpFailure(context, session, { schemas, jobs });
  throw new UserError(`pg_dump failed on ${url.display}`, {
    code: 'dump_failed',
    exit: EXIT.failed,
    details: [...wordsOf(result.stderr), ...details],
    hint,
  });
}

/** A copy must not start to replicate, and belongs to the restoring role. */
const DUMP_FLAGS = [
  '--no-publications',
  '--no-subscriptions',
  '--no-privileges',
  '--no-sync',
  '--no-password',
  '--verbose',
];

/** What a tool said that is not its account of how it goes on. */
function wordsOf(stderr: string): string[] {
  const lines = redact(stderr).split('\n');
  return lines.filter((line) => /(error|warning|detail|hint|fatal|query was|command was):/i.test(line)).slice(-20);
}

async function listArchive(context: EngineContext, tools: ClientTools, directory: string): Promise<ArchiveEntry[]> {
  const listing = await context.runner.run(
    { file: tools.pg_restore, args: ['--list', directory], mounts: [{ path: directory }] },
    { signal: context.signal },
  );
  if (listing.exitCode === 0) return parseArchiveList(listing.stdout);
  throw new UserError('pg_restore cannot read the output of pg_dump', {
    code: 'dump_failed',
    exit: EXIT.failed,
    details: redact(listing.stderr).trim().split('\n'),
    hint: 'Is the disk full?',
  });
}

/** A database that has not changed gives the same files again. */
async function fixDate(contents: string): Promise<void> {
  await writeFile(contents, withoutDate(await readFile(contents)));
}

interface Parts {
  packed: Map<string, PackedFile>;
  archive: ArchiveEntry[];
  source: Source;
}

function assemble({ packed, archive, source }: Parts): Pick<DumpResult, 'tables' | 'files' | 'details' | 'schemas'> {
  const byOid = new Map(source.allTables.map((table) => [table.oid, table]));
  const tables: ManifestTable[] = [];
  const data: ArchiveDetails['data'] = {};
  for (const entry of archive.filter(isTableData)) {
    const table = byOid.get(entry.oid);
    const content = packed.get(`${entry.dumpId}.dat`);
    if (!content || !table) continue;
    if (!content.terminated) throw cutShort(table);
    packed.delete(content.file.name);
    tables.push({ name: nameOf(table), rows: content.lines - TERMINATOR_LINES, file: content.file });
    const { schema, name, columns, of_extension } = table;
    const root = source.roots.get(table.oid);
    data[content.file.name] = { schema, table: name, columns, of_extension, ...(root && { root }) };
  }
  tables.sort((a, b) => (a.name < b.name ? -1 : 1));
  const files = [...packed.values()].map(({ file }) => file).sort((a, b) => (a.name < b.name ? -1 : 1));
  const schemas = source.details.schemas.map((schema) => schema.name);
  return { tables, files, schemas, details: { ...source.details, data } satisfies ArchiveDetails };
}

function cutShort(table: CatalogTable): UserError {
  return new UserError(`The dump of ${nameOf(table)} is cut short`, {
    code: 'dump_failed',
    exit: EXIT.failed,
    hint: 'Is the disk full? Nothing was stored.',
  });
}
