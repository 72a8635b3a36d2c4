import {
  type ColumnChoices,
  chosenSql,
  type SuggestedColumn,
  type SuggestedKey,
  type SuggestedQuery,
  type SuggestedTable,
} from '../results/review/suggested-query.ts';
import { printable } from '../text/printable.ts';
import { type ColumnFacts, columnName } from './column-facts.ts';
import { PERSONAL_KINDS, type PersonalKind } from './detector/kinds.ts';
import { type Replaceable, type ReplacementDialect, replacement } from './replacements.ts';

export interface SuspectColumn {
  facts: ColumnFacts;
  kind: PersonalKind;
}

export type ColumnPlace = Pick<ColumnFacts, 'schema' | 'table' | 'column'>;

export type KeyPair = [own: ColumnPlace, referred: ColumnPlace];

/** Columns that share a foreign key with a suspect are replaced in the same way. */
export function withPartners(
  suspects: SuspectColumn[],
  { columns, pairs }: { columns: ColumnFacts[]; pairs: KeyPair[] },
): SuspectColumn[] {
  const factsOf = new Map(columns.map((facts) => [columnName(facts), facts]));
  const found = new Map(suspects.map((suspect) => [columnName(suspect.facts), suspect]));
  for (let known = 0; known < found.size; ) {
    known = found.size;
    for (const [own, referred] of pairs) {
      const either = found.get(columnName(referred)) ?? found.get(columnName(own));
      if (!either) continue;
      for (const place of [own, referred]) {
        const facts = factsOf.get(columnName(place));
        // The same expression on both sides: the same kind, and the stricter uniqueness.
        if (facts)
          found.set(columnName(place), { kind: either.kind, facts: { ...facts, ...shared(either.facts, facts) } });
      }
    }
  }
  return [...found.values()].sort((a, b) => (columnName(a.facts) < columnName(b.facts) ? -1 : 1));
}

function shared(
  one: ColumnFacts,
  other: ColumnFacts,
): Pick<ColumnFacts, 'unique' | 'ignoresCase' | 'maxLength' | 'samples'> {
  const limits = [one.maxLength, other.maxLength].filter((limit) => limit !== null);
  return {
    unique: one.unique || other.unique,
    ignoresCase: one.ignoresCase || other.ignoresCase,
    maxLength: limits.length > 0 ? Math.min(...limits) : null,
    samples: one.samples,
  };
}

export interface SuggestionOptions {
  dialect: ReplacementDialect;
  /** SQL of the column, of its value as text, and of the input of its replacement. */
  inSql(facts: ColumnFacts): Pick<Replaceable, 'name' | 'text' | 'key'>;
  /** SQL of the name of the column with schema and table. */
  pathOf(facts: ColumnFacts): string;
  pairs: KeyPair[];
}

export function suggestedColumn(
  { facts, kind }: SuspectColumn,
  { dialect, inSql, pathOf, pairs }: SuggestionOptions,
): SuggestedColumn {
  const column = inSql(facts);
  const own = columnName(facts);
  return {
    column: own,
    name: column.name,
    path: pathOf(facts),
    meaning: PERSONAL_KINDS[kind],
    generated: facts.generated,
    replacement: facts.generated ? null : replacement({ facts, kind, ...column }, dialect),
    partners: connectedWith(own, pairs),
  };
}

/** By foreign keys, at any distance. */
function connectedWith(column: string, pairs: KeyPair[]): string[] {
  const found = new Set([column]);
  for (let known = 0; known < found.size; ) {
    known = found.size;
    for (const names of pairs.map((pair) => pair.map(columnName))) {
      if (names.some((name) => found.has(name))) for (const name of names) found.add(name);
    }
  }
  return [...found].filter((name) => name !== column);
}

/** The query with these choices: sections in the order of their execution. */
export function writeQuery(query: SuggestedQuery, choices: ColumnChoices = {}): string {
  const tables = query.tables.filter((table) => isChanged(table, choices));
  const keys = keysToDrop(query, choices);
  return [
    query.heading,
    keepComments(query, choices),
    ...(tables.length === 0 ? [] : [openingOf(query, choices)]),
    ...query.tables.map((table) => updateOf(table, choices)),
    ...(tables.length === 0
      ? []
      : [
          section(query.remarks.end, [
            ...(keys.length > 0 ? query.beforeKeys : []),
            ...keys.map(({ add }) => add),
            ...tables.flatMap(({ after }) => after),
            ...query.closing,
          ]),
        ]),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Returns the text before the first change. */
export function openingOf(query: SuggestedQuery, choices: ColumnChoices): string {
  const tables = query.tables.filter((table) => isChanged(table, choices));
  return [
    query.functions,
    section(
      query.remarks.triggers,
      tables.flatMap(({ before }) => before),
    ),
    section(
      query.remarks.keys,
      keysToDrop(query, choices).map(({ drop }) => drop),
    ),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function isChanged({ columns }: SuggestedTable, choices: ColumnChoices): boolean {
  return columns.some((column) => chosenSql(column, choices) !== null);
}

function keysToDrop({ tables, keys }: SuggestedQuery, choices: ColumnChoices): SuggestedKey[] {
  const all = tables.flatMap(({ columns }) => columns);
  const changing = new Set(all.filter((column) => chosenSql(column, choices) !== null).map(({ column }) => column));
  return keys.filter(({ columns }) => columns.some((column) => changing.has(column)));
}

function keepComments({ tables }: SuggestedQuery, choices: ColumnChoices): string {
  const kept = tables.flatMap(({ columns }) =>
    columns.flatMap(({ column, path }) => {
      const choice = Object.hasOwn(choices, column) ? choices[column] : undefined;
      if (choice?.action !== 'leave' || choice.reason === '' || /[\r\n]/.test(path)) return [];
      return [`-- keep: ${path} ${printable(choice.reason)}`];
    }),
  );
  return kept.join('\n');
}

/** One UPDATE per table, with the kind of each column; remarks where a person must decide. */
function updateOf({ name, columns, unchanged }: SuggestedTable, choices: ColumnChoices): string {
  const remarks: string[] = [];
  const assignments: { column: string; sql: string; meaning: string }[] = [];
  for (const column of columns) {
    const { meaning, generated } = column;
    const value = chosenSql(column, choices);
    if (value !== null) {
      assignments.push({ column: column.column, sql: `  ${column.name} = ${withoutOpenComment(value)}`, meaning });
      continue;
    }
    if (Object.hasOwn(choices, column.column)) continue;
    const why = generated ? 'is generated from other columns' : 'cannot be null: choose a value';
    // A line break in the name would end the comment.
    remarks.push(`-- ${printable(column.name)} (${meaning}) ${why}`);
  }
  if (assignments.length === 0) return remarks.join('\n');
  const changed = new Set(assignments.map(({ column }) => column));
  const also = unchanged
    .filter(({ column }) => !changed.has(column))
    .map(({ sql }) => ({ sql: `  ${sql}`, meaning: 'unchanged' }));
  const lines = [...assignments, ...also].map(
    ({ sql, meaning }, index, all) => `${sql}${index < all.length - 1 ? ',' : ''} -- ${meaning}`,
  );
  return [...remarks, `UPDATE ${name} SET`, ...lines, ';'].join('\n');
}

/** The comma after the value would be part of its comment. */
function withoutOpenComment(sql: string): string {
  return /--|#/.test(sql) ? `${sql}\n ` : sql;
}

function section(why: string, lines: string[]): string {
  return lines.length === 0 ? '' : [`-- ${why}`, ...lines].join('\n');
}
