import { itemName } from '../../src/sanitize/ledger/ledger-item.ts';

/** Changes all that is personal. */
export const MASK = [
  "UPDATE person SET email = concat('p', id, '@example.com'), first_name = concat('Person ', id), note = NULL, born = '2000-01-01', phone = id",
  'UPDATE event SET payload = \'{"kind": "visit"}\'',
];

export interface RandomServer {
  random: () => number;
  isPostgres: boolean;
  /** The server writes names of tables in lower case. */
  isFolded: boolean;
}

function oneOf<Item>(random: () => number, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item;
}

export interface SchemaChange {
  statements: string[];
  /** The items of the ledger that it opens. */
  opens: string[];
}

const NAMES = [
  'notes',
  'Notes',
  'NOTES',
  'x1',
  'a.b',
  'a"b',
  'a`b',
  'line\nbreak',
  'größe',
  '->',
  'kept',
  "it's",
  'a b',
  '{}',
  '名前',
];

/** Tables that get columns: one would have too many for a server. */
const WIDE_TABLES = 25;

export const wideTables = (): string[] =>
  Array.from({ length: WIDE_TABLES }, (_, at) => `CREATE TABLE wide_${at} (id integer PRIMARY KEY, ${COLUMNS})`);

/** 2,000 in all. */
const COLUMNS = Array.from({ length: 80 }, (_, at) => `c${at} integer`).join(', ');

/** Statements that add something that nobody has classified. */
export function schemaChange(round: number, { random, isPostgres, isFolded }: RandomServer): SchemaChange {
  const quote = (text: string): string =>
    isPostgres ? `"${text.replaceAll('"', '""')}"` : `\`${text.replaceAll('`', '``')}\``;
  const itemsOf = (table: string, columns: string[], schema = 'public'): string[] => {
    const stored = isFolded ? table.toLowerCase() : table;
    return columns.map((column) => itemName({ schema: isPostgres ? schema : null, table: stored, column }));
  };
  const text = `${oneOf(random, NAMES)}${round}`;
  const name = quote(text);
  const type = oneOf(random, ['varchar(40)', 'integer', 'date', 'json', 'bigint', 'varchar(200)']);
  const wide = `wide_${round % WIDE_TABLES}`;
  const made = quote(`t${round}`);
  const kinds: SchemaChange[] = [
    { statements: [`ALTER TABLE ${wide} ADD COLUMN ${name} ${type}`], opens: itemsOf(wide, [text]) },
    { statements: [`CREATE TABLE ${name} (${quote('Email')} ${type})`], opens: itemsOf(text, ['Email']) },
    {
      statements: [
        `ALTER TABLE ${wide} ADD COLUMN ${made} ${type}`,
        `ALTER TABLE ${wide} RENAME COLUMN ${made} TO ${name}`,
      ],
      opens: itemsOf(wide, [text]),
    },
    {
      statements: [`CREATE TABLE ${made} (note varchar(40))`, `ALTER TABLE ${made} RENAME TO ${name}`],
      opens: itemsOf(text, ['note']),
    },
    {
      statements: [`CREATE TABLE ${name} ${isPostgres ? '(LIKE never_filled)' : 'LIKE never_filled'}`],
      opens: itemsOf(text, ['id', 'remark']),
    },
    {
      statements: [
        isPostgres
          ? `ALTER TYPE state ADD VALUE 'v${round}'`
          : `ALTER TABLE wide_0 ADD COLUMN ${name} enum('v${round}')`,
      ],
      opens: isPostgres ? itemsOf('purchase', ['state']) : itemsOf('wide_0', [text]),
    },
  ];
  const ofPostgres: SchemaChange[] = [
    {
      statements: [
        `CREATE TABLE ${name} (id integer, note text) PARTITION BY RANGE (id)`,
        `CREATE TABLE ${made} PARTITION OF ${name} FOR VALUES FROM (1) TO (9)`,
      ],
      opens: itemsOf(text, ['id', 'note']),
    },
    {
      statements: [`CREATE TABLE ${name} (own text) INHERITS (never_filled)`],
      opens: itemsOf(text, ['id', 'remark', 'own']),
    },
    {
      statements: [`CREATE SCHEMA ${made}`, `CREATE TABLE ${made}.person (email ${type})`],
      opens: itemsOf('person', ['email'], `t${round}`),
    },
    {
      statements: [
        `CREATE TYPE ${made} AS (street text, zip integer)`,
        `ALTER TABLE ${wide} ADD COLUMN ${name} ${made}[]`,
      ],
      opens: itemsOf(wide, [text]).flatMap((item) => [item, `${item}->street`, `${item}->zip`]),
    },
    {
      statements: [`CREATE DOMAIN ${made} AS text`, `ALTER TABLE ${wide} ADD COLUMN ${name} ${made}`],
      opens: itemsOf(wide, [text]),
    },
    {
      statements: [`ALTER TABLE ${wide} ADD COLUMN ${name} integer GENERATED ALWAYS AS (id + 1) STORED`],
      opens: itemsOf(wide, [text]),
    },
  ];
  return oneOf(random, isPostgres ? [...kinds, ...ofPostgres] : kinds);
}

export interface WeakQuery {
  query: string[];
  /** The columns that keep marks, without their schema. */
  columns: string[];
}

const PERSONAL = ['email', 'first_name', 'note', 'phone', 'born'];

/** A query that leaves marks in columns of a table that the canaries are in, or copies them into another one. */
export function weakQuery(
  round: number,
  { random, isPostgres }: Pick<RandomServer, 'random' | 'isPostgres'>,
): WeakQuery {
  const hex = isPostgres ? (of: string) => `encode(${of}::bytea, 'hex')` : (of: string) => `hex(${of})`;
  const base64 = isPostgres ? (of: string) => `encode(${of}::bytea, 'base64')` : (of: string) => `to_base64(${of})`;
  const forms: ((of: string) => string)[] = [
    (of) => of,
    (of) => `upper(${of})`,
    (of) => `lower(${of})`,
    (of) => `concat('x-', ${of}, '.test')`,
    (of) => `replace(${of}, '@', '_at_')`,
    (of) => `left(${of}, 14)`,
    (of) => `reverse(${of})`,
    (of) => `concat('{"a": "', ${of}, '"}')`,
    (of) => `concat(' ', ${of}, ' ')`,
    hex,
    base64,
  ];
  const from = oneOf(random, ['email', 'first_name', 'note']);
  const value = oneOf(random, forms)(from);
  const rest: Record<string, string> = {
    email: "concat('p', id, '@example.com')",
    first_name: "concat('P', id)",
    note: 'NULL',
    phone: 'id',
    born: "'2000-01-01'",
  };
  const masked = (except = ''): string =>
    Object.entries(rest)
      .filter(([column]) => column !== except)
      .map(([column, sql]) => `${column} = ${sql}`)
      .join(', ');
  const left = oneOf(random, PERSONAL);
  const [, ofEvents = ''] = MASK;
  const kinds: WeakQuery[] = [
    // MySQL assigns from left to right: the weak value comes first.
    { query: [`UPDATE person SET ${from} = ${value}, ${masked(from)}`, ofEvents], columns: [`person.${from}`] },
    {
      query: [
        `CREATE TABLE kept_${round} AS SELECT ${value} AS v FROM person`,
        `UPDATE person SET ${masked()}`,
        ofEvents,
      ],
      columns: [`kept_${round}.v`],
    },
    {
      query: [`UPDATE person SET ${masked()} WHERE id < 61`, ofEvents],
      columns: PERSONAL.map((column) => `person.${column}`),
    },
    { query: [`UPDATE person SET ${masked(left)}`, ofEvents], columns: [`person.${left}`] },
    {
      query: [
        'ALTER TABLE purchase ADD COLUMN v varchar(200)',
        `UPDATE purchase SET v = (SELECT ${value} FROM person p WHERE p.id = purchase.person_id)`,
        `UPDATE person SET ${masked()}`,
        ofEvents,
      ],
      columns: ['purchase.v'],
    },
    { query: [`UPDATE person SET ${masked()}`], columns: ['event.payload'] },
  ];
  return oneOf(random, kinds);
}
