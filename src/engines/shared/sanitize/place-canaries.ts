import { type CanaryValue, canaryValues, MOST_MARKS } from '../../../sanitize/canaries/canary-marks.ts';
import { type ColumnFacts, columnName } from '../../../sanitize/column-facts.ts';
import type { ColumnPlace, KeyPair } from '../../../sanitize/suggestion.ts';
import type { CanaryRequest, InsertedCanaries } from '../../facets/sanitize.ts';

/** A value as the engine writes it into a statement. */
export type RowValue = { mark: string } | { copied: string | null };

export interface NewRow {
  table: ColumnPlace;
  values: { facts: ColumnFacts; value: RowValue }[];
}

/** The work of an engine on a table; values that it reads are passed back as they are. */
export interface CanaryTables {
  keys: KeyPair[][];
  /** A row of the table, by column; `null` of an empty table. */
  readRow(columns: ColumnFacts[]): Promise<Map<string, string | null> | null>;
  /** One above the highest number of a column. */
  readNext(column: ColumnFacts): Promise<string>;
  /** Reports whether the server has accepted the row; with `isTrial` it is removed again. */
  insert(row: NewRow, options: { isTrial: boolean }): Promise<boolean>;
}

/** Inserts persons table by table, referenced ones first, each row with as many marks as the server accepts. */
export async function placeCanaries(tables: CanaryTables, request: CanaryRequest): Promise<InsertedCanaries> {
  const { columns, persons } = request;
  const inserted: InsertedCanaries = { origins: new Map(), tokens: new Map(), unmarked: [] };
  const rows: CanaryRows = new Map();
  const groups = Map.groupBy(columns, (facts) => tableKey(facts));
  for (const key of referencedFirst([...groups.keys()], tables.keys)) {
    const own = (groups.get(key) ?? []).filter(({ generated }) => !generated);
    if (own.length === 0) continue;
    let plan: TablePlan | null = null;
    for (let person = 0; person < persons; person += 1) {
      const work = { tables, request, own, person, rows, inserted };
      plan ??= await planTable(work);
      if (plan === null) break;
      await insertPerson(work, plan);
    }
    const marked = new Set(inserted.origins.values());
    inserted.unmarked.push(...own.map(columnName).filter((name) => !marked.has(name)));
  }
  return inserted;
}

/** By table, the values of each person by column. */
type CanaryRows = Map<string, Map<string, RowValue>[]>;

/** By column name: which of its possible values the server accepts. */
interface TablePlan {
  marks: Map<string, number>;
  /** Numbers that must differ in each row. */
  counted: ColumnFacts[];
}

interface TableWork {
  tables: CanaryTables;
  request: CanaryRequest;
  own: ColumnFacts[];
  person: number;
  rows: CanaryRows;
  inserted: InsertedCanaries;
}

/** Tries all marks at once, then each alone; `null` where not even a row without marks is accepted. */
async function planTable(work: TableWork): Promise<TablePlan | null> {
  const { own } = work;
  const numbers = own.filter(({ family }) => family === 'number');
  const all = new Map(own.map(({ column }) => [column, 0]));
  const counted = numbers.filter(({ unique }) => unique);
  const isAccepted = async (plan: TablePlan): Promise<boolean> =>
    work.tables.insert(await rowOf(work, plan), { isTrial: true });
  if (await isAccepted({ marks: all, counted })) return { marks: all, counted };
  for (const alike of [counted, numbers]) {
    const plan: TablePlan = { marks: new Map(), counted: alike };
    for (const facts of own.filter(needsMark)) plan.marks.set(facts.column, 0);
    if (!(await isAccepted(plan))) continue;
    for (const facts of own) {
      for (let choice = 0; choice < MOST_CHOICES && !plan.marks.has(facts.column); choice += 1) {
        const next = { ...plan, marks: new Map(plan.marks).set(facts.column, choice) };
        if (await isAccepted(next)) plan.marks.set(facts.column, choice);
      }
    }
    return plan;
  }
  return null;
}

/** Forms of a mark that are tried in a column. */
const MOST_CHOICES = 4;

/** A copied value would not be unique. */
function needsMark({ unique, family }: ColumnFacts): boolean {
  return unique && family !== 'number';
}

async function insertPerson(work: TableWork, plan: TablePlan): Promise<void> {
  const { tables, own, rows, inserted } = work;
  const row = await rowOf(work, plan);
  if (!(await tables.insert(row, { isTrial: false }))) return;
  const [first] = own;
  if (!first) return;
  const ofTable = rows.get(tableKey(first)) ?? [];
  ofTable[work.person] = new Map(row.values.map(({ facts, value }) => [facts.column, value]));
  rows.set(tableKey(first), ofTable);
  for (const { facts, mark } of row.marks) {
    const id = idOf(work, facts);
    inserted.origins.set(id, columnName(facts));
    inserted.tokens.set(mark.token, id);
  }
}

interface MarkedRow extends NewRow {
  marks: { facts: ColumnFacts; mark: CanaryValue }[];
}

async function rowOf(work: TableWork, { marks, counted }: TablePlan): Promise<MarkedRow> {
  const { tables, own, request } = work;
  const [table] = own;
  if (!table) throw new Error('a table without columns');
  const base = await tables.readRow(own);
  const row: MarkedRow = { table, values: [], marks: [] };
  for (const facts of own) {
    const reference = referencedValue(work, facts);
    const choice = marks.get(facts.column);
    const kind = request.kinds.get(columnName(facts)) ?? null;
    const id = idOf(work, facts);
    const mark =
      reference === undefined && choice !== undefined && !counted.includes(facts) && id <= MOST_MARKS
        ? canaryValues({ facts, kind, id }, request.markers)[choice]
        : undefined;
    if (reference !== undefined) row.values.push({ facts, value: reference });
    else if (mark) {
      row.values.push({ facts, value: { mark: mark.text } });
      row.marks.push({ facts, mark });
    } else if (counted.includes(facts)) {
      row.values.push({ facts, value: { copied: await tables.readNext(facts) } });
    } else if (base) row.values.push({ facts, value: { copied: base.get(facts.column) ?? null } });
    else if (!facts.nullable && FALLBACKS[facts.family] !== undefined) {
      row.values.push({ facts, value: { mark: FALLBACKS[facts.family] ?? '' } });
    }
  }
  return row;
}

/** For columns of empty tables that take no mark and no NULL. */
const FALLBACKS: Partial<Record<ColumnFacts['family'], string>> = { boolean: '0', number: '1', text: 'x' };

/** The value of the same person in the referenced table. */
function referencedValue({ tables, rows, person }: TableWork, facts: ColumnFacts): RowValue | undefined {
  for (const pairs of tables.keys) {
    for (const [own, referred] of pairs) {
      if (tableKey(own) !== tableKey(facts) || own.column !== facts.column) continue;
      const value = rows.get(tableKey(referred))?.[person]?.get(referred.column);
      if (value) return value;
    }
  }
  return undefined;
}

function idOf({ request, person }: TableWork, facts: ColumnFacts): number {
  return request.columns.indexOf(facts) * request.persons + person + 1;
}

function tableKey({ schema, table }: Pick<ColumnPlace, 'schema' | 'table'>): string {
  return JSON.stringify([schema, table]);
}

/** Tables in a circle come in any order. */
function referencedFirst(tables: string[], keys: KeyPair[][]): string[] {
  const above = new Map<string, Set<string>>();
  for (const [own, referred] of keys.flat()) {
    const [from, to] = [tableKey(own), tableKey(referred)];
    if (from !== to) above.set(from, (above.get(from) ?? new Set()).add(to));
  }
  const ordered = new Set<string>();
  const entered = new Set<string>();
  const pending = tables.toReversed();
  while (pending.length > 0) {
    const table = pending.at(-1) ?? '';
    const next = [...(above.get(table) ?? [])].find((one) => !entered.has(one) && !ordered.has(one));
    entered.add(table);
    if (next !== undefined) pending.push(next);
    else {
      pending.pop();
      ordered.add(table);
    }
  }
  return [...ordered].filter((table) => tables.includes(table));
}
