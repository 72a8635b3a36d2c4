import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { RestorePlan } from '../../facets/restore.ts';
import { groupsOf } from '../../shared/groups.ts';
import { restoreFailed } from '../../shared/restore-failed.ts';
import { assertNoDifferences, compareNames, type ExpectedRows, expectedRows } from '../../shared/verify.ts';
import type { CodeDefinitions, Definitions, TableDefinition } from '../catalog/definitions/definitions.ts';
import { type Inventory, readInventory, settingsAmong } from '../catalog/introspect.ts';
import { readNameCase } from '../catalog/name-case.ts';
import { hasOwnRows, traitsOf } from '../catalog/table-traits.ts';
import { type ListedTable, readTableList } from '../catalog/tables.ts';
import { connect } from '../connection/connect.ts';
import { inSessions } from '../connection/in-sessions.ts';
import { asTable, quoteName } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import type { Details } from '../details.ts';
import { dataOf } from './rows/load-tables.ts';

interface Check {
  url: DatabaseUrl;
  details: Details;
  plan: Pick<RestorePlan, 'tables' | 'empty'>;
  cpus: number;
  /** Tables and views of the snapshot that were not created. */
  leftOut: string[];
  code: Pick<CodeDefinitions, 'routines' | 'views' | 'triggers'>;
  tables: Definitions['tables'];
}

/** Compares a restored database with its manifest: rows of every table, every object. */
export async function checkRestored(context: EngineContext, check: Check): Promise<void> {
  const [rows, objects] = await Promise.all([countRows(context, check), compareObjects(context, check)]);
  assertNoDifferences([...rows, ...objects]);
}

async function countRows(context: EngineContext, { url, details, plan, cpus }: Check): Promise<string[]> {
  const differences: string[] = [];
  await inSessions(context, {
    ...{ url, queue: groupsToCount(expectedRows(plan)), sessions: cpus },
    async work(session, group) {
      const counts = group.map(
        ({ table }, at) =>
          `SELECT ${Number(at)} AS place, COUNT(*) AS counted FROM ${asTable(quoteName(dataOf({ details }, table).table))}`,
      );
      const counted = await session.query<{ place: number; counted: number }>(counts.join(' UNION ALL '));
      const found = new Map(counted.map(({ place, counted: rows }) => [Number(place), Number(rows)]));
      for (const [at, { table, rows, words }] of group.entries()) {
        if (found.get(at) !== rows) differences.push(`${table.name}: ${found.get(at)} rows, ${words}`);
      }
    },
  });
  return differences.sort();
}

/** Most small tables to count in one statement. */
const COUNTED_TOGETHER = 100;
const SMALL_ROWS = 1000;

/** Each large table, then the small ones. */
function groupsToCount(tables: ExpectedRows[]): ExpectedRows[][] {
  const isLarge = ({ rows }: ExpectedRows): boolean => rows > SMALL_ROWS;
  const small = tables.filter((table) => !isLarge(table));
  return [...tables.filter(isLarge).map((table) => [table]), ...groupsOf(small, COUNTED_TOGETHER)];
}

async function compareObjects(context: EngineContext, { url, details, leftOut, code, tables }: Check) {
  await using session = await connect(context, url);
  const settings = details.inventory['character set'];
  const expected: Inventory = {
    ...details.inventory,
    ...(settings && {
      'character set': settingsAmong(settings, [...code.routines, ...code.views, ...code.triggers]),
    }),
  };
  await assertEnginesUsed(session, url.database ?? '', tables);
  const found = await readInventory(session, url.database ?? '', details.invalid_views);
  const names = [...Object.values(expected), ...Object.values(found)].flat();
  const { fold } = await readNameCase(session, [...names, ...leftOut]);
  const folded = (inventory: Inventory): Inventory =>
    Object.fromEntries(Object.entries(inventory).map(([kind, all]) => [kind, all.map(fold)]));
  return compareInventories(folded(expected), folded(found), leftOut.map(fold));
}

/** Lists what the second lacks of the first, except for what was left out, and what it has besides. */
function compareInventories(expected: Inventory, found: Inventory, leftOut: string[]): string[] {
  const isLeftOut = (name: string): boolean => leftOut.some((one) => name === one || name.startsWith(`${one}.`));
  // MariaDB hides the columns of a view from a user who may not run a function in it.
  const unknown = (expected.view ?? [])
    .map((view) => `${view}.`)
    .filter((prefix) => expected.column?.every((name) => !name.startsWith(prefix)));
  return Object.entries(expected).flatMap(([kind, names]) => {
    const isUnknown = (name: string): boolean => kind === 'column' && unknown.some((prefix) => name.startsWith(prefix));
    const there = new Set((found[kind] ?? []).filter((name) => !isUnknown(name)));
    const wanted = names.filter((name) => there.has(name) || !isLeftOut(name));
    return compareNames(kind, wanted, there);
  });
}

/**
 * Compares the storage engines that the server's catalog names with the definitions: a table that reaches out of the
 * database has an engine of its own.
 */
async function assertEnginesUsed(
  session: MysqlSession,
  database: string,
  definitions: Pick<TableDefinition, 'name' | 'create'>[],
): Promise<void> {
  const asked = new Map([...traitsOf(definitions)].map(([name, { engines }]) => [name.toLowerCase(), engines]));
  const isAsked = ({ name, engine }: ListedTable): boolean =>
    engine === null || hasOwnRows(engine) || (asked.get(name.toLowerCase()) ?? []).includes(engine.toUpperCase());
  const others = (await readTableList(session, database)).filter((table) => !isAsked(table));
  if (others.length === 0) return;
  throw restoreFailed(
    'Tables have another storage engine than their definitions',
    others.map(({ name, engine }) => `${name}: ${engine}`),
  );
}
