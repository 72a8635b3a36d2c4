import { mapWithConcurrency } from '../../../runtime/map-with-concurrency.ts';
import { splitName } from '../../../text/table-names.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { RestorePlan } from '../../facets/restore.ts';
import { assertNoDifferences } from '../../shared/verify.ts';
import { IN_NO_SCHEMA, type Inventory, readInventory } from '../catalog/introspect.ts';
import { connect } from '../connection/connect.ts';
import type { PostgresSession } from '../connection/session.ts';
import { SqlError } from '../connection/session-errors.ts';
import type { ClientTools } from '../connection/tools.ts';
import type { ArchiveDetails } from '../dump/archive.ts';
import { compareObjectNames, divideInventory, type RemoteEntry } from './remote-objects.ts';
import { sessionsFor } from './rows/fill.ts';
import { type CountedRows, countedRows } from './rows/rows-by-root.ts';

export interface Check {
  url: DatabaseUrl;
  tools: ClientTools;
  details: ArchiveDetails;
  plan: Pick<RestorePlan, 'schemas' | 'tables' | 'empty'>;
  cpus: number;
  /** Objects that were not created, because they lead to other servers. */
  leftOut: RemoteEntry[];
}

/** Compares a restored database with its manifest: rows of every table, every object, every sequence. */
export async function checkRestored(context: EngineContext, check: Check): Promise<void> {
  const { rows, objects } = await findDifferences(context, check);
  assertNoDifferences([...rows.map(rowsText), ...objects]);
}

export interface Differences {
  rows: RowDifference[];
  /** Objects, sequences and large objects, for people. */
  objects: string[];
}

interface RowDifference {
  table: string;
  expected: number;
  /** `null` where the table cannot be counted, as when it is missing. */
  found: number | null;
  words: string;
}

/** Compares a restored database with its manifest: row counts and objects, missing or unexpected. */
export async function findDifferences(context: EngineContext, check: Check): Promise<Differences> {
  const { url, tools, details, plan, cpus } = check;
  const queue = countedRows(plan, details);
  const rows: RowDifference[] = [];
  let objects: string[] = [];
  const worker = async (_: unknown, index: number): Promise<void> => {
    await using session = await connect(context, url, { tools, settings: { statement_timeout: '0' } });
    if (index === 0) objects = await compareObjects(session, check);
    await countRows(session, queue, rows);
  };
  await Promise.all(Array.from({ length: sessionsFor(plan, cpus) }, worker));
  return { rows: rows.sort((a, b) => (a.table < b.table ? -1 : 1)), objects };
}

export function rowsText({ table, found, words }: RowDifference): string {
  return found === null ? `${table}: no rows, ${words}` : `${table}: ${found} rows, ${words}`;
}

/** So many tables are counted by one statement, and statements under way: each takes longer than counting a small table. */
const COUNTS_AT_ONCE = 100;
const STATEMENTS_AT_ONCE = 16;
/** A table of more rows is counted by a statement of its own. */
const SMALL_ROWS = 10_000;

async function countRows(session: PostgresSession, queue: CountedRows[], differences: RowDifference[]): Promise<void> {
  for (let taken = queue.splice(-COUNTS_AT_ONCE); taken.length > 0; taken = queue.splice(-COUNTS_AT_ONCE)) {
    const isSmall = ({ rows }: CountedRows): boolean => rows <= SMALL_ROWS;
    const together = await countTogether(session, taken.filter(isSmall));
    const singly = taken.filter((counted) => !together || !isSmall(counted));
    const counts = await mapWithConcurrency(singly, STATEMENTS_AT_ONCE, ({ count }) => countedBy(session, count));
    const found = new Map(singly.map((counted, at) => [counted, counts[at] ?? null]));
    for (const counted of taken) {
      const { name, rows, words } = counted;
      const count = found.get(counted) ?? together?.get(counted) ?? null;
      if (count !== rows) differences.push({ table: name, expected: rows, found: count, words });
    }
  }
}

/** `null` where one of the tables does not exist. */
async function countTogether(session: PostgresSession, tables: CountedRows[]) {
  if (tables.length === 0) return new Map();
  const counts = tables.map(({ count }) => `(${count})`).join(', ');
  const rows = await queryExisting<{ counts: number[] }>(session, `SELECT ARRAY[${counts}] AS counts`);
  return rows && new Map(tables.map((table, at) => [table, rows[0]?.counts[at] ?? Number.NaN]));
}

/** SQLSTATE of a table that does not exist. */
const UNDEFINED_TABLE = '42P01';

async function countedBy(session: PostgresSession, count: string): Promise<number | null> {
  return (await queryExisting<{ rows: number }>(session, count))?.[0]?.rows ?? null;
}

/** `null` where a table does not exist. */
async function queryExisting<Row>(session: PostgresSession, query: string): Promise<Row[] | null> {
  try {
    return await session.query<Row>(query);
  } catch (error) {
    if (error instanceof SqlError && error.sqlstate === UNDEFINED_TABLE) return null;
    throw error;
  }
}

async function compareObjects(session: PostgresSession, { details, plan, leftOut }: Check): Promise<string[]> {
  const divided = divideInventory(within(details.inventory, plan.schemas), leftOut);
  return compareInventories(divided, await readInventory(session, plan.schemas));
}

export function within({ objects, sequences, large_objects }: Inventory, schemas: string[]): Inventory {
  const inside = (name: string): boolean => schemas.includes(splitName(name).schema);
  return {
    objects: Object.fromEntries(
      Object.entries(objects).map(([kind, names]) => [kind, IN_NO_SCHEMA.has(kind) ? names : names.filter(inside)]),
    ),
    sequences: sequences.filter(({ name }) => inside(name)),
    large_objects,
  };
}

/** Lists what the second lacks of the first, and what it has besides. */
function compareInventories(divided: ReturnType<typeof divideInventory>, found: Inventory): string[] {
  const { expected } = divided;
  const objects = compareObjectNames(divided, found);
  const values = new Map(found.sequences.map((sequence) => [sequence.name, sequence.last_value]));
  const sequences = expected.sequences.flatMap(({ name, last_value, ascending }) => {
    if (!values.has(name)) return [`sequence ${name} is missing`];
    const value = values.get(name) ?? null;
    // The source may have drawn numbers between the reading of its catalog and that of its sequences.
    const kept = last_value === null || (value !== null && (ascending ? value >= last_value : value <= last_value));
    return kept ? [] : [`sequence ${name} stands at ${value}, at ${last_value} in the manifest`];
  });
  return [...objects, ...sequences, ...compareLargeObjects(expected, found)];
}

function compareLargeObjects({ large_objects: expected }: Inventory, { large_objects: found }: Inventory): string[] {
  if (!expected || (found?.count === expected.count && found.bytes === expected.bytes)) return [];
  const text = (large: Inventory['large_objects']): string => `${large?.count ?? 0} with ${large?.bytes ?? 0} bytes`;
  return [`large objects: ${text(found)}, in the manifest ${text(expected)}`];
}
