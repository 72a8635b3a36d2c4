import type { ColumnFacts } from './column-facts.ts';
import type { PersonalKind } from './detector/kinds.ts';

export interface Replaceable {
  facts: ColumnFacts;
  kind: PersonalKind;
  name: string;
  text: string;
  /** SQL of the input of the hash; equal for equal values. */
  key: string;
}

export interface ReplacementDialect {
  quoteText(text: string): string;
  concat(...parts: string[]): string;
  /** 32 hexadecimal digits, deterministic. */
  hash(key: string): string;
  /** A number below a limit, deterministic. */
  number(key: string, below: number): string;
  digits(key: string): string;
  /** Replaces letters by letters and digits by digits, in place. */
  scramble(text: string, key: string): string;
  otherDay(column: Replaceable): string;
  rounded(name: string): string;
  ipAddress(column: Replaceable): string;
  hardwareAddress(column: Replaceable): string;
  emptyDocument(facts: ColumnFacts): string;
  /** Converts text to the column's type. */
  converted(expression: string, facts: ColumnFacts): string;
}

/** SQL of the new value; `null` where a person must decide. */
export function replacement(column: Replaceable, dialect: ReplacementDialect): string | null {
  const { facts, kind } = column;
  if (facts.family === 'document') return facts.nullable ? 'NULL' : dialect.emptyDocument(facts);
  const expression = EXPRESSIONS[kind](column, dialect);
  return expression === null || facts.family === 'text' ? expression : dialect.converted(expression, facts);
}

type Expression = (column: Replaceable, dialect: ReplacementDialect) => string | null;

const EXPRESSIONS: Record<PersonalKind, Expression> = {
  email: mailbox,
  login: (column, dialect) => labelled('user-', column, dialect),
  name: (column, dialect) => labelled('Person ', column, dialect),
  phone: (column, dialect) => scrambled(column, dialect, 3),
  iban: (column, dialect) => scrambled(column, dialect, 2),
  national_id: (column, dialect) => scrambled(column, dialect),
  card: (column, dialect) =>
    isDate(column.facts) ? dialect.otherDay(column) : (expiry(column, dialect) ?? scrambled(column, dialect)),
  vehicle: (column, dialect) => scrambled(column, dialect),
  address: (column, dialect) => scrambled(column, dialect),
  birth_date: (column, dialect) => (isDate(column.facts) ? dialect.otherDay(column) : scrambled(column, dialect)),
  ip_address: (column, dialect) => dialect.ipAddress(column),
  device(column, dialect) {
    const { key, facts } = column;
    if (facts.family === 'hardware') return dialect.hardwareAddress(column);
    const isAgent = facts.samples.some((sample) => sample.includes('/'));
    return isAgent ? marked("'Mozilla/5.0 '", { key, facts }, dialect) : scrambled(column, dialect);
  },
  location: ({ name, facts }, { rounded }) => (facts.family === 'number' ? `${rounded(name)} + 0.5` : removed(facts)),
  secret: ({ key, facts }, { hash }) => clipped(hash(key), facts),
  sensitive: ({ facts }) => removed(facts),
  finance: (column, dialect) =>
    column.facts.family === 'number' ? `1000 + ${dialect.number(column.key, 9000)}` : scrambled(column, dialect),
  photo: (column, dialect) =>
    column.facts.family === 'text' ? marked("'https://example.com/picture/'", column, dialect) : removed(column.facts),
  free_text: ({ facts }) => removed(facts),
};

const MAIL_HOST = '@example.com';
const LONGEST_HASH = 32;
/** Characters of a hash that make collisions unlikely in any table. */
const UNIQUE_HASH = 16;
const SHORT_HASH = 8;

function mailbox({ key, facts: { maxLength } }: Replaceable, { quoteText, concat, hash }: ReplacementDialect): string {
  const room = (maxLength ?? Number.POSITIVE_INFINITY) - MAIL_HOST.length;
  const prefix = room >= UNIQUE_HASH + 'user-'.length ? [quoteText('user-')] : [];
  const name = `left(${hash(key)}, ${Math.max(1, Math.min(UNIQUE_HASH, room))})`;
  return concat(...prefix, name, quoteText(MAIL_HOST));
}

function labelled(label: string, { key, facts }: Replaceable, { quoteText, concat, hash }: ReplacementDialect): string {
  const length = facts.unique ? UNIQUE_HASH : SHORT_HASH;
  const fits = facts.maxLength === null || facts.maxLength >= label.length + length;
  const mark = `left(${hash(key)}, ${length})`;
  return fits ? concat(quoteText(label), mark) : clipped(mark, facts);
}

function marked(
  label: string,
  { key, facts }: Pick<Replaceable, 'key' | 'facts'>,
  { concat, hash }: ReplacementDialect,
): string {
  return clipped(concat(label, `left(${hash(key)}, ${SHORT_HASH})`), facts);
}

/** Fewer characters may not suffice for a unique column. */
const ENOUGH_CHARACTERS = 12;

/** Keeps the format and some leading characters, such as a country code. */
function scrambled({ key, text, facts }: Replaceable, dialect: ReplacementDialect, kept = 0): string {
  const shortest = Math.min(...facts.samples.map((sample) => sample.replaceAll(/[^\p{L}\p{N}]/gu, '').length));
  if (facts.unique && facts.family === 'text' && shortest - kept < ENOUGH_CHARACTERS) {
    if (facts.maxLength === null || facts.maxLength >= UNIQUE_HASH) return dialect.digits(key);
    // Six digits after a country code would soon collide.
    if (facts.maxLength > shortest - kept) return clipped(dialect.hash(key), facts);
  }
  // A value shorter than the kept part would stay unchanged.
  if (kept === 0 || shortest <= kept * 2) return dialect.scramble(text, key);
  return dialect.concat(`left(${text}, ${kept})`, dialect.scramble(`substr(${text}, ${kept + 1})`, key));
}

function isDate({ family }: ColumnFacts): boolean {
  return family === 'date' || family === 'time';
}

/** A month or a year as a number, which scrambling could make invalid. */
function expiry({ key, facts }: Replaceable, { number }: ReplacementDialect): string | null {
  const longest = Math.max(...facts.samples.map((sample) => sample.length));
  if (facts.family !== 'number' || longest > 4) return null;
  return longest > 2 ? `2030 + ${number(key, 10)}` : `1 + ${number(key, 12)}`;
}

function clipped(expression: string, { maxLength }: ColumnFacts): string {
  return maxLength === null || maxLength >= LONGEST_HASH * 2 ? expression : `left(${expression}, ${maxLength})`;
}

function removed(facts: ColumnFacts): string | null {
  if (facts.nullable) return 'NULL';
  if (facts.family === 'number') return '0';
  if (facts.family === 'binary') return "''";
  return facts.family === 'text' ? clipped("'removed'", facts) : null;
}
