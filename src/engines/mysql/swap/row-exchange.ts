import { createHash } from 'node:crypto';
import { listCode } from '../catalog/definitions/read-definitions.ts';
import { showTables } from '../catalog/definitions/show-tables.ts';
import { entriesOf } from '../catalog/definitions/table-entries.ts';
import { replicatesStatements } from '../catalog/introspect.ts';
import { readRights } from '../catalog/rights/rights.ts';
import { type CatalogTable, nonGeneratedColumns, readTables } from '../catalog/tables.ts';
import { asTable, plainWord, quoteName, quotePath, tablesIn } from '../connection/quote.ts';
import { type MysqlSession, packetsOf } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import { selectOf } from '../dump/row-select.ts';
import { type Counter, MOVED, PENDING } from './journal-schema.ts';
import { FEW_NAMES } from './swap-duration.ts';

/** Bytes of rows besides the first page of each table, above which an exchange of names is faster. */
const MOST_BYTES = 32 * 1024 * 1024;
const PAGE_BYTES = 16 * 1024;
/** Seconds of waiting for locks of other transactions. */
const LOCK_WAIT = 3;

export const SETTINGS = `SET foreign_key_checks = 0, lock_wait_timeout = ${LOCK_WAIT}, innodb_lock_wait_timeout = ${LOCK_WAIT} /*M!100201 , check_constraint_checks = 0 */`;
export const SETTINGS_BACK =
  'SET foreign_key_checks = 1, lock_wait_timeout = DEFAULT, innodb_lock_wait_timeout = DEFAULT, character_set_results = utf8mb4 /*M!100201 , check_constraint_checks = 1 */';

interface Databases {
  destination: string;
  /** Has the arriving rows. */
  other: string;
  /** The database of the journal. */
  work: string;
  /** Takes the destination's rows: `other`, a third one, or none. */
  keeper: string | null;
}

/** An exchange of rows between equal tables, instead of a RENAME TABLE that blocks every reader until its end. */
export interface RowExchange {
  /** The database that will have the destination's rows. */
  keeper: string | null;
  /** AUTO_INCREMENT counters to set afterwards: transactions do not include them. */
  counters: Counter[];
  /**
   * Exchanges the rows and moves the journal's record, in a transaction that stays open: readers see the old rows until
   * its COMMIT, and never wait. `false` when that failed, and nothing has changed.
   */
  begin(): Promise<boolean>;
}

export interface RowExchangeRequest extends Omit<Databases, 'keeper'> {
  leaving: string[];
  arriving: string[];
  /** Keeps the destination's rows; in an older undo copy, if it has the same tables, else in `other`. */
  keep: boolean;
  older?: { database: string; tables: string[] };
}

/** `null` unless both databases have the same tables, many and small, without anything that an INSERT would start. */
export async function planRowExchange(
  server: MysqlSession,
  { destination, other, work, leaving, arriving, keep, older }: RowExchangeRequest,
): Promise<RowExchange | null> {
  if (leaving.length + arriving.length <= FEW_NAMES || JSON.stringify(leaving) !== JSON.stringify(arriving))
    return null;
  if (await mayHaveTriggers(server, destination)) return null;
  if ((await extraBytes(server, destination)) + (await extraBytes(server, other)) > MOST_BYTES) return null;
  const mine = await shownTables(server, destination, leaving);
  const theirs = await shownTables(server, other, arriving);
  if (!mine || !theirs || !haveEqualDefinitions(mine, theirs) || !(await takesTransaction(server, work))) return null;
  const tables = (await readTables(server, other)).filter(({ name }) => theirs.has(name));
  // Of other tables, and of sequences, a transaction does not exchange every row.
  const isExchanged = ({ engine, isVersioned }: CatalogTable): boolean => engine === 'InnoDB' && !isVersioned;
  if (tables.length !== arriving.length || !tables.every(isExchanged)) return null;
  const wanted = await readRows(server, { database: other, tables });
  const isThird = keep && older && JSON.stringify(older.tables) === JSON.stringify(arriving);
  const third = isThird ? await shownTables(server, older.database, older.tables) : null;
  const previousTables = older && third && haveEqualDefinitions(third, theirs) ? third : null;
  const keeper = keep ? (previousTables && older ? older.database : other) : null;
  const previous = previousTables && older ? await readRows(server, { database: older.database, tables }) : null;
  const databases: Databases = { destination, other, work, keeper };
  return {
    keeper,
    counters: countersOf(databases, { mine, theirs, previous: previousTables ?? theirs }),
    async begin() {
      try {
        await server.execute(SETTINGS);
        await server.execute('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
        await server.execute('START TRANSACTION');
        const present = await readRows(server, { database: destination, tables, lock: true });
        // The locks on the rows keep the definitions as well.
        const shown = await shownTables(server, destination, leaving);
        if (!shown || !haveEqualDefinitions(shown, theirs)) throw new SqlError('the tables have changed', 0);
        const steps = tables.flatMap(({ name, columns }) => {
          const [leaving, arriving] = [present.get(name), wanted.get(name)];
          if (!leaving || !arriving) return [];
          return exchangeSteps(databases, {
            name,
            columns,
            leaving,
            arriving,
            previous: previous?.get(name) ?? arriving,
          });
        });
        await runSteps(server, steps);
        const [pending, moved] = [quotePath(work, PENDING), quotePath(work, MOVED)];
        await runSteps(server, [
          { statement: `INSERT INTO ${moved} SELECT id, json FROM ${pending}`, rows: 1 },
          { statement: `DELETE FROM ${pending}`, rows: 1 },
        ]);
        await server.execute(SETTINGS_BACK);
        return true;
      } catch (error) {
        if (!(error instanceof SqlError)) throw error;
        // First of all: a statement that defines something would commit what has been exchanged so far.
        await server.execute('ROLLBACK');
        await server.execute(SETTINGS_BACK);
        return false;
      }
    },
  };
}

/** The server lists triggers only to users with TRIGGER. */
async function mayHaveTriggers(server: MysqlSession, database: string): Promise<boolean> {
  if (!(await readRights(server)).onDatabase(database, 'TRIGGER')) return true;
  return (await listCode(server, database)).some(({ kind }) => kind === 'TRIGGER');
}

/** Reports whether temporary tables are permitted within a transaction, and replication is not by statement. */
async function takesTransaction(server: MysqlSession, work: string): Promise<boolean> {
  if (await replicatesStatements(server)) return false;
  const temporary = temporaryTable(work);
  await server.execute('START TRANSACTION');
  try {
    await server.execute(`CREATE TEMPORARY TABLE ${temporary} AS SELECT 1 AS one`);
    await server.execute(`DROP TEMPORARY TABLE ${temporary}`);
    return true;
  } catch (error) {
    if (error instanceof SqlError) return false;
    throw error;
  } finally {
    await server.execute('ROLLBACK');
  }
}

async function extraBytes(server: MysqlSession, database: string): Promise<number> {
  const [row] = await server.query<{ bytes: number | string | null }>(
    `SELECT SUM(GREATEST(DATA_LENGTH, ${PAGE_BYTES}) - ${PAGE_BYTES}) AS bytes FROM information_schema.TABLES WHERE ${tablesIn(database)}`,
  );
  return Number(row?.bytes ?? 0);
}

interface ShownTable {
  /** Without the counter. */
  definition: string;
  counter: string | null;
}

const COUNTER = /( ENGINE=InnoDB) AUTO_INCREMENT=(\d+)/;
/** `null` when the definition of one of the tables cannot be read. */
async function shownTables(server: MysqlSession, database: string, names: string[]) {
  const answers = await showTables(server, database, names);
  const shown = new Map<string, ShownTable>();
  for (const [at, name] of names.entries()) {
    const create = answers[at] ?? '';
    if (create instanceof SqlError) return null;
    const { tail } = entriesOf(create);
    const before = create.slice(0, create.length - tail.length);
    const counter = COUNTER.exec(tail)?.[2] ?? null;
    shown.set(name, { definition: before + tail.replace(COUNTER, '$1'), counter });
  }
  return shown;
}

function haveEqualDefinitions(one: Map<string, ShownTable>, other: Map<string, ShownTable>): boolean {
  return [...one].every(([name, { definition }]) => other.get(name)?.definition === definition);
}

function countersOf(
  { destination, keeper }: Databases,
  { mine, theirs, previous }: Record<'mine' | 'theirs' | 'previous', Map<string, ShownTable>>,
): Counter[] {
  const change = (database: string | null, name: string, [from, to]: (string | null | undefined)[]): Counter[] =>
    database === null || from === to ? [] : [{ table: [database, name], next: to ?? '1' }];
  return [...mine].flatMap(([name, { counter }]) => [
    ...change(destination, name, [counter, theirs.get(name)?.counter]),
    ...change(keeper, name, [previous.get(name)?.counter, counter]),
  ]);
}

export function counterStatement({ table: [database, table], next }: Counter): string {
  return `ALTER TABLE ${quotePath(database, table)} AUTO_INCREMENT = ${plainWord(next)}`;
}

interface RowsOfTable {
  rows: number;
  /** The same for the same rows in whatever order. */
  digest: string;
}

/** Reads the rows as the server sends them in the text protocol, in each column's own character set. */
async function readRows(
  server: MysqlSession,
  { database, tables, lock = false }: { database: string; tables: CatalogTable[]; lock?: boolean },
): Promise<Map<string, RowsOfTable>> {
  const read = new Map<string, RowsOfTable>();
  const left = tables.map(({ name }) => name);
  let hashes: string[] = [];
  const selects = tables.map((table) => `${selectOf(database, table, null)}${lock ? ' FOR UPDATE' : ''}`);
  await server.execute('SET character_set_results = NULL');
  for (const packet of packetsOf(selects)) {
    await server.eachRow(
      packet.join('\n;\n'),
      ({ buffer, offset, end }) => {
        hashes.push(createHash('sha256').update(buffer.subarray(offset, end)).digest('base64'));
      },
      () => {
        const digest = createHash('sha256').update(hashes.sort().join()).digest('base64');
        read.set(left.shift() ?? '', { rows: hashes.length, digest });
        hashes = [];
      },
    );
  }
  await server.execute('SET character_set_results = utf8mb4');
  return read;
}

interface ExchangeStep {
  statement: string;
  /** Rows that the statement must write; `null` for any number. */
  rows: number | null;
}

/** A table with its rows in the destination, in the other database, and in the one that will keep the former. */
interface ExchangedTable
  extends Pick<CatalogTable, 'name' | 'columns'>,
    Record<'leaving' | 'arriving' | 'previous', RowsOfTable> {}

function exchangeSteps(
  { destination, other, work, keeper }: Databases,
  { name, columns, leaving, arriving, previous }: ExchangedTable,
): ExchangeStep[] {
  const list = nonGeneratedColumns({ columns })
    .map((column) => quoteName(column.name))
    .join(', ');
  const [mine, theirs, temporary] = [quotePath(destination, name), quotePath(other, name), temporaryTable(work)];
  const replace = (into: string, from: string, [before, after]: [RowsOfTable, RowsOfTable]): ExchangeStep[] =>
    before.digest === after.digest
      ? []
      : [
          { statement: `DELETE FROM ${into}`, rows: before.rows },
          { statement: `INSERT INTO ${into} (${list}) SELECT ${list} FROM ${asTable(from)}`, rows: after.rows },
        ];
  const arrive = replace(mine, theirs, [leaving, arriving]);
  if (keeper === null) return arrive;
  if (keeper !== other) {
    const kept = quotePath(keeper, name);
    // Nothing else of the transaction reads it before the DELETE.
    const assertTable = { statement: `DO (SELECT 1 FROM ${asTable(kept)} LIMIT 0)`, rows: null };
    return [assertTable, ...replace(kept, mine, [previous, leaving]), ...arrive];
  }
  if (arrive.length === 0) return [];
  return [
    { statement: `CREATE TEMPORARY TABLE ${temporary} AS SELECT ${list} FROM ${asTable(mine)}`, rows: null },
    ...arrive,
    ...replace(theirs, temporary, [arriving, leaving]),
    { statement: `DROP TEMPORARY TABLE ${temporary}`, rows: null },
  ];
}

/** Rejects when a statement did not write the rows that it was to write. */
async function runSteps(server: MysqlSession, steps: ExchangeStep[]): Promise<void> {
  const left = [...steps];
  for (const packet of packetsOf(steps.map(({ statement }) => statement))) {
    const outcomes = [await server.query<unknown>(packet.join('\n;\n'))].flat() as { affectedRows: number }[];
    for (const { affectedRows } of outcomes) {
      const step = left.shift();
      if (step?.rows != null && step.rows !== affectedRows) throw new SqlError('rows of a table have changed', 0);
    }
  }
}

function temporaryTable(work: string): string {
  return quotePath(work, 'tool-rows');
}
