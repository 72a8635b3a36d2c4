import type { Round } from '../trials.ts';

/** A table with random columns and key, and statements that change it. */
export interface ChangedTable {
  name: string;
  create: string[];
  /** Groups of statements, each a transaction; one that a foreign key forbids has no effect. */
  change: string[];
  /** Others may refer to its integer key `id`. */
  isParent: boolean;
}

/** Each as the expression of a value from the number `i`, which may be NULL. */
const COLUMNS: [type: string, value: string][] = [
  ['integer', 'i * 3'],
  ['bigint', '9007199254740993 - i'],
  ['numeric', "(i % 7 || (ARRAY['', '.0', '.00', '.50'])[1 + i % 4])::numeric"],
  ['float8', "(ARRAY['NaN', '-0', 'Infinity', '0.1', '1e300'])[1 + i % 5]::float8"],
  ['float4', 'i / 3.0'],
  ['text', "chr(9) || i || chr(10) || '\\N' || chr(92) || '. ' || chr(13) || repeat('ä€', i % 5)"],
  ['text', "(ARRAY['', '\\N', '\\.', ' ', NULL])[1 + i % 5]"],
  ['varchar(40)', 'left(md5(i::text), i % 40)'],
  ['char(12)', "'c' || i % 50"],
  ['"char"', 'chr(65 + i % 20)::"char"'],
  ['name', "('n' || i)::name"],
  ['bytea', "decode(repeat(md5(i::text), i % 4), 'hex')"],
  ['boolean', 'i % 3 = 0'],
  ['date', "date '2000-01-01' + i"],
  ['timestamp', "timestamp 'epoch' + i * interval '1.000001 second'"],
  [
    'timestamptz',
    "CASE i % 9 WHEN 0 THEN 'infinity' ELSE timestamptz '2026-03-29 00:59:59.999999 UTC' + i * interval '1 s' END",
  ],
  ['time', "time '00:00' + i * interval '1 second'"],
  ['timetz', "timetz '12:00+02' + i * interval '1 second'"],
  ['interval', "i * interval '1 month -2 days 3.5 seconds'"],
  ['uuid', 'md5(i::text)::uuid'],
  ['json', `('{"a" :  ' || i || '}')::json`],
  ['jsonb', "jsonb_build_object('a', i, 'b', chr(34) || chr(92))"],
  ['inet', "inet '10.0.0.0' + i"],
  ['macaddr', "'08:00:2b:01:02:03'::macaddr"],
  ['bit varying(20)', '(i % 1000)::bit(20)'],
  ['int4range', 'int4range(i, i + 5)'],
  ['integer[]', 'CASE WHEN i % 4 = 0 THEN NULL ELSE ARRAY[i, NULL, i % 3] END'],
  ['text[]', `ARRAY['"', '{', chr(92), NULL, i::text]`],
  ['point', 'point(i, 0.1)'],
  ['tsvector', "to_tsvector('simple', 'a b ' || i)"],
  ['xml', "xmlparse(content '<a>' || i || '</a>')"],
  ['mood', "(ARRAY['sad', 'so so', 'happy'])[1 + i % 3]::mood"],
  ['pair', "ROW(i, 'a,' || i)::pair"],
  ['positive', '1 + i % 1000'],
  ['pg_lsn', "'0/0'::pg_lsn + i"],
];

interface KeyKind {
  columns: string;
  /** Values of the key from `i`, different for all `i`. */
  values: string;
  insert: string;
  constraint: string;
  /** Changes the text of a key, and not its value. */
  respell?: string;
  isUsable?: false;
}

const KEYS: KeyKind[] = [
  { columns: 'id integer', insert: 'id', values: 'i', constraint: 'PRIMARY KEY (id)' },
  { columns: 'id bigint GENERATED ALWAYS AS IDENTITY', insert: 'id', values: 'i', constraint: 'PRIMARY KEY (id)' },
  { columns: 'id integer NOT NULL', insert: 'id', values: 'i', constraint: 'UNIQUE (id) INCLUDE (pad)' },
  {
    columns: 'a integer, "b ""c" text',
    insert: 'a, "b ""c"',
    values: "i % 3, 'x' || chr(9) || chr(92) || i",
    constraint: 'PRIMARY KEY (a, "b ""c")',
  },
  {
    columns: 'id text COLLATE blind',
    insert: 'id',
    values: "'Key ' || i",
    constraint: 'PRIMARY KEY (id)',
    respell: 'id = upper(id)',
  },
  {
    columns: 'id numeric',
    insert: 'id',
    values: 'i::numeric',
    constraint: 'PRIMARY KEY (id)',
    respell: 'id = id * 1.00',
  },
  { columns: 'id char(20)', insert: 'id', values: "'k' || i", constraint: 'PRIMARY KEY (id)' },
  { columns: 'id text', insert: 'id', values: `i || repeat(' ', i % 3) || chr(92)`, constraint: 'PRIMARY KEY (id)' },
  { columns: 'id positive', insert: 'id', values: 'i', constraint: 'PRIMARY KEY (id)' },
  { columns: 'id uuid', insert: 'id', values: 'md5(i::text)::uuid', constraint: 'PRIMARY KEY (id)' },
  {
    columns: 'id timestamptz',
    insert: 'id',
    values: "timestamptz '2026-01-01 UTC' + i * interval '1 s'",
    constraint: 'PRIMARY KEY (id)',
  },
  { columns: 'id pair', insert: 'id', values: "ROW(i, 'b')::pair", constraint: 'PRIMARY KEY (id)' },
  { columns: 'id integer[]', insert: 'id', values: 'ARRAY[i, 1]', constraint: 'PRIMARY KEY (id)' },
  { columns: 'id float8', insert: 'id', values: 'i / 10.0', constraint: 'PRIMARY KEY (id)' },
  { columns: 'id integer', insert: 'id', values: 'i', constraint: 'UNIQUE (id)', isUsable: false },
  {
    columns: 'id integer',
    insert: 'id',
    values: 'i',
    constraint: 'PRIMARY KEY (id) DEFERRABLE INITIALLY DEFERRED',
    isUsable: false,
  },
  { columns: 'id integer', insert: 'id', values: 'i / 2', constraint: 'CHECK (id >= 0)', isUsable: false },
];

/** Before the tables. */
export const TYPES = [
  `CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
  `CREATE TYPE mood AS ENUM ('sad', 'so so', 'happy')`,
  'CREATE TYPE pair AS (n integer, t text)',
  'CREATE DOMAIN positive AS integer CHECK (value >= 0)',
];

type Draw = Pick<Round, 'random' | 'oneOf'>;

/** Numbers of added rows begin here, for each addition 1000 later. */
const NEW_FROM = 100_000;

/** About 400 kB to 12 MB; `parent` is a table with an integer key that it may refer to. */
export function randomTable(name: string, { random, oneOf }: Draw, parent: string | null): ChangedTable {
  const key = oneOf(KEYS);
  const columns = Array.from({ length: 1 + Math.floor(random() * 8) }, () => oneOf(COLUMNS));
  const isLarge = random() < 0.08;
  const rows = isLarge ? 14_000 : 1000 + Math.floor(random() * 2000);
  const isToasted = random() < 0.2;
  const padding = isToasted
    ? 'repeat(md5(i::text), CASE WHEN i % 50 = 0 THEN 300 ELSE 8 END)'
    : 'repeat(md5(i::text), 14)';
  const isInteger = /^id integer( NOT NULL)?$/.test(key.columns) && key.isUsable !== false;
  const isPartitioned = random() < 0.1 && isInteger;
  const refers = parent !== null && random() < 0.5;
  const itself = key.columns === 'id integer' && key.constraint === 'PRIMARY KEY (id)' && random() < 0.4;
  const definition = [
    key.columns,
    ...columns.map(([type], index) => `c${index} ${type}`),
    'pad text NOT NULL',
    ...(random() < 0.3 ? ['long integer GENERATED ALWAYS AS (length(pad)) STORED'] : []),
    ...(refers
      ? [
          `parent integer REFERENCES ${parent} (id) ${oneOf(['', 'ON DELETE CASCADE', 'ON DELETE SET NULL', 'ON DELETE RESTRICT', 'DEFERRABLE INITIALLY DEFERRED'])}`,
        ]
      : []),
    ...(itself ? [`upper integer REFERENCES ${name} ON DELETE SET NULL`] : []),
    key.constraint,
  ].join(', ');
  const fields = [
    key.insert,
    ...columns.map((_, index) => `c${index}`),
    'pad',
    ...(refers ? ['parent'] : []),
    ...(itself ? ['upper'] : []),
  ].join(', ');
  const values = [
    key.values,
    ...columns.map(([, value]) => value),
    padding,
    ...(refers ? [`(SELECT ${oneOf(['min', 'max'])}(id) FROM ${parent})`] : []),
    ...(itself ? ['nullif(i / 2, 0)'] : []),
  ].join(', ');
  const insert = (from: number, to: number): string =>
    `INSERT INTO ${name} (${fields}) OVERRIDING SYSTEM VALUE SELECT ${values} FROM generate_series(${from}, ${to}) AS i ${itself ? 'ORDER BY i' : ''}`;
  const create = [
    `CREATE TABLE ${name} (${definition})${isPartitioned ? ' PARTITION BY RANGE (id)' : ''}`,
    ...(isPartitioned
      ? [
          `CREATE TABLE ${name}_low PARTITION OF ${name} FOR VALUES FROM (MINVALUE) TO (700)`,
          `CREATE TABLE ${name}_high PARTITION OF ${name} DEFAULT`,
        ]
      : []),
    insert(1, rows),
    'SET CONSTRAINTS ALL IMMEDIATE',
    ...(random() < 0.5 ? [`CREATE INDEX ON ${name} (left(pad, 20))`] : []),
    ...(random() < 0.3 && key.isUsable !== false
      ? [`CREATE UNIQUE INDEX ON ${name} (${key.insert}) ${isPartitioned ? '' : "WHERE pad > 'a'"}`]
      : []),
    ...(random() < 0.3
      ? [
          `CREATE TRIGGER spoil BEFORE INSERT OR DELETE ON ${name} FOR EACH ROW EXECUTE FUNCTION spoil()`,
          ...(random() < 0.5 && !isPartitioned ? [`ALTER TABLE ${name} ENABLE ALWAYS TRIGGER spoil`] : []),
        ]
      : []),
  ];
  // Up to 2 % of the rows, seldom more.
  const some = (): string => {
    const most = random() < 0.1 ? 800 : 80;
    return `left(md5(pad), 3) < '${Math.floor(random() * most)
      .toString(16)
      .padStart(3, '0')}'`;
  };
  let added = 0;
  const changes: (() => string)[] = [
    () => `UPDATE ${name} SET pad = md5(pad) WHERE ${some()}`,
    () => `UPDATE ${name} SET pad = pad WHERE ${some()}`,
    () => `DELETE FROM ${name} WHERE ${some()}`,
    () => {
      added += 1;
      return insert(NEW_FROM + 1000 * added, NEW_FROM + 1000 * added + Math.floor(random() * 100));
    },
    () => `UPDATE ${name} SET c0 = NULL WHERE ${some()}`,
    () => `VACUUM FULL ${name}`,
    () => moved(some()),
    () => (random() < 0.3 ? `UPDATE ${name} SET pad = pad || 'x'` : 'SELECT 1'),
    ...(key.respell ? [() => `UPDATE ${name} SET ${key.respell} WHERE ${some()}`] : []),
    ...(refers ? [() => `UPDATE ${name} SET parent = NULL WHERE ${some()}`] : []),
  ];
  const moved = (
    which: string,
  ): string => `CREATE TEMPORARY TABLE saved AS SELECT ${fields} FROM ${name} WHERE ${which};
    DELETE FROM ${name} WHERE ${which}; INSERT INTO ${name} (${fields}) OVERRIDING SYSTEM VALUE SELECT * FROM saved`;
  const change = Array.from({ length: Math.floor(random() * 5) }, () => oneOf(changes)());
  return {
    name,
    create,
    change,
    isParent: isInteger,
  };
}

/** The function of triggers that would change what is loaded. */
export const SPOIL = `CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
  IF current_database() LIKE 'source%' THEN RETURN coalesce(NEW, OLD); END IF;
  RETURN NULL;
END$$`;
