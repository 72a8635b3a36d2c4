import * as v from 'valibot';
import { redact } from '../../../process/redact.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { EngineContext } from '../../engine-context.ts';
import { parseShadowName, undoNameTaken } from '../../shared/auxiliary-names.ts';
import { baseCopyState } from '../branches/base/base-record.ts';
import { parseBranchMark } from '../branches/branch-mark.ts';
import type { Collations } from '../catalog/introspect.ts';
import { inDatabase, MARK, quotePath, quoteText } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { auxiliaryNames, isReserved } from '../server/names.ts';
import {
  createDatabase,
  databaseExists,
  databaseNames,
  destinationName,
  dropDatabase,
  findShadowDatabases,
  isEmpty,
  readAuxiliaryNames,
} from '../server/server.ts';
import { DONE, journalSchema, MOVED, PENDING } from './journal-schema.ts';
import { parseRecord, readRecord } from './record.ts';
import { UNDO_COPY, undoCopySchema } from './undo-copy.ts';

/**
 * Mark of a database that a load makes: a name alone never permits a DROP. It is the comment of a table, since MySQL
 * has no comments of databases, and since a table and its comment are made in one statement.
 */
const markSchema = v.object({
  tool: v.literal('new'),
  of: v.string(),
  /** Made for the branch `of` of this destination. */
  branch_of: v.optional(v.string()),
});

/** Makes an empty database beside the destination, with its mark. */
export async function createShadowDatabase(
  server: MysqlSession,
  { name, destination, collations, branchOf }: ShadowCreation,
) {
  await createDatabase(server, { name, collations });
  const mark: v.InferOutput<typeof markSchema> = {
    tool: 'new',
    of: await destinationName(server, destination),
    ...(branchOf !== undefined && { branch_of: branchOf }),
  };
  await writeMark(server, { database: name, table: MARK, comment: JSON.stringify(mark) });
}

interface ShadowCreation {
  name: string;
  destination: string;
  collations: Collations;
  /** The destination is a branch of this one. */
  branchOf?: string | undefined;
}

/** A table without rows, whose comment is the mark. */
export async function writeMark(
  server: MysqlSession,
  { database, table, comment }: { database: string; table: string; comment: string },
) {
  await server.execute(
    `CREATE TABLE ${quotePath(database, table)} (id INT PRIMARY KEY) ENGINE = InnoDB COMMENT = ${quoteText(comment)}`,
  );
}

/** The branches of this destination for which something was made that may be left. */
export async function branchesWithLeftovers(
  server: MysqlSession,
  { destination, branches }: { destination: string; branches: string[] },
): Promise<string[]> {
  const of = await destinationName(server, destination);
  const rows = await server.query<{ comment: string }>(
    `SELECT TABLE_COMMENT AS comment FROM information_schema.TABLES WHERE TABLE_NAME = ${quoteText(MARK)} AND TABLE_COMMENT LIKE '%"branch_of"%'`,
  );
  const marks = rows.map(({ comment }) => parseRecord(markSchema, comment));
  const marked = marks.flatMap((mark) => (mark?.branch_of === of ? [mark.of] : []));
  return [...new Set([...marked, ...(await findUnmarkedShadows(server, branches))])];
}

/**
 * Databases beside which a kill before the mark (`createShadowDatabase`) has left an empty one: branches, and databases that do
 * not exist, as a branch that was to be created.
 */
async function findUnmarkedShadows(server: MysqlSession, branches: string[]): Promise<string[]> {
  const names = await databaseNames(server);
  const present = new Set(names.map(({ compared }) => compared));
  const branchOf = new Map(branches.map((branch) => [auxiliaryNames(branch).prefix, branch]));
  const found: string[] = [];
  for (const { name, compared } of names) {
    const shadow = parseShadowName(compared);
    if (!shadow) continue;
    const absent = shadow.destination !== null && !present.has(shadow.destination) ? shadow.destination : null;
    const database = branchOf.get(shadow.prefix) ?? absent;
    if (database !== null && (await isEmpty(server, name))) found.push(database);
  }
  return found;
}

async function readMark(server: MysqlSession, database: string): Promise<v.InferOutput<typeof markSchema> | null> {
  const comment = await readMarkText(server, database);
  return comment === null ? null : parseRecord(markSchema, comment);
}

/** The comment of the table that marks a database. */
export async function readMarkText(server: MysqlSession, database: string): Promise<string | null> {
  const [row] = await server.query<{ comment: string }>(
    `SELECT TABLE_COMMENT AS comment FROM information_schema.TABLES WHERE ${inDatabase('TABLE_SCHEMA', database)} AND ${inDatabase('TABLE_NAME', MARK)}`,
  );
  return row?.comment ?? null;
}

interface ShadowDatabases {
  /** Databases that killed loads have left, which carry the tool's mark. */
  leftovers: string[];
  /** Databases of such names without a mark, which nothing may touch. */
  foreign: string[];
}

export async function listShadowDatabases(server: MysqlSession, destination: string): Promise<ShadowDatabases> {
  const found: ShadowDatabases = { leftovers: [], foreign: [] };
  for (const name of await findShadowDatabases(server, destination)) {
    found[(await isMarked(server, name, destination)) ? 'leftovers' : 'foreign'].push(name);
  }
  return found;
}

/**
 * Reports whether a load into the destination made the database. An empty one counts: its load may have been killed
 * before it wrote the mark.
 */
async function isMarked(server: MysqlSession, database: string, destination: string): Promise<boolean> {
  const of = await destinationName(server, destination);
  const mark = await readMark(server, database);
  if (mark) return mark.of === of;
  for (const table of [DONE, MOVED, PENDING]) {
    const journal = await readRecord(server, { database, table, schema: journalSchema });
    if (journal) return (journal.of ?? of) === of;
  }
  return isEmpty(server, database);
}

/** Reports whether the journal of an unfinished swap whose tables have moved is in the database or names it. */
async function isNamedByJournal(server: MysqlSession, { name, destination }: { name: string; destination: string }) {
  for (const work of await findShadowDatabases(server, destination)) {
    const journal = await readRecord(server, { database: work, table: MOVED, schema: journalSchema });
    if (!journal) continue;
    const named = journal.later.flatMap(({ from, to }) => [from[0], to[0]]);
    if (work === name || named.includes(name)) return true;
  }
  return false;
}

/** Reports whether the undo copy's name is free, is used by a copy of this destination, or by another database. */
export async function undoCopyOf(server: MysqlSession, destination: string): Promise<'none' | 'ours' | 'foreign'> {
  const { of, undo } = await readAuxiliaryNames(server, destination);
  const record = await readRecord(server, { database: undo, table: UNDO_COPY, schema: undoCopySchema });
  if (record) return (await destinationName(server, record.of)) === of ? 'ours' : 'foreign';
  return (await isEmpty(server, undo)) ? 'none' : 'foreign';
}

/** Drops a database beside the destination whose mark is verified just before; whether it is gone. What stops it is a warning. */
export async function dropAuxiliaryDatabase(
  { report }: Pick<EngineContext, 'report'>,
  server: MysqlSession,
  { name, destination }: { name: string; destination: string },
) {
  const { of, undo, base, spare } = await readAuxiliaryNames(server, destination);
  try {
    const isOurs =
      name === undo
        ? (await undoCopyOf(server, destination)) !== 'foreign'
        : name === base || name === spare
          ? ['whole', 'remains'].includes(await baseCopyState(server, { database: name, of }))
          : (await isMarked(server, name, destination)) && !(await isNamedByJournal(server, { name, destination }));
    if (!isOurs) return false;
    await dropDatabase(server, name);
    return true;
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    const message = `Could not drop ${name}: ${redact(error.message)}. The next load into ${destination} tries again`;
    report({ event: 'warning', code: 'leftover', message });
    return false;
  }
}

/** A table of a source with a name of the tool's own: a snapshot leaves the mark out, and no load takes the others. */
export async function reservedInSource(server: MysqlSession, database: string): Promise<string | null> {
  const names = (await reservedTables(server, database)).filter(isReserved);
  const mark = await readMarkText(server, database);
  const isOurs = mark !== null && (parseRecord(markSchema, mark) ?? parseBranchMark(mark)) !== null;
  return names.find((name) => name !== MARK || !isOurs) ?? null;
}

/** Tables of the database with names that only the tool's own may have. */
async function reservedTables(server: MysqlSession, database: string): Promise<string[]> {
  const rows = await server.query<{ name: string }>(
    `SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE ${inDatabase('TABLE_SCHEMA', database)} AND LOWER(TABLE_NAME) LIKE 'tool-%'`,
  );
  return rows.map(({ name }) => name);
}

/** Drops what a killed run has left of base copies. */
export async function sweepBaseCopies(
  context: Pick<EngineContext, 'report'>,
  server: MysqlSession,
  destination: string,
): Promise<string[]> {
  const { of, base, spare } = await readAuxiliaryNames(server, destination);
  const dropped: string[] = [];
  for (const database of [base, spare]) {
    if ((await baseCopyState(server, { database, of })) !== 'remains') continue;
    if (await dropAuxiliaryDatabase(context, server, { name: database, destination })) dropped.push(database);
  }
  return dropped;
}

/** Finds objects that would block the swap, before the load starts. */
export async function assertNoForeignObjects(
  { report }: EngineContext,
  server: MysqlSession,
  { destination, undo }: { destination: string; undo: boolean },
) {
  const { foreign } = await listShadowDatabases(server, destination);
  if (foreign.length > 0) {
    const message = `Not removed, because the tool did not make it: ${foreign.join(', ')}`;
    report({ event: 'warning', code: 'leftover', message });
  }
  if (!(await databaseExists(server, destination))) return;
  await assertNoReservedTable(server, destination);
  if (!undo || (await undoCopyOf(server, destination)) !== 'foreign') return;
  throw undoNameTaken((await readAuxiliaryNames(server, destination)).undo, destination);
}

export async function assertNoReservedTable(server: MysqlSession, database: string): Promise<void> {
  const [name] = (await reservedTables(server, database)).filter((table) => table !== MARK && isReserved(table));
  if (name === undefined) return;
  throw new UserError('name_reserved', `"${database}" holds a table "${name}", a name that is reserved for the tool`, {
    hint: 'The destination is unchanged. Rename the table.',
  });
}
