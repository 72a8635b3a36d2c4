import type { ReplacementDialect } from '../../../sanitize/replacements.ts';
import { quoteText } from '../connection/quote.ts';

/** Functions of the expressions; they end with the session. `%`: the salt. */
export const FUNCTIONS = `-- The replacement of a value: 32 hexadecimal digits, always the same for the same value.
CREATE OR REPLACE FUNCTION pg_temp.hash(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS
  $$ SELECT md5(% || value) $$;

-- A number below a limit, always the same for the same value.
CREATE OR REPLACE FUNCTION pg_temp.number(value text, below bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS
  $$ SELECT ('x' || left(pg_temp.hash(value), 15))::bit(60)::bigint % below $$;

-- The value in other letters and digits: a letter for a letter, a digit for a digit, never the same one.
CREATE OR REPLACE FUNCTION pg_temp.scramble(value text) RETURNS text LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT coalesce(string_agg(CASE
      WHEN c ~ '[0-9]' THEN chr(48 + (ascii(c) - 47 + pg_temp.number(value || i, 9)::int) % 10)
      WHEN c ~ '[A-Z]' THEN chr(65 + (ascii(c) - 64 + pg_temp.number(value || i, 25)::int) % 26)
      WHEN c ~ '[a-z]' THEN chr(97 + (ascii(c) - 96 + pg_temp.number(value || i, 25)::int) % 26)
      WHEN ascii(c) > 127 THEN chr(97 + pg_temp.number(value || i, 26)::int)
      ELSE c END, '' ORDER BY i), '')
  FROM regexp_split_to_table(value, '') WITH ORDINALITY AS letters (c, i) $$;`;

export const DIALECT: ReplacementDialect = {
  quoteText,
  concat: (...parts) => parts.join(' || '),
  hash: (key) => `pg_temp.hash(${key})`,
  number: (key, below) => `pg_temp.number(${key}, ${below})`,
  digits: (key) => `lpad(pg_temp.number(${key}, 1000000000000000)::text, 15, '0')`,
  scramble: (text) => `pg_temp.scramble(${text})`,
  otherDay: ({ name, key }) =>
    `date_trunc('year', ${name}) + (extract(doy FROM ${name})::int + pg_temp.number(${key}, 364)) % 365 * interval '1 day'`,
  rounded: (name) => `round(${name}::numeric)`,
  ipAddress({ key, facts }) {
    const address = `'10.0.0.0'::inet + pg_temp.number(${key}, 16777216)`;
    return facts.family === 'text' ? `host(${address})` : address;
  },
  hardwareAddress: ({ key, facts }) => `left('02' || pg_temp.hash(${key}), ${facts.type === 'macaddr8' ? 16 : 12})`,
  emptyDocument: ({ type }) => `${EMPTY_DOCUMENTS[type.slice(type.lastIndexOf('.') + 1)] ?? "'{}'"}::${type}`,
  converted: (expression, { type }) => `(${expression})::${type}`,
};

const EMPTY_DOCUMENTS: Record<string, string> = { xml: "'<removed/>'", hstore: "''", tsvector: "''" };
