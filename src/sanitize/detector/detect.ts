import { type ColumnFacts, columnName } from '../column-facts.ts';
import type { PersonalKind } from './kinds.ts';
import { NAME_RULES, type NameRule, PEOPLE } from './name-rules.ts';
import { VALUE_RULES } from './value-rules.ts';
import { wordsOf } from './words.ts';

export interface Suspicion {
  facts: ColumnFacts;
  kind: PersonalKind;
  by: 'name' | 'values';
}

export function detectPersonalData(columns: ColumnFacts[]): Suspicion[] {
  const certain = new Map<string, Suspicion>();
  for (const facts of columns) {
    const suspicion = suspect(facts, { amongPeople: false });
    if (suspicion) certain.set(columnName(facts), suspicion);
  }
  const aboutPeople = new Set([...certain.values()].filter(isAboutPerson).map(({ facts }) => tableOf(facts)));
  return columns.flatMap((facts) => {
    const found = certain.get(columnName(facts));
    const amongPeople = PEOPLE.test(wordsOf(facts.table)) || aboutPeople.has(tableOf(facts));
    return found ?? (amongPeople ? suspect(facts, { amongPeople }) : null) ?? [];
  });
}

/** The kind that a key of a document means, whatever its values. */
export function kindOfName(name: string): PersonalKind | null {
  const key = wordsOf(name);
  const rule = NAME_RULES.find(
    ({ column, except, table, amongPeople, families }) =>
      !table && !amongPeople && families.includes('text') && column.test(key) && !except?.test(key),
  );
  return rule?.kind ?? null;
}

/** The kind that a value has by its form alone. */
export function kindOfValue(value: string): PersonalKind | null {
  const rule = VALUE_RULES.find(
    ({ kind, families, fits }) => kind !== 'free_text' && families.includes('text') && fits(value),
  );
  return rule?.kind ?? null;
}

function suspect(facts: ColumnFacts, { amongPeople }: { amongPeople: boolean }): Suspicion | null {
  const words = wordsOf(facts.column);
  const named = NAME_RULES.find(
    (rule) => namesFit(rule, { facts, words, people: amongPeople }) && valuesAllow(rule, facts),
  );
  if (named) return { facts, kind: named.kind, by: 'name' };
  const valued = VALUE_RULES.find(
    (rule) =>
      rule.families.includes(facts.family) &&
      !rule.except?.test(words) &&
      shareOf(facts.samples, rule.fits) >= rule.share,
  );
  return valued ? { facts, kind: valued.kind, by: 'values' } : null;
}

function namesFit(
  { column, except, table, amongPeople, families }: NameRule,
  { facts, words, people }: { facts: ColumnFacts; words: string; people: boolean },
): boolean {
  return (
    families.includes(facts.family) &&
    column.test(words) &&
    !except?.test(words) &&
    (table === undefined || table.test(wordsOf(facts.table))) &&
    (!amongPeople || people)
  );
}

/** Fewer values do not disprove a name. */
const FEW = 3;
/** Real values are mixed with test data, placeholders and empty texts. */
const LEAST_PLAUSIBLE = 0.3;

function valuesAllow({ plausible }: NameRule, { samples }: ColumnFacts): boolean {
  return !plausible || samples.length < FEW || shareOf(samples, plausible) >= LEAST_PLAUSIBLE;
}

function shareOf(values: string[], fits: (value: string) => boolean): number {
  return values.length === 0 ? 0 : values.filter(fits).length / values.length;
}

/** Kinds of one person, which make the rest of the row personal too. */
const OF_A_PERSON = new Set<PersonalKind>(['name', 'birth_date', 'national_id', 'phone', 'address']);

function isAboutPerson({ kind, by }: Suspicion): boolean {
  return by === 'name' && OF_A_PERSON.has(kind);
}

function tableOf({ schema, table }: ColumnFacts): string {
  return JSON.stringify([schema, table]);
}
