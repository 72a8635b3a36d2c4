import { startStep } from '../../../../runtime/events.ts';
import { formatNumberOf } from '../../../../text/format.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { DumpRequest, DumpResult } from '../../../facets/dump.ts';
import { ScriptProblem } from '../../../shared/script/script-problem.ts';
import type { ScriptPart } from '../../../shared/script/split-script.ts';
import type { Definitions } from '../../catalog/definitions/definitions.ts';
import { collationsIn, featuresOf } from '../../catalog/features.ts';
import {
  type Flavour,
  type Inventory,
  readCollations,
  readInventory,
  type Server,
  settingsAmong,
} from '../../catalog/introspect.ts';
import type { CatalogTable } from '../../catalog/tables.ts';
import { connectionOf } from '../../connection/client-options.ts';
import { inDatabase, MARK, quotePath } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { SqlError } from '../../connection/session-errors.ts';
import { type ClientTool, dumpToolFor } from '../../connection/tools.ts';
import { type Details, detailsOf } from '../../details.ts';
import { createSplitter, type InsertedRows, type MysqlStatement } from '../../restore/script/split.ts';
import { definitionsToStore, packDefinitions } from '../definitions-file.ts';
import { dumpProgress } from '../dump-progress.ts';
import { recordTreatedApart } from '../special-tables.ts';
import type { InsertScanner } from './insert-scanner.ts';
import {
  assertNothingMissing,
  changed,
  cutShort,
  LINES_TOLD,
  linesOf,
  notUnderstood,
  programFailed,
} from './program-failures.ts';
import { ScriptDefinitions } from './script-definitions.ts';
import { type ProgramTable, TableFiles } from './table-files.ts';

/** Binary values as hexadecimal literals, one instant, and no statements that a load runs itself. */
const FLAGS = [
  '--default-character-set=utf8mb4',
  '--single-transaction',
  '--quick',
  '--routines',
  '--triggers',
  '--events',
  '--hex-blob',
  '--complete-insert',
  '--skip-comments',
  '--skip-dump-date',
  '--skip-add-drop-table',
  '--skip-add-locks',
  '--skip-disable-keys',
  '--no-tablespaces',
  '--max-allowed-packet=1G',
  '--net-buffer-length=262144',
];

const OWN_FLAGS: Record<Flavour, string[]> = {
  mysql: ['--set-gtid-purged=OFF', '--loose-column-statistics=0'],
  mariadb: [],
};

interface ConnectedSource {
  session: MysqlSession;
  server: Server;
  tables: CatalogTable[];
  connected: (done: string) => void;
}

export async function dumpByProgram(
  context: EngineContext,
  request: DumpRequest,
  { session, server, tables, connected }: ConnectedSource,
): Promise<DumpResult> {
  const { report } = context;
  const { url, copyOf } = request;
  const database = url.database ?? '';
  const schema = copyOf ? detailsOf(copyOf).database : database;
  const tool = await dumpToolFor(context, server);
  const inventory = await readInventory(session, database);
  const collations = await readCollations(session, database);
  if (!collations) throw new Error(`${database} has no default collation`);
  const brokenViews = await findBrokenViews(session, database);
  for (const [view, why] of brokenViews) {
    const message = `The view ${view} cannot be read and is left out: ${why}`;
    report({ event: 'warning', code: 'definition_unreadable', message });
  }
  connected(`Connected to ${server.label}`);

  const of = `${formatNumberOf(tables.length, 'table')} of ${url.display} with ${tool.name} ${tool.version}`;
  const dumpedAll = startStep(report, 'dump', `Dump ${of}`);
  const left = [MARK, ...brokenViews.keys()].map((name) => `--ignore-table=${database}.${name}`);
  const { dumped, definitions: written } = await runProgram(context, {
    ...{ request, tool, tables, schema },
    flags: [...FLAGS, ...OWN_FLAGS[tool.flavour], ...left],
    definitions: new ScriptDefinitions(database, collations),
  });
  if (JSON.stringify(await readInventory(session, database)) !== JSON.stringify(inventory)) throw changed(url.display);
  assertNothingMissing(tables, dumped);
  const definitions = definitionsToStore(written, { database, copyOf });
  const recorded = inScript(context, inventory, definitions);
  const treatedApart = await recordTreatedApart(context, session, { definitions, database, schema, copyOf });
  const file = await packDefinitions(request, definitions);
  dumpedAll(`Dumped ${of}`);
  const byName = [...dumped].sort((a, b) => (a.table < b.table ? -1 : 1));
  const data = await Promise.all(byName.map(async (each) => ({ ...each, packed: await each.packing })));
  for (const { table, packed, bytes } of data) {
    if (!packed.terminated || packed.file.bytes !== bytes) throw cutShort(tool, `${schema}.${table}`);
  }
  const details = {
    flavour: server.flavour,
    program: { name: tool.name, version: tool.version },
    database: schema,
    collations: collationsIn(definitions),
    features: featuresOf(server.flavour, definitions),
    inventory: recorded,
    ...treatedApart,
    data: Object.fromEntries(
      data.map(({ table, packed, longest }) => [
        packed.file.name,
        { table, columns: columnsOf(tables, table), texts: [], longest_row: longest },
      ]),
    ),
  } satisfies Details;
  return {
    serverVersion: server.version,
    toolVersion: tool.version,
    schemas: [schema],
    tables: data.map(({ table, rows, packed }) => ({ name: `${schema}.${table}`, rows, file: packed.file })),
    files: [file],
    details,
  };
}

interface ProgramRun {
  request: DumpRequest;
  tool: ClientTool;
  tables: CatalogTable[];
  schema: string;
  flags: string[];
  definitions: ScriptDefinitions;
}

async function runProgram(
  { runner, report, signal }: EngineContext,
  { request, tool, tables, schema, flags, definitions }: ProgramRun,
): Promise<{ dumped: ProgramTable[]; definitions: Definitions }> {
  const { url, directory } = request;
  const files = new TableFiles(request, dumpProgress(report, { schema, tables, expected: request.expectedBytes }));
  const { args, env, mounts } = await connectionOf(url, { flavour: tool.flavour, directory });
  const child = runner.start(
    { file: tool.path, args: [...args, ...flags, '--', url.database ?? ''], env, mounts },
    { signal },
  );
  child.stdin.end();
  try {
    await readScript(child.stdout, {
      async statement(text) {
        const table = definitions.take(text);
        if (table !== null) await files.begin(table);
      },
      rows: (bytes, insert) => files.write(bytes, insert),
    });
    await files.end();
  } catch (error) {
    await files.close();
    // It has ended by itself: its own error follows.
    if (!(error instanceof ScriptCutShort)) child.kill();
    const { exitCode, stderr } = await child.ended;
    if (!(error instanceof ScriptCutShort)) throw notUnderstood(tool, error);
    throw exitCode === 0 ? cutShort(tool, url.display) : programFailed(tool, stderr);
  }
  const { exitCode, stderr } = await child.ended;
  if (exitCode !== 0 || !definitions.ended) {
    throw exitCode === 0 ? cutShort(tool, url.display) : programFailed(tool, stderr);
  }
  // mysqldump may leave objects out with a message and exit code 0.
  for (const line of linesOf(stderr).slice(0, LINES_TOLD)) {
    report({ event: 'warning', code: 'program_warning', message: line });
  }
  return { dumped: files.written, definitions: definitions.found };
}

async function findBrokenViews(session: MysqlSession, database: string): Promise<Map<string, string>> {
  const views = await session.query<{ name: string }>(
    `SELECT TABLE_NAME AS name FROM information_schema.VIEWS WHERE ${inDatabase('TABLE_SCHEMA', database)}`,
  );
  const broken = new Map<string, string>();
  for (const { name } of views) {
    await session.query(`SHOW FIELDS FROM ${quotePath(database, name)}`).catch((error) => {
      if (!(error instanceof SqlError)) throw error;
      broken.set(name, error.message);
    });
  }
  return broken;
}

function inScript({ report }: EngineContext, inventory: Inventory, definitions: Definitions): Inventory {
  const views = new Set(definitions.views.map(({ name }) => name));
  const routines = new Set(definitions.routines.map(({ kind, name }) => `${kind.toLowerCase()} ${name}`));
  const isThere: Record<string, (name: string) => boolean> = {
    view: (name) => views.has(name),
    routine: (name) => routines.has(name),
    trigger: (name) => definitions.triggers.some((trigger) => name.endsWith(`.${trigger.name}`)),
  };
  const code = [...definitions.views, ...definitions.triggers, ...definitions.routines];
  const leftOut = (inventory.view ?? []).filter((name) => !views.has(name)).map((name) => `${name}.`);
  return Object.fromEntries(
    Object.entries(inventory).map(([kind, names]) => {
      if (kind === 'character set') return [kind, settingsAmong(names, code)];
      if (kind === 'column') return [kind, names.filter((name) => !leftOut.some((view) => name.startsWith(view)))];
      const missing = names.filter((name) => isThere[kind]?.(name) === false);
      for (const name of kind === 'view' ? [] : missing) {
        const message = `The ${kind} ${name} is not in the dump: the user may not read it`;
        report({ event: 'warning', code: 'definition_unreadable', message });
      }
      return [kind, names.filter((name) => !missing.includes(name))];
    }),
  );
}

function columnsOf(tables: CatalogTable[], table: string): string[] {
  return (tables.find(({ name }) => name === table)?.columns ?? []).map(({ name }) => name);
}

interface ScriptTaker {
  statement(text: string): Promise<void>;
  rows(bytes: Uint8Array, insert: InsertScanner): Promise<void>;
}

class ScriptCutShort extends Error {
  override readonly name = 'ScriptCutShort';
}

/** Reads the output of mysqldump; rows pass through in blocks. */
async function readScript(output: AsyncIterable<Uint8Array>, taker: ScriptTaker): Promise<void> {
  const splitter = createSplitter({ inserts: true });
  const take = async (parts: ScriptPart[]): Promise<void> => {
    for (const part of parts as (MysqlStatement | InsertedRows)[]) {
      if (part.kind === 'rows') await taker.rows(part.bytes, part.insert);
      else if (part.isDelimited) await taker.statement(part.bytes.toString('utf8'));
      else throw new ScriptCutShort();
    }
  };
  for await (const block of output) await take(splitter.push(block));
  await take(lastOf(splitter));
}

function lastOf(splitter: ReturnType<typeof createSplitter>): ScriptPart[] {
  try {
    return splitter.end();
  } catch (error) {
    throw error instanceof ScriptProblem ? new ScriptCutShort() : error;
  }
}
