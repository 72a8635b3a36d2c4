import type { NeededTable, TableSelection } from '../results/selected-tables.ts';
import { UserError } from '../runtime/errors.ts';
import { boundedList } from '../text/bounded-list.ts';
import { nearestFew } from '../text/nearest.ts';
import { findNames } from '../text/table-names.ts';

export interface TableSelectOptions {
  /** Patterns as in the configuration: `*` for any characters, several names separated by commas. */
  wanted: string[];
  tables: string[];
  needs: NeededTable[];
}

/** The requested tables, their required tables at any distance, and the rest. Reports all mistakes at once. */
export function selectTables({ wanted, tables, needs }: TableSelectOptions): TableSelection {
  // A table whose rows are all in its partitions occurs only in `needs`.
  const known = [...new Set([...tables, ...needs.map(({ needed_by }) => needed_by)])];
  const chosen = chooseTables(wanted, known, { unknown: 'The snapshot has no table', hint: '' });
  const needed = follow(chosen, needs);
  const loaded = new Set([...chosen, ...needed.map(({ table }) => table)]);
  return { chosen, needed, empty: tables.filter((table) => !loaded.has(table)) };
}

interface RefusalText {
  /** Comes before the names that mean no table. */
  unknown: string;
  /** Comes before the hint. */
  hint: string;
}

/** The tables that names and patterns mean. Reports all that mean none at once. */
export function chooseTables(wanted: string[], known: string[], text: RefusalText): string[] {
  const found = findWanted(wanted, known);
  const unknown = found.filter(({ tables }) => tables.length === 0).map(({ name }) => name);
  if (unknown.length > 0) throw tableUnknown(unknown, known, text);
  return [...new Set(found.flatMap(({ tables }) => tables))];
}

/** Each name or pattern with its tables: a text is a name, or several with commas. */
export function findWanted(wanted: string[], known: string[]): { name: string; tables: string[] }[] {
  const names = wanted.flatMap((text) =>
    findNames(text, known).length > 0 ? [text] : text.split(',').map((name) => name.trim()),
  );
  const found = names.map((name) => ({ name, tables: tablesMatching(name, known) }));
  for (const { name } of found) assertOneTable(name, findNames(name, known));
  return found;
}

/** The tables that a name or a pattern means: `*` stands for any characters. */
function tablesMatching(name: string, known: string[]): string[] {
  const same = findNames(name, known);
  return same.length > 0 ? same : known.filter((table) => matches(table, name));
}

/** A regular expression would try every way to divide the name among the stars. */
function matches(table: string, pattern: string): boolean {
  const [first = '', ...middle] = pattern.split('*');
  const last = middle.pop();
  if (last === undefined) return table === first;
  if (!table.startsWith(first)) return false;
  let end = first.length;
  for (const part of middle) {
    const start = table.indexOf(part, end);
    if (start === -1) return false;
    end = start + part.length;
  }
  return end + last.length <= table.length && table.endsWith(last);
}

/** Each table with the first one that needs it: the shortest path. */
function follow(chosen: string[], needs: NeededTable[]): NeededTable[] {
  const byNeeding = Map.groupBy(needs, ({ needed_by }) => needed_by);
  const reached = new Set(chosen);
  const needed: NeededTable[] = [];
  const queue = [...chosen];
  for (const table of queue) {
    for (const need of byNeeding.get(table) ?? []) {
      if (reached.has(need.table)) continue;
      reached.add(need.table);
      needed.push(need);
      queue.push(need.table);
    }
  }
  return needed;
}

function assertOneTable(name: string, meant: string[]): void {
  if (meant.length < 2) return;
  throw new UserError('name_ambiguous', `Ambiguous table ${name}: ${meant.join(', ')}`, {
    hint: `Write one of them with quotes: ${meant[0]}`,
  });
}

const NEAREST = 3;

/** Most names in a message. */
const LISTED = 20;

function tableUnknown(unknown: string[], known: string[], text: RefusalText): UserError {
  const names = unknown.map((name) => (name === '' ? '(an empty name)' : name));
  return new UserError('table_unknown', `${text.unknown} ${boundedList(names, LISTED)}`, {
    details: unknown.slice(0, LISTED).flatMap((name) => {
      const near = nearest(name, known);
      return near.length > 0 ? [`${name}: did you mean ${near.join(' or ')}?`] : [];
    }),
    hint: `${text.hint}Write tables with their schema, such as public.orders; * matches any characters.`,
  });
}

/** By the whole name, or by the part after the schema. */
function nearest(name: string, known: string[]): string[] {
  const byShortName = Map.groupBy(known, (table) => table.slice(table.indexOf('.') + 1));
  const short = nearestFew(name, [...byShortName.keys()], NEAREST).flatMap((table) => byShortName.get(table) ?? []);
  return [...new Set([...short, ...nearestFew(name, known, NEAREST)])].slice(0, NEAREST);
}
