import { join } from 'node:path';
import { expect } from 'vitest';
import { build } from '../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../src/operations/load/load.ts';
import type { AnyServer, ServerKind } from '../helpers/databases/any-server.ts';
import { dumpDifferences } from '../helpers/databases/dump-differences.ts';
import { testContext } from '../helpers/postgres/postgres-server.ts';
import type { Round } from '../helpers/trials.ts';

/** SQL of a value of the type, without its cast. */
type Values = (round: Round) => string;
interface Type {
  name: string;
  values: Values;
  /** Not for a key. */
  isBig?: boolean;
}

const PIECES = [
  ...[
    'a',
    'B',
    '0',
    ' ',
    'é',
    'ß',
    '表',
    '🐘',
    '👩‍👩‍👧',
    '\u00a0',
    '\u202e',
    '\u2028',
    '\ufeff',
    '\x01',
    '\x1b[2J',
    '\x7f',
  ],
  ...[
    '\t',
    '\n',
    '\r\n',
    '\r',
    '\\',
    '\\N',
    '\\.',
    '\n\\.\n',
    '"',
    "'",
    '`',
    ';',
    '--',
    '/*',
    '*/',
    '$$',
    '{',
    '}',
    ',',
  ],
  ...['NULL', 'null', ':x', '%s', '\\x00', '\\t', '<a>', "');", 'x'.repeat(300)],
];

function text({ random, oneOf }: Round, most = 6): string {
  return Array.from({ length: Math.floor(random() * most) }, () => oneOf(PIECES)).join('');
}

function whole({ random, oneOf }: Round, bits: number, signed = true): string {
  const [low, high] = signed ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n] : [0n, 2n ** BigInt(bits) - 1n];
  return String(oneOf([low, high, 0n, 1n, BigInt(Math.floor(random() * 100))]));
}

function decimal({ random }: Round): string {
  const digits = (count: number): string => Array.from({ length: count }, () => Math.floor(random() * 10)).join('');
  return `${random() < 0.5 ? '-' : ''}${digits(1 + Math.floor(random() * 18))}.${digits(1 + Math.floor(random() * 10))}`;
}

function bytes({ random, oneOf }: Round, most = 40): string {
  const one = (): number => oneOf([0, 9, 10, 13, 26, 34, 39, 92, 255, Math.floor(random() * 256)]);
  return Buffer.from(Array.from({ length: Math.floor(random() * most) }, one)).toString('hex');
}

function json(round: Round): string {
  const { random, oneOf } = round;
  return JSON.stringify({
    [text(round, 3) || 'key']: oneOf([null, true, Math.floor(random() * 1000) / 8, text(round), [1, text(round)], {}]),
  }).replaceAll('\\u0000', '');
}

const pad = (number: number): string => String(Math.floor(number)).padStart(2, '0');
const day = ({ random }: Round, from = 1000): string =>
  `${from + Math.floor(random() * (9999 - from))}-${pad(1 + random() * 12)}-${pad(1 + random() * 28)}`;
const clock = ({ random, oneOf }: Round): string =>
  `${pad(random() * 24)}:${pad(random() * 60)}:${pad(random() * 60)}${oneOf(['', '.5', '.000001', '.999999'])}`;

const quoted = (word: string): string => `'${word.replaceAll("'", "''")}'`;
/** Independent of the program's own quoting, and of all that quoting has to know. */
const postgresText = (content: string): string => `convert_from('\\x${Buffer.from(content).toString('hex')}', 'UTF8')`;
const mysqlText = (content: string): string =>
  content === '' ? "''" : `CONVERT(x'${Buffer.from(content).toString('hex')}' USING utf8mb4)`;

const POSTGRES: Type[] = [
  { name: 'smallint', values: (round) => whole(round, 16) },
  { name: 'integer', values: (round) => whole(round, 32) },
  { name: 'bigint', values: (round) => `'${whole(round, 64)}'` },
  { name: 'numeric', values: (round) => round.oneOf([`'${decimal(round)}'`, "'NaN'", "'1e-500'", "'0.000'"]) },
  { name: 'numeric(30,10)', values: (round) => decimal(round) },
  {
    name: 'real',
    values: ({ oneOf }) => quoted(oneOf(['NaN', 'Infinity', '-Infinity', '1.1', '3.4028235e38', '1e-45', '-0'])),
  },
  {
    name: 'double precision',
    values: ({ oneOf, random }) =>
      quoted(oneOf(['NaN', '-Infinity', '5e-324', '1.7976931348623157e308', String(random())])),
  },
  { name: 'text', values: (round) => postgresText(text(round, 12)), isBig: true },
  { name: 'varchar(2000)', values: (round) => postgresText(text(round)), isBig: true },
  { name: 'char(7)', values: (round) => postgresText(Array.from(text(round)).slice(0, 7).join('')) },
  { name: 'bytea', values: (round) => `'\\x${bytes(round, 300)}'`, isBig: true },
  { name: 'boolean', values: ({ oneOf }) => oneOf(['true', 'false']) },
  { name: 'date', values: (round) => quoted(round.oneOf([day(round), 'infinity', '-infinity', '0044-03-15 BC'])) },
  { name: 'timestamp', values: (round) => quoted(round.oneOf([`${day(round)} ${clock(round)}`, 'infinity'])) },
  {
    name: 'timestamptz',
    values: (round) => quoted(`${day(round)} ${clock(round)}${round.oneOf(['Z', '+05:30', '-11'])}`),
  },
  { name: 'time', values: (round) => quoted(round.oneOf([clock(round), '24:00:00'])) },
  { name: 'timetz', values: (round) => quoted(`${clock(round)}+02`) },
  { name: 'interval', values: ({ oneOf }) => quoted(oneOf(['1 year -2 days', '-00:00:00.000001', '178000000 years'])) },
  { name: 'uuid', values: () => "'0a0a0a0a-0000-4000-8000-00000000ffff'" },
  { name: 'json', values: (round) => `${postgresText(json(round))}::json`, isBig: true },
  { name: 'jsonb', values: (round) => `${postgresText(json(round))}::jsonb`, isBig: true },
  { name: 'integer[]', values: ({ oneOf }) => quoted(oneOf(['{}', '{1,NULL,3}', '{{1,2},{3,4}}', '[0:1]={7,8}'])) },
  { name: 'text[]', values: (round) => `ARRAY[${postgresText(text(round))}, NULL, 'NULL', '']::text[]`, isBig: true },
  { name: 'inet', values: ({ oneOf }) => quoted(oneOf(['10.0.0.1', '2001:db8::1/64'])) },
  { name: 'macaddr', values: () => "'08:00:2b:01:02:03'" },
  { name: 'bit(13)', values: () => "B'1010101010101'" },
  { name: 'varbit', values: ({ oneOf }) => oneOf(["B''", "B'1'", "B'000111'"]) },
  { name: 'money', values: () => "'-12.34'" },
  { name: 'point', values: () => "'(1.5,-2)'", isBig: true },
  { name: 'int4range', values: ({ oneOf }) => quoted(oneOf(['empty', '[1,5)', '(,3]'])) },
  { name: 'tsvector', values: (round) => `to_tsvector('simple', ${postgresText(text(round))})`, isBig: true },
  { name: 'xml', values: () => '\'<a b="c">d &amp; e</a>\'', isBig: true },
  { name: 'mood', values: ({ oneOf }) => quoted(oneOf(['fine', "b'ad", 'so, so'])) },
  { name: 'pair', values: (round) => `ROW(1, ${postgresText(text(round))})::pair`, isBig: true },
  { name: 'mail', values: () => "'a@b'" },
];

const MYSQL: Type[] = [
  { name: 'TINYINT', values: (round) => whole(round, 8) },
  { name: 'SMALLINT UNSIGNED', values: (round) => whole(round, 16, false) },
  { name: 'MEDIUMINT', values: (round) => whole(round, 24) },
  { name: 'INT', values: (round) => whole(round, 32) },
  { name: 'BIGINT', values: (round) => whole(round, 64) },
  { name: 'BIGINT UNSIGNED', values: (round) => whole(round, 64, false) },
  { name: 'DECIMAL(40, 12)', values: (round) => decimal(round) },
  { name: 'FLOAT', values: ({ oneOf }) => oneOf(['1.1', '3.4028e38', '-1e-30', '0']) },
  { name: 'DOUBLE', values: ({ oneOf, random }) => oneOf(['1.7976931348623157e308', '1e-300', String(random())]) },
  { name: 'BIT(13)', values: ({ oneOf }) => oneOf(["b'1010101010101'", "b'0'"]) },
  { name: 'DATE', values: (round) => quoted(round.oneOf([day(round), '0000-00-00', '2026-02-31'])) },
  { name: 'TIME(6)', values: (round) => quoted(round.oneOf([clock(round), '-838:59:59', '00:00:00.000001'])) },
  { name: 'DATETIME(6)', values: (round) => quoted(round.oneOf([`${day(round)} ${clock(round)}`, '0000-00-00'])) },
  {
    name: 'TIMESTAMP(3) NULL',
    values: ({ oneOf }) => quoted(oneOf(['1970-01-02 00:00:01', '2026-03-29 12:30:00.123'])),
  },
  { name: 'YEAR', values: ({ oneOf }) => oneOf(['1901', '2155', '0']) },
  { name: 'CHAR(40)', values: (round) => mysqlText(Array.from(text(round)).slice(0, 40).join('').trimEnd()) },
  { name: 'VARCHAR(2000)', values: (round) => mysqlText(text(round)), isBig: true },
  {
    name: 'VARCHAR(100) CHARACTER SET latin1',
    values: ({ oneOf }) => mysqlText(oneOf(['', 'Ärger', 'a\\b\t\n', "it's"])),
  },
  { name: 'VARCHAR(100) CHARACTER SET utf16', values: ({ oneOf }) => mysqlText(oneOf(['', 'ü🐘', '\\N'])) },
  { name: 'LONGTEXT', values: (round) => mysqlText(text(round, 12)), isBig: true },
  { name: 'BINARY(4)', values: ({ oneOf }) => oneOf(["x'00090A5C'", "x'FFFFFFFF'", "x''"]) },
  { name: 'VARBINARY(300)', values: (round) => `x'${bytes(round)}'` },
  { name: 'LONGBLOB', values: (round) => `x'${bytes(round, 400)}'`, isBig: true },
  { name: "ENUM ('a', 'b''c', 'ü')", values: ({ oneOf }) => quoted(oneOf(['a', "b'c", 'ü'])) },
  { name: "SET ('x', 'y', 'z')", values: ({ oneOf }) => quoted(oneOf(['', 'x', 'x,z'])) },
  { name: 'JSON', values: (round) => mysqlText(json(round)), isBig: true },
  { name: 'POINT', values: () => "ST_GeomFromText('POINT(1 2)')", isBig: true },
];

/** A table of random columns with random rows, and what belongs to it. */
function randomTable(kind: ServerKind, round: Round, name: string): string[] {
  const { random, oneOf } = round;
  const types = kind === 'postgres' ? POSTGRES : MYSQL;
  const columns = Array.from({ length: 1 + Math.floor(random() * 9) }, (_, index) => {
    const type = oneOf(types);
    return { name: `c${index}`, type, isNullable: random() < 0.6 };
  });
  const key = oneOf(['PRIMARY KEY (id)', 'PRIMARY KEY (id)', 'UNIQUE (id)', '']);
  const identity = kind === 'postgres' ? 'GENERATED BY DEFAULT AS IDENTITY' : 'AUTO_INCREMENT';
  const isCounted = key !== '' && random() < 0.4;
  const id = isCounted ? `id integer NOT NULL ${identity}` : 'id integer NOT NULL';
  const lines = columns.map(({ name: column, type, isNullable }) => {
    const isTimestamp = type.name.startsWith('TIMESTAMP');
    return `${column} ${type.name}${isNullable || isTimestamp ? '' : ' NOT NULL'}`;
  });
  const generated = !isCounted && random() < 0.3 ? ['g integer GENERATED ALWAYS AS (id * 2) STORED'] : [];
  const rows = Array.from({ length: Math.floor(random() * 30) }, (_, index) => {
    const values = columns.map(({ type, isNullable }) => (isNullable && random() < 0.2 ? 'NULL' : type.values(round)));
    return `(${[index + 1, ...values].join(', ')})`;
  });
  const indexed = columns.find(({ type }) => !type.isBig);
  const names = ['id', ...columns.map((column) => column.name)].join(', ');
  return [
    `CREATE TABLE ${name} (${[id, ...lines, ...generated, ...(key === '' ? [] : [key])].join(', ')})`,
    ...(rows.length > 0 ? [`INSERT INTO ${name} (${names}) VALUES ${rows.join(', ')}`] : []),
    ...(indexed && random() < 0.5 && canIndex(indexed.type)
      ? [`CREATE INDEX by_${name} ON ${name} (${indexed.name})`]
      : []),
    ...(random() < 0.3 ? [`CREATE VIEW v_${name} AS SELECT ${names} FROM ${name}`] : []),
  ];
}

/** What a binary log and GTID make difficult: triggers, functions, and tables without transactions beside others. */
function loggedObjects({ random, oneOf }: Round, name: string): string[] {
  const event = oneOf(['INSERT', 'UPDATE', 'DELETE']);
  const triggers = Array.from({ length: Math.floor(random() * 4) }, (_, at) => {
    const comment = oneOf(['', '/* é */ ', '-- last\n', '\n\n']);
    return `CREATE TRIGGER g${at}_${name} ${oneOf(['BEFORE', 'AFTER'])} ${event} ON ${name} FOR EACH ROW ${comment}SET @n = ${at}`;
  });
  const other = `CREATE TABLE o_${name} (a int) ENGINE=${oneOf(['MyISAM', 'MEMORY', 'ARCHIVE', 'CSV'])}`;
  return [
    ...triggers,
    ...(random() < 0.5 ? [other.endsWith('CSV') ? other.replace('a int', 'a int NOT NULL') : other] : []),
    ...(random() < 0.3 ? [`CREATE FUNCTION f_${name}() RETURNS int DETERMINISTIC RETURN ${Number(name.length)}`] : []),
    ...(random() < 0.3 ? [`CREATE EVENT e_${name} ON SCHEDULE EVERY 1 DAY DISABLE DO SET @n = 1`] : []),
  ];
}

function canIndex({ name }: Type): boolean {
  return !/tsvector|xml|json|point|utf16/i.test(name);
}

const PREPARED: Record<'postgres' | 'mysql', string[]> = {
  postgres: [
    `CREATE TYPE mood AS ENUM ('fine', 'b''ad', 'so, so')`,
    'CREATE TYPE pair AS (x integer, y text)',
    `CREATE DOMAIN mail AS text CHECK (VALUE LIKE '%@%')`,
  ],
  // Values that only a lax mode takes are in databases all the same.
  mysql: ["SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'"],
};

interface EqualData {
  server: AnyServer;
  folder: string;
  /** MySQL with the defaults of a fresh server: with what they make difficult, and a copy of the copy. */
  isFresh?: boolean;
}

/** Random schemas, one of each round, in one database: built, loaded, and compared by the server and its dump program. */
export async function checkEqualData({ server, folder, isFresh = false }: EqualData, rounds: Round[]): Promise<void> {
  const name = `data_${rounds[0]?.number}`;
  const copy = `${name}_copy`;
  const tables = rounds.flatMap((round) =>
    Array.from({ length: 1 + Math.floor(round.random() * 3) }, (_, index) => ({
      round,
      name: `t${round.number}_${index}`,
    })),
  );
  const statements = tables.flatMap((table) => [
    ...randomTable(server.kind, table.round, table.name),
    ...(isFresh ? loggedObjects(table.round, table.name) : []),
  ]);
  await server.create(name);
  try {
    await server.run(name, [...PREPARED[server.kind === 'postgres' ? 'postgres' : 'mysql'], ...statements]);
    const names = tables.map((table) => table.name);
    await checkCopy({ server, folder: join(folder, name), from: name, to: copy, names });
    if (isFresh) {
      const copies = { server, folder: join(folder, copy), from: copy, to: `${copy}2`, names };
      await checkCopy(copies);
      await checkCopy(copies);
    }
  } finally {
    for (const database of await server.databases()) if (database.startsWith(name)) await server.drop(database);
  }
}

interface Copy {
  server: AnyServer;
  folder: string;
  from: string;
  to: string;
  /** Of the tables. */
  names: string[];
}

async function checkCopy({ server, folder, from, to, names }: Copy): Promise<void> {
  const targets = { app: { snapshot: { src_url: server.url(from), dst_url: server.url(to) } } };
  const context = testContext({ settings: { working_directory: folder, targets } });
  await build(context, { target: 'app', cpus: 2 });
  await applyLoad(context, await planLoad(context, { target: 'app', cpus: 2, undo: false }));
  expect(await checksums(server, to, names)).toEqual(await checksums(server, from, names));
  const [before, after] = [await server.dump(from), await server.dump(to)];
  if (before !== after) expect(dumpDifferences(before, after)).toEqual([]);
}

/** Of each table, computed by the server. */
async function checksums(server: AnyServer, database: string, tables: string[]): Promise<string[]> {
  const sums: string[] = [];
  for (const table of tables) sums.push(`${table} ${await server.checksum(database, table)}`);
  return sums;
}
