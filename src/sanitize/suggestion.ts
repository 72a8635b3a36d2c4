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

export function touchedKeys<Key extends { pairs: KeyPair[] }>(keys: Key[], suspects: SuspectColumn[]): Key[] {
  const changing = new Set(suspects.map(({ facts }) => columnName(facts)));
  return keys.filter(({ pairs }) => pairs.flat().some((place) => changing.has(columnName(place))));
}

export interface SuggestedTable {
  columns: SuspectColumn[];
  name: string;
}

export interface Writing {
  dialect: ReplacementDialect;
  /** SQL of the column, of its value as text, and of the input of its replacement. */
  inSql(facts: ColumnFacts): Pick<Replaceable, 'name' | 'text' | 'key'>;
  extra?: string[];
}

/** One UPDATE per table, with the kind of each column; remarks where a person must decide. */
export function updateOf({ columns, name }: SuggestedTable, { dialect, inSql, extra = [] }: Writing): string {
  const remarks: string[] = [];
  const assignments: { sql: string; meaning: string }[] = [];
  for (const { facts, kind } of columns) {
    const column = inSql(facts);
    const value = facts.generated ? null : replacement({ facts, kind, ...column }, dialect);
    const meaning = PERSONAL_KINDS[kind];
    if (value !== null) assignments.push({ sql: `  ${column.name} = ${value}`, meaning });
    else
      remarks.push(
        `-- ${column.name} (${meaning}) ${facts.generated ? 'is generated from other columns' : 'cannot be null: choose a value'}`,
      );
  }
  if (assignments.length === 0) return remarks.join('\n');
  const also = extra.map((sql) => ({ sql: `  ${sql}`, meaning: 'unchanged' }));
  const lines = [...assignments, ...also].map(
    ({ sql, meaning }, index, all) => `${sql}${index < all.length - 1 ? ',' : ''} -- ${meaning}`,
  );
  return [...remarks, `UPDATE ${name} SET`, ...lines, ';'].join('\n');
}

export function section(why: string, lines: string[]): string {
  return lines.length === 0 ? '' : [`-- ${why}`, ...lines].join('\n');
}
