import type { ColumnFacts } from '../../sanitize/column-facts.ts';
import type { PersonalKind } from '../../sanitize/detector/kinds.ts';
import { quoteText } from './session.ts';

/** A column to replace, as the replacement sees it. */
export interface Replaceable {
  facts: ColumnFacts;
  kind: PersonalKind;
  /** The column as it stands in SQL. */
  name: string;
  /** The value that the replacement is made of, as text: equal for values that count as equal. */
  key: string;
}

/** SQL for the value that takes a column's place; `null` where a person must decide. */
export function replacement(column: Replaceable): string | null {
  const { facts, kind } = column;
  if (facts.family === 'document') return emptied(facts);
  const expression = EXPRESSIONS[kind](column);
  return expression === null || facts.family === 'text' ? expression : `(${expression})::${facts.type}`;
}

/** The functions that the expressions use; they go with the session. `%` is the salt. */
export const FUNCTIONS = `-- What stands for a value: 32 hexadecimal digits, always the same for the same value.
CREATE FUNCTION pg_temp.hash(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS
  $$ SELECT md5(% || value) $$;

-- A number below a limit, always the same for the same value.
CREATE FUNCTION pg_temp.number(value text, below bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS
  $$ SELECT ('x' || left(pg_temp.hash(value), 15))::bit(60)::bigint % below $$;

-- The same value in other letters and digits: each stays what it was, and where it was.
CREATE FUNCTION pg_temp.scramble(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT coalesce(string_agg(CASE
      WHEN c ~ '[0-9]' THEN chr(48 + pg_temp.number(value || i, 10)::int)
      WHEN c ~ '[A-Z]' THEN chr(65 + pg_temp.number(value || i, 26)::int)
      WHEN c ~ '[a-z]' OR ascii(c) > 127 THEN chr(97 + pg_temp.number(value || i, 26)::int)
      ELSE c END, '' ORDER BY i), '')
  FROM regexp_split_to_table(value, '') WITH ORDINALITY AS letters (c, i) $$;`;

const EXPRESSIONS: Record<PersonalKind, (column: Replaceable) => string | null> = {
  email: ({ key, facts }) => mailbox(key, facts),
  login: (column) => labelled('user-', column),
  name: (column) => labelled('Person ', column),
  phone: (column) => scrambled(column, 3),
  iban: (column) => scrambled(column, 2),
  national_id: (column) => scrambled(column, 0),
  card: (column) => (isDate(column.facts) ? otherDay(column) : (expiry(column) ?? scrambled(column, 0))),
  vehicle: (column) => scrambled(column, 0),
  address: (column) => scrambled(column, 0),
  birth_date: (column) => (isDate(column.facts) ? otherDay(column) : scrambled(column, 0)),
  ip_address: ({ key, facts }) => {
    const address = `'10.0.0.0'::inet + pg_temp.number(${key}, 16777216)`;
    return facts.family === 'text' ? `host(${address})` : address;
  },
  device: (column) => {
    const { key, facts } = column;
    if (facts.family === 'network') return `left('02' || pg_temp.hash(${key}), ${facts.type === 'macaddr8' ? 16 : 12})`;
    const isAgent = facts.samples.some((sample) => sample.includes('/'));
    return isAgent ? clipped(`'Mozilla/5.0 ' || left(pg_temp.hash(${key}), 8)`, facts) : scrambled(column, 0);
  },
  location: ({ name, facts }) => (facts.family === 'number' ? `round(${name}::numeric) + 0.5` : removed(facts)),
  secret: ({ key, facts }) => clipped(`pg_temp.hash(${key})`, facts),
  sensitive: ({ facts }) => removed(facts),
  finance: (column) =>
    column.facts.family === 'number' ? `1000 + pg_temp.number(${column.key}, 9000)` : scrambled(column, 0),
  photo: ({ key, facts }) =>
    facts.family === 'text'
      ? clipped(`'https://example.com/picture/' || left(pg_temp.hash(${key}), 8)`, facts)
      : removed(facts),
  free_text: ({ facts }) => removed(facts),
};

const MAIL_HOST = '@example.com';
const LONGEST_HASH = 32;
/** Characters of a hash that make two equal ones unlikely in any table. */
const UNIQUE_HASH = 16;

function mailbox(key: string, { maxLength }: ColumnFacts): string {
  const room = (maxLength ?? Number.POSITIVE_INFINITY) - MAIL_HOST.length;
  const prefix = room >= UNIQUE_HASH + 'user-'.length ? "'user-' || " : '';
  return `${prefix}left(pg_temp.hash(${key}), ${Math.max(1, Math.min(UNIQUE_HASH, room))}) || '${MAIL_HOST}'`;
}

function labelled(label: string, { key, facts }: Replaceable): string {
  const hash = `left(pg_temp.hash(${key}), ${facts.unique ? UNIQUE_HASH : 8})`;
  const fits = facts.maxLength === null || facts.maxLength >= label.length + (facts.unique ? UNIQUE_HASH : 8);
  return fits ? `${quoteText(label)} || ${hash}` : clipped(hash, facts);
}

/** Letters and digits of which there are fewer may not suffice for a column whose values must differ. */
const ENOUGH_CHARACTERS = 12;

/** In the same format, with so many characters at the beginning left as they are, such as a country code. */
function scrambled({ key, facts }: Replaceable, kept: number): string {
  const shortest = Math.min(...facts.samples.map((sample) => sample.replaceAll(/[^\p{L}\p{N}]/gu, '').length));
  const hasRoom = facts.family === 'text' && (facts.maxLength === null || facts.maxLength >= UNIQUE_HASH);
  if (facts.unique && shortest - kept < ENOUGH_CHARACTERS && hasRoom) {
    return `lpad(pg_temp.number(${key}, 1000000000000000)::text, 15, '0')`;
  }
  // Shorter than what is kept it would stay as it is.
  if (kept === 0 || shortest <= kept * 2) return `pg_temp.scramble(${key})`;
  return `left(${key}, ${kept}) || pg_temp.scramble(substr(${key}, ${kept + 1}))`;
}

function isDate({ family }: ColumnFacts): boolean {
  return family === 'date' || family === 'time';
}

/** A month or a year as a number, which other digits would not be. */
function expiry({ key, facts }: Replaceable): string | null {
  const longest = Math.max(...facts.samples.map((sample) => sample.length));
  if (facts.family !== 'number' || longest > 4) return null;
  return longest > 2 ? `2030 + pg_temp.number(${key}, 10)` : `1 + pg_temp.number(${key}, 12)`;
}

/** In the same year. */
function otherDay({ name, key }: Replaceable): string {
  return `date_trunc('year', ${name}) + pg_temp.number(${key}, 365) * interval '1 day'`;
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

const EMPTY_DOCUMENTS: Record<string, string> = { xml: "'<removed/>'", hstore: "''", tsvector: "''" };

function emptied({ nullable, type }: ColumnFacts): string {
  return nullable ? 'NULL' : `${EMPTY_DOCUMENTS[type.slice(type.lastIndexOf('.') + 1)] ?? "'{}'"}::${type}`;
}
