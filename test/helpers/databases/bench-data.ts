/** Statements that fill an empty database with generated rows: about `megabytes` as COPY text, half of it in one table unless `even`. */
export function benchData({ megabytes, tables = 30, even = false }: BenchData): string[] {
  const all = megabytes * 1024 * 1024;
  const large = even ? 0 : Math.round(all / 2 / LARGE_ROW_BYTES);
  const small = Math.round((even ? all : all / 2) / tables / SMALL_ROW_BYTES);
  return [
    `CREATE TABLE account (id bigint PRIMARY KEY, email text NOT NULL, name text NOT NULL, created timestamptz NOT NULL)`,
    `INSERT INTO account SELECT i, 'user' || i || '@' || ${pick('i', ['example.com', 'example.org', 'mail.test'])},
       ${pick('i * 7', NAMES)} || ' ' || ${pick('i * 13 + i / 11', NAMES)}, timestamptz '2020-01-01 UTC' + i * interval '311 seconds'
     FROM generate_series(1, ${Math.max(1, Math.round(small / 2))}) i`,
    `CREATE TABLE event (id bigint PRIMARY KEY, account_id bigint NOT NULL, kind text NOT NULL, happened timestamptz NOT NULL,
       amount numeric(12, 2), path text NOT NULL, agent text NOT NULL, trace uuid NOT NULL)`,
    `INSERT INTO event SELECT i, 1 + abs(hashint8(i)) % ${Math.max(1, Math.round(small / 2))}, ${pick('abs(hashint8(i + 3))', KINDS)},
       timestamptz '2024-01-01 UTC' + i * interval '1.7 seconds', (abs(hashint8(i + 5)) % 1000000) / 100.0,
       '/shop/' || ${pick('abs(hashint8(i + 9))', WORDS)} || '/' || abs(hashint8(i + 1)) % 5000,
       ${agent('abs(hashint8(i + 21))')}, md5((i / 3)::text)::uuid
     FROM generate_series(1, ${large}) i`,
    `CREATE INDEX ON event (account_id)`,
    `CREATE INDEX ON event (kind, happened)`,
    `CREATE INDEX ON event (trace)`,
    `ALTER TABLE event ADD FOREIGN KEY (account_id) REFERENCES account`,
    ...Array.from({ length: tables }, (_, number) => smallTable(number + 1, small)).flat(),
    'ANALYZE',
  ];
}

interface BenchData {
  megabytes: number;
  tables?: number;
  even?: boolean;
}

const LARGE_ROW_BYTES = 176;
const SMALL_ROW_BYTES = 128;
const NAMES = ['Ada', 'Grace', 'Edsger', 'Barbara', 'Donald', 'Frances', 'Niklaus', 'Radia', 'Leslie', 'Adele', 'Ken'];
const KINDS = ['view', 'search', 'add_to_cart', 'checkout', 'payment', 'refund'];
const WORDS = ['shoes', 'lamps', 'books', 'garden', 'kitchen', 'toys', 'music', 'bicycles', 'tea', 'tools'];
const SYSTEMS = ['X11; Linux x86_64', 'Macintosh; Intel Mac OS X 14_5', 'Windows NT 10.0; Win64; x64'];

/** One of some thousand browsers, as a log of requests has them. */
function agent(number: string): string {
  return `'Mozilla/5.0 (' || ${pick(number, SYSTEMS)} || ') AppleWebKit/537.' || ${number} % 37 || ' Chrome/' || ${number} % 1201 || '.0 Safari/537'`;
}

function smallTable(number: number, rows: number): string[] {
  const name = `part_${String(number).padStart(2, '0')}`;
  return [
    `CREATE TABLE ${name} (id bigint PRIMARY KEY, title text NOT NULL, body text NOT NULL, price numeric(10, 2), stock integer, changed timestamptz)`,
    `INSERT INTO ${name} SELECT i, ${pick(`abs(hashint8(i + ${number}))`, WORDS)} || ' no. ' || i,
       ${pick(`abs(hashint8(i * ${number}))`, WORDS)} || ' and ' || ${pick(`abs(hashint8(i + 77))`, WORDS)} || ', made by ' ||
       ${pick(`abs(hashint8(i + 5))`, NAMES)} || ' in ' || 1990 + abs(hashint8(i)) % 35 || ' #' || substr(md5(i::text || '${number}'), 1, 12),
       (abs(hashint8(i + 2)) % 100000) / 100.0, abs(hashint8(i + 8)) % 500, timestamptz '2023-05-05 UTC' + i * interval '97 seconds'
     FROM generate_series(1, ${rows}) i`,
    `CREATE INDEX ON ${name} (changed)`,
    `CREATE INDEX ON ${name} (title)`,
  ];
}

/** One of the words, chosen by a number that is an SQL expression. */
function pick(number: string, words: string[]): string {
  return `(ARRAY['${words.join("','")}'])[1 + (${number}) % ${words.length}]`;
}

/** Statements that fill an empty database with many small tables. */
export function manyTables({ tables, rows }: { tables: number; rows: number }): string[] {
  const statements = Array.from(
    { length: tables },
    (_, at) => `CREATE TABLE t_${at} (id serial PRIMARY KEY, name text NOT NULL, changed timestamptz);
    INSERT INTO t_${at} (name, changed) SELECT md5('${at} ' || i), now() FROM generate_series(1, ${rows}) i`,
  );
  return Array.from({ length: Math.ceil(tables / TABLES_AT_ONCE) }, (_, at) =>
    statements.slice(at * TABLES_AT_ONCE, (at + 1) * TABLES_AT_ONCE).join(';\n'),
  );
}

const TABLES_AT_ONCE = 100;
