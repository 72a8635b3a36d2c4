import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { readServer } from '../../catalog/introspect.ts';
import { ownTablesIn, tableExists } from '../../catalog/tables.ts';
import { RIGHT_MISSING } from '../../connection/error-numbers.ts';
import { quoteName, quotePath, quoteText, tablesIn } from '../../connection/quote.ts';
import type { MysqlSession } from '../../connection/session.ts';
import { unless } from '../../connection/session-errors.ts';
import { unwrittenTable } from '../../server/names.ts';
import { destinationName, readAuxiliaryNames, tryLock, unlockDestination } from '../../server/server.ts';
import { readRecord, writeRecord } from '../../swap/record.ts';

const stateSchema = v.object({
  /** InnoDB's own number of the table: TRUNCATE, an import of its file and a rename by which another has its name change it, and not always the time. */
  id: v.string(),
  /** Time of the last write, by the server's clock in seconds. */
  updated: v.string(),
});

/** States in which tables have the rows of a base copy. */
export const unwrittenSchema = v.object({
  /** `id` of the base copy's record. */
  base: v.string(),
  tables: v.array(v.object({ name: v.string(), ...stateSchema.entries })),
});

export type Unwritten = v.InferOutput<typeof unwrittenSchema>;

export type TableStates = Map<string, v.InferOutput<typeof stateSchema>>;

/**
 * Seconds between a write and the evidence that there is no later one: two of rounding, and one for a clock that lags or
 * repeats a leap second.
 */
const MARGIN_SECONDS = 3;

/** Open transactions above which none is looked at. */
const MOST_TRANSACTIONS = 1000;

/**
 * Returns the states of tables by which each later write will be seen; without PROCESS, none. A write has the time of its
 * commit on MySQL, and of the start of its transaction on MariaDB. So no state is evidence whose second may not be over, or
 * in which a transaction began that is still open.
 *
 * A commit has its time a moment before others see its rows. So where writers are not locked out until the rows are read
 * (`unlocked`), there is no evidence while any transaction with changes is open.
 */
export async function provableStates(
  server: MysqlSession,
  database: string,
  { unlocked = false } = {},
): Promise<TableStates> {
  const [clock] = await server.query<{ before: string }>(
    `SELECT CAST(NOW(0) - INTERVAL ${MARGIN_SECONDS} SECOND AS CHAR) AS \`before\``,
  );
  const open = (await openTransactions(server)) ?? (unlocked ? await openTransactionsLater(server) : null);
  if (!clock || !open || (unlocked && open.haveChanges)) return new Map();
  const { began } = open;
  const { states, locals } = await readStates(server, database);
  for (const [name, { updated }] of states) {
    if (updated > clock.before || began.has(updated) || began.has(locals.get(name) ?? '')) states.delete(name);
  }
  return states;
}

async function readStates(server: MysqlSession, database: string) {
  const times = await server.query<{ name: string; updated: string | null; local: string | null }>(
    `SELECT TABLE_NAME AS name, CAST(UPDATE_TIME AS CHAR) AS updated, CAST(CONVERT_TZ(UPDATE_TIME, '+00:00', 'SYSTEM') AS CHAR) AS local
     FROM information_schema.TABLES WHERE ${await ownTablesIn(server, database)} AND ENGINE = 'InnoDB'`,
  );
  const ids = await readIds(server, database);
  const states: TableStates = new Map();
  const locals = new Map<string, string>();
  for (const { name, updated, local } of times) {
    const id = ids.get(fileName(name));
    if (updated === null || local === null || id === undefined) continue;
    states.set(name, { id, updated });
    locals.set(name, local);
  }
  return { states, locals };
}

/** Returns tables of which the server knows no time of a write, as after its start. */
export async function findForgotten(server: MysqlSession, database: string): Promise<Set<string>> {
  const rows = await server.query<{ name: string }>(
    `SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE ${tablesIn(database)} AND UPDATE_TIME IS NULL`,
  );
  return new Set(rows.map(({ name }) => name));
}

const LISTS = { mariadb: 'INNODB_SYS_TABLES', mysql: 'INNODB_TABLES' };

/** By names as those of files. */
async function readIds(server: MysqlSession, database: string): Promise<Map<string, string>> {
  const list = LISTS[(await readServer(server)).flavour];
  const home = quoteText(fileName(await destinationName(server, database)));
  const rows = await server
    .query<{ name: string; id: string }>(
      `SELECT SUBSTRING_INDEX(NAME, '/', -1) AS name, CONCAT_WS(' ', TABLE_ID, SPACE) AS id FROM information_schema.${quoteName(list)}
       WHERE CAST(SUBSTRING_INDEX(NAME, '/', 1) AS BINARY) = CAST(${home} AS BINARY)`,
    )
    .catch(unless([RIGHT_MISSING], []));
  const byTable = Map.groupBy(rows, ({ name }) => name.split(PARTITION)[0] ?? '');
  return new Map([...byTable].map(([name, parts]) => [name, idOf(parts)]));
}

/** Between the names of a table and of its partition; a letter of a name is never written so. */
const PARTITION = /#p#/i;

/** All numbers of its partitions, in a few characters. */
function idOf(parts: { name: string; id: string }[]): string {
  const [first, ...others] = parts.map(({ name, id }) => `${name} ${id}`).sort();
  if (others.length === 0) return parts[0]?.id ?? '';
  return createHash('sha256')
    .update(JSON.stringify([first, ...others]))
    .digest('hex');
}

/** Letters beyond ASCII have shorter codes there: such a table is not found, and so never proved to be unwritten. */
function fileName(name: string): string {
  const hex = (character: string): string => `@${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return name.replaceAll(/[^A-Za-z0-9_]/g, (character) => hex(character));
}

interface OpenTransactions {
  /** Times in the server's own time zone. */
  began: Set<string>;
  haveChanges: boolean;
}

/** Waits until the server renews its list, 0.1 s after the last query of it. */
async function openTransactionsLater(server: MysqlSession): Promise<OpenTransactions | null> {
  await server.execute('DO SLEEP(0.11)');
  return openTransactions(server);
}

/**
 * Finds the open transactions of others; `null` when that cannot be told. The server answers from a list that it may have
 * made before: one with a transaction of this session is new.
 */
async function openTransactions(server: MysqlSession): Promise<OpenTransactions | null> {
  await server.execute('START TRANSACTION WITH CONSISTENT SNAPSHOT');
  try {
    const rows = await server
      .query<{ own: number; started: string; changes: number }>(
        `SELECT trx_mysql_thread_id = CONNECTION_ID() AS own, CAST(trx_started AS CHAR) AS started, trx_rows_modified > 0 AS changes FROM information_schema.INNODB_TRX LIMIT ${MOST_TRANSACTIONS + 1}`,
      )
      .catch(unless([RIGHT_MISSING], null));
    const isWhole = rows && rows.length <= MOST_TRANSACTIONS && rows.some(({ own }) => Number(own) === 1);
    if (!isWhole) return null;
    const others = rows.filter(({ own }) => Number(own) !== 1);
    return {
      began: new Set(others.map(({ started }) => started)),
      haveChanges: others.some(({ changes }) => Number(changes) === 1),
    };
  } finally {
    await server.execute('ROLLBACK');
  }
}

interface UnwrittenPlace {
  /** Database of the base copy, and `id` of its record. */
  database: string;
  base: string;
  /** Database of a branch, if it is about one. */
  branch?: string | undefined;
}

/** Records the states in which tables have the rows of the base copy. */
export async function recordUnwritten(
  server: MysqlSession,
  { database, base, branch, states }: UnwrittenPlace & { states: TableStates },
) {
  const value = unwrittenOf(base, states);
  const table = unwrittenTable(branch);
  if (isDeepStrictEqual(await readRecord(server, { database, table, schema: unwrittenSchema }), value)) return;
  await server.execute(`DROP TABLE IF EXISTS ${quotePath(database, table)}`);
  await writeRecord(server, { database, table, value });
}

/** Records the same of a branch, unless another run works with the destination: this may move the base copy away. */
export async function recordUnwrittenBranch(
  server: MysqlSession,
  { destination, ...record }: UnwrittenPlace & { destination: string; states: TableStates },
) {
  if (!(await tryLock(server, destination))) return;
  try {
    await recordUnwritten(server, record);
  } finally {
    await unlockDestination(server, destination);
  }
}

/** Drops that record of a branch that is gone. */
export async function forgetBranch(
  server: MysqlSession,
  { destination, branch }: { destination: string; branch: string },
) {
  const { base } = await readAuxiliaryNames(server, destination);
  const table = unwrittenTable(branch);
  if (!(await tableExists(server, base, table)) || !(await tryLock(server, destination))) return;
  await server.execute(`DROP TABLE IF EXISTS ${quotePath(base, table)}`);
  await unlockDestination(server, destination);
}

export function unwrittenOf(base: string, states: TableStates): Unwritten {
  return { base, tables: [...states].map(([name, state]) => ({ name, ...state })) };
}

/** Returns the evidence that a plan or a mark was given with. */
export function parseUnwritten(value: unknown): Unwritten | null {
  const parsed = v.safeParse(unwrittenSchema, value);
  return parsed.success ? parsed.output : null;
}

interface UnwrittenSearch extends UnwrittenPlace {
  destination: string;
  /** Evidence besides the recorded. */
  seen?: Unwritten | null;
}

/** Returns the tables of the destination, or of a branch in its place, that are proved to have the rows of the base copy, in their states. */
export async function findUnwritten(
  server: MysqlSession,
  { destination, database, base, branch, seen = null }: UnwrittenSearch,
): Promise<TableStates> {
  const record = await readRecord(server, { database, table: unwrittenTable(branch), schema: unwrittenSchema });
  const known = [record, seen].flatMap((each) => (each?.base === base ? each.tables : []));
  return known.length === 0 ? new Map() : findAsBefore(server, destination, known);
}

/** Returns the tables that are in one of these states, and so were not written to since. */
export async function findAsBefore(server: MysqlSession, database: string, tables: Unwritten['tables']) {
  const { states } = await readStates(server, database);
  return new Map(
    tables.flatMap(({ name, id, updated }) => {
      const now = states.get(name);
      return now?.id === id && now.updated === updated ? [[name, now]] : [];
    }),
  );
}
