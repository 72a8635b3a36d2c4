/**
 * Every pair "an object in `public` uses an object in `other`": kinds of objects that can be used, times the places in
 * which such an object can stand. Each pair has names of its own, so that all fit into one database.
 */
export interface OutwardPair {
  name: string;
  /** Makes the objects of both schemas. */
  sql: string;
  /** Whether a table with rows would be without a column or its key: a build needs the schema then. */
  needed: boolean;
  /** What differs from the oracle, `DROP SCHEMA other CASCADE`. */
  oracle: string;
}

interface Used {
  kind: string;
  /** Makes the object, called `other.N`. */
  sql: (n: string) => string;
  /** A constant truth value that uses it; immutable. */
  test?: (n: string) => string;
  /** The name of a type. */
  type?: (n: string) => string;
  /** Whether a range may be over the type. */
  orders?: boolean;
  /** Whether it is a type of rows of its own, and not of a relation. */
  standsAlone?: boolean;
  /** A relation. */
  relation?: 'table' | 'partitioned' | 'other';
  /** Places in which only this kind can stand. */
  places?: Usage[];
}

interface Usage {
  place: string;
  sql: (n: string, given: string) => string;
  needed?: boolean;
  oracle?: (n: string) => string;
}

const isNull = (value: string): string => `((${value}) IS NULL)`;

const TYPES: Used[] = [
  {
    kind: 'enum',
    sql: (n) => `CREATE TYPE other.${n} AS ENUM ('a', 'b')`,
    test: (n) => isNull(`'a'::other.${n}`),
    type: (n) => `other.${n}`,
    orders: true,
  },
  {
    kind: 'array of an enum',
    sql: (n) => `CREATE TYPE other.${n} AS ENUM ('a', 'b')`,
    test: (n) => isNull(`'{a}'::other.${n}[]`),
    type: (n) => `other.${n}[]`,
    orders: true,
  },
  {
    kind: 'composite type',
    sql: (n) => `CREATE TYPE other.${n} AS (a integer, b text)`,
    test: (n) => isNull(`ROW(1, 'x')::other.${n}`),
    type: (n) => `other.${n}`,
    orders: true,
    standsAlone: true,
  },
  {
    kind: 'domain',
    sql: (n) => `CREATE DOMAIN other.${n} AS integer CHECK (VALUE > 0)`,
    test: (n) => isNull(`1::other.${n}`),
    type: (n) => `other.${n}`,
    orders: true,
  },
  {
    kind: 'range',
    sql: (n) => `CREATE TYPE other.${n} AS RANGE (subtype = float8)`,
    test: (n) => isNull(`'[1,2]'::other.${n}`),
    type: (n) => `other.${n}`,
    orders: true,
  },
  {
    kind: 'multirange',
    sql: (n) => `CREATE TYPE other.${n}_range AS RANGE (subtype = float8, multirange_type_name = other.${n})`,
    test: (n) => isNull(`'{[1,2]}'::other.${n}`),
    type: (n) => `other.${n}`,
    orders: true,
  },
  {
    kind: 'base type',
    sql: (n) => `CREATE TYPE other.${n};
      CREATE FUNCTION other.${n}_in(cstring) RETURNS other.${n} LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
      CREATE FUNCTION other.${n}_out(other.${n}) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
      CREATE TYPE other.${n} (INPUT = other.${n}_in, OUTPUT = other.${n}_out, LIKE = integer)`,
    test: (n) => isNull(`'1'::other.${n}`),
    type: (n) => `other.${n}`,
  },
];

const RELATIONS: Used[] = (
  [
    {
      kind: 'table',
      sql: (n) => `CREATE TABLE other.${n} (a integer PRIMARY KEY, b text); INSERT INTO other.${n} VALUES (1, 'x')`,
      relation: 'table',
    },
    {
      kind: 'partitioned table',
      sql: (n) => `CREATE TABLE other.${n} (a integer PRIMARY KEY, b text) PARTITION BY LIST (a);
      CREATE TABLE other.${n}_1 PARTITION OF other.${n} FOR VALUES IN (1); INSERT INTO other.${n} VALUES (1, 'x')`,
      relation: 'partitioned',
    },
    { kind: 'view', sql: (n) => `CREATE VIEW other.${n} AS SELECT 1 AS a, 'x'::text AS b`, relation: 'other' },
    {
      kind: 'materialized view',
      sql: (n) => `CREATE MATERIALIZED VIEW other.${n} AS SELECT 1 AS a, 'x'::text AS b`,
      relation: 'other',
    },
    {
      kind: 'foreign table',
      sql: (n) => `CREATE FOREIGN DATA WRAPPER ${n}; CREATE SERVER ${n} FOREIGN DATA WRAPPER ${n};
      CREATE FOREIGN TABLE other.${n} (a integer, b text) SERVER ${n}`,
      relation: 'other',
    },
  ] satisfies Used[] as Used[]
).map((each) => ({
  ...each,
  test: (n: string) => isNull(`ROW(1, 'x')::other.${n}`),
  type: (n: string) => `other.${n}`,
  orders: true,
}));

/** Where an expression can stand. */
const EXPRESSIONS: Usage[] = [
  {
    place: 'check',
    sql: (n, e) =>
      `CREATE TABLE ${n} (id integer, CONSTRAINT ${n}_check CHECK (${e} OR id > 0), CONSTRAINT ${n}_stays CHECK (id < 9)); INSERT INTO ${n} VALUES (1)`,
  },
  {
    place: 'default',
    sql: (n, e) => `CREATE TABLE ${n} (id integer, b boolean DEFAULT ${e}); INSERT INTO ${n} VALUES (1)`,
  },
  {
    place: 'generated column',
    sql: (n, e) =>
      `CREATE TABLE ${n} (id integer, b boolean GENERATED ALWAYS AS (${e}) STORED, c text); INSERT INTO ${n} VALUES (1, DEFAULT, 'x')`,
  },
  {
    place: 'index expression',
    sql: (n, e) => `CREATE TABLE ${n} (id integer); CREATE INDEX ${n}_index ON ${n} ((${e}), id)`,
  },
  {
    place: 'index predicate',
    sql: (n, e) => `CREATE TABLE ${n} (id integer); CREATE INDEX ${n}_index ON ${n} (id) WHERE ${e}`,
  },
  {
    place: 'statistics',
    sql: (n, e) => `CREATE TABLE ${n} (id integer); CREATE STATISTICS ${n}_statistics ON (${e}), id FROM ${n}`,
  },
  { place: 'exclusion', sql: (n, e) => `CREATE TABLE ${n} (id integer, EXCLUDE USING btree ((${e}) WITH =))` },
  {
    place: 'policy',
    sql: (n, e) =>
      `CREATE TABLE ${n} (id integer); CREATE POLICY used ON ${n} USING (${e}); CREATE POLICY with_check ON ${n} FOR INSERT WITH CHECK (${e}); CREATE POLICY stays ON ${n} USING (id > 0)`,
  },
  {
    place: 'condition of a trigger',
    sql: (
      n,
      e,
    ) => `CREATE TABLE ${n} (id integer); CREATE FUNCTION ${n}_fires() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
      CREATE TRIGGER fires BEFORE INSERT ON ${n} FOR EACH ROW WHEN (${e}) EXECUTE FUNCTION ${n}_fires()`,
  },
  {
    place: 'check of a domain',
    sql: (n, e) => `CREATE DOMAIN ${n} AS integer CONSTRAINT ${n}_check CHECK (${e} OR VALUE > 0)`,
  },
  { place: 'default of a domain', sql: (n, e) => `CREATE DOMAIN ${n} AS boolean DEFAULT ${e}` },
  {
    place: 'default of an argument',
    sql: (n, e) => `CREATE FUNCTION ${n}(a boolean DEFAULT ${e}) RETURNS integer LANGUAGE sql AS 'SELECT 1'`,
  },
  {
    place: 'default of a view',
    sql: (n, e) => `CREATE VIEW ${n} AS SELECT true AS b; ALTER VIEW ${n} ALTER b SET DEFAULT ${e}`,
  },
  {
    place: 'partition key',
    sql: (n, e) => `CREATE TABLE ${n} (id integer) PARTITION BY LIST ((CASE WHEN id > 0 THEN ${e} ELSE id > 5 END))`,
    needed: true,
  },
];

/** Where a query can stand. */
const QUERIES: Usage[] = [
  { place: 'view', sql: (n, q) => `CREATE VIEW ${n} AS ${q}` },
  { place: 'materialized view', sql: (n, q) => `CREATE MATERIALIZED VIEW ${n} AS ${q} WITH NO DATA` },
  {
    place: 'body of a function',
    sql: (n, q) => `CREATE FUNCTION ${n}() RETURNS integer BEGIN ATOMIC ${q}; SELECT 1; END`,
  },
  {
    place: 'rule',
    sql: (n, q) => `CREATE TABLE ${n} (id integer); CREATE RULE used AS ON INSERT TO ${n} DO ALSO ${q}`,
  },
  {
    place: 'query of a policy',
    sql: (n, q) => `CREATE TABLE ${n} (id integer); CREATE POLICY used ON ${n} USING (EXISTS (${q}))`,
  },
];

/** Where the name of a type can stand. */
const OF_TYPES: Usage[] = [
  {
    place: 'column',
    sql: (n, t) => `CREATE TABLE ${n} (id integer, c ${t}); INSERT INTO ${n} VALUES (1)`,
    needed: true,
  },
  {
    place: 'column of a partitioned table',
    sql: (n, t) =>
      `CREATE TABLE ${n} (id integer, c ${t}) PARTITION BY LIST (id); CREATE TABLE ${n}_1 PARTITION OF ${n} DEFAULT`,
    needed: true,
  },
  {
    place: 'column of a foreign table',
    sql: (n, t) =>
      `CREATE FOREIGN DATA WRAPPER ${n}_w; CREATE SERVER ${n}_s FOREIGN DATA WRAPPER ${n}_w; CREATE FOREIGN TABLE ${n} (c ${t}) SERVER ${n}_s`,
    needed: true,
  },
  { place: 'domain', sql: (n, t) => `CREATE DOMAIN ${n} AS ${t}` },
  { place: 'attribute', sql: (n, t) => `CREATE TYPE ${n} AS (a ${t}, b integer)`, oracle: (n) => `DROP TYPE ${n}` },
  { place: 'argument', sql: (n, t) => `CREATE FUNCTION ${n}(${t}) RETURNS integer LANGUAGE sql AS 'SELECT 1'` },
  { place: 'argument of a procedure', sql: (n, t) => `CREATE PROCEDURE ${n}(${t}) LANGUAGE sql AS 'SELECT 1'` },
  {
    place: 'result',
    sql: (n, t) => `CREATE FUNCTION ${n}() RETURNS ${t} LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
  },
  {
    place: 'result of rows',
    sql: (n, t) => `CREATE FUNCTION ${n}() RETURNS TABLE (a ${t}) LANGUAGE plpgsql AS 'BEGIN END'`,
  },
  { place: 'set', sql: (n, t) => `CREATE FUNCTION ${n}() RETURNS SETOF ${t} LANGUAGE plpgsql AS 'BEGIN END'` },
  {
    place: 'aggregate',
    sql: (n, t) =>
      `CREATE FUNCTION ${n}_step(integer, ${t}) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'; CREATE AGGREGATE ${n} (${t}) (SFUNC = ${n}_step, STYPE = integer)`,
  },
  {
    place: 'operator',
    sql: (n, t) =>
      `CREATE FUNCTION ${n}(${t}, ${t}) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END'; CREATE OPERATOR <=> (LEFTARG = ${t}, RIGHTARG = ${t}, FUNCTION = ${n})`,
  },
  {
    place: 'cast',
    sql: (n, t) =>
      `CREATE TYPE ${n} AS ENUM ('z'); CREATE FUNCTION ${n}_cast(${t}) RETURNS ${n} LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; CREATE CAST (${t} AS ${n}) WITH FUNCTION ${n}_cast(${t})`,
  },
];

const INT = 'integer, integer';
/** Kinds that only some places take, with their signatures. */
const SPECIAL: Used[] = [
  {
    kind: 'function',
    sql: (n) => `CREATE FUNCTION other.${n}(integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 > 0'`,
    test: (n) => `other.${n}(1)`,
  },
  {
    kind: 'operator',
    sql: (
      n,
    ) => `CREATE TYPE other.${n}_arg AS ENUM ('a'); CREATE FUNCTION other.${n}_same(other.${n}_arg, other.${n}_arg) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
      CREATE OPERATOR other.=== (LEFTARG = other.${n}_arg, RIGHTARG = other.${n}_arg, FUNCTION = other.${n}_same)`,
    test: (n) => `('a'::other.${n}_arg OPERATOR(other.===) 'a'::other.${n}_arg)`,
  },
  {
    kind: 'collation',
    sql: (n) => `CREATE COLLATION other.${n} FROM "C"`,
    test: (n) => isNull(`'a' COLLATE other.${n}`),
    places: [
      {
        place: 'column',
        sql: (n) => `CREATE TABLE ${n} (t text COLLATE other.${n}); INSERT INTO ${n} VALUES ('x')`,
        needed: true,
      },
      {
        place: 'key of partitions',
        sql: (n) => `CREATE TABLE ${n} (t text) PARTITION BY LIST (t COLLATE other.${n})`,
        needed: true,
      },
      {
        place: 'index',
        sql: (n) => `CREATE TABLE ${n} (t text); CREATE INDEX ${n}_index ON ${n} (t COLLATE other.${n})`,
      },
      { place: 'domain', sql: (n) => `CREATE DOMAIN ${n} AS text COLLATE other.${n}` },
      { place: 'range', sql: (n) => `CREATE TYPE ${n} AS RANGE (subtype = text, collation = other.${n})` },
      {
        place: 'attribute',
        sql: (n) => `CREATE TYPE ${n} AS (t text COLLATE other.${n}, b integer)`,
        oracle: (n) => `DROP TYPE ${n}`,
      },
    ],
  },
  {
    kind: 'sequence',
    sql: (n) => `CREATE SEQUENCE other.${n}`,
    test: (n) => `('other.${n}'::regclass IS NULL)`,
    places: [
      {
        place: 'default by nextval',
        sql: (n) => `CREATE TABLE ${n} (id bigint DEFAULT nextval('other.${n}')); INSERT INTO ${n} VALUES (DEFAULT)`,
      },
    ],
  },
  {
    kind: 'text search configuration',
    sql: (n) => `CREATE TEXT SEARCH CONFIGURATION other.${n} (COPY = pg_catalog.simple)`,
    test: (n) => `(to_tsvector('other.${n}', 'x') IS NULL)`,
  },
  {
    kind: 'text search dictionary',
    sql: (n) => `CREATE TEXT SEARCH DICTIONARY other.${n} (TEMPLATE = simple)`,
    test: (n) => `('other.${n}'::regdictionary IS NULL)`,
    places: [
      {
        place: 'mapping',
        sql: (n) =>
          `CREATE TEXT SEARCH CONFIGURATION ${n} (PARSER = "default"); ALTER TEXT SEARCH CONFIGURATION ${n} ADD MAPPING FOR word WITH other.${n}`,
      },
    ],
  },
  {
    kind: 'text search template',
    sql: (n) => `CREATE TEXT SEARCH TEMPLATE other.${n} (LEXIZE = dsimple_lexize, INIT = dsimple_init)`,
    places: [{ place: 'dictionary', sql: (n) => `CREATE TEXT SEARCH DICTIONARY ${n} (TEMPLATE = other.${n})` }],
  },
  {
    kind: 'text search parser',
    sql: (n) =>
      `CREATE TEXT SEARCH PARSER other.${n} (START = prsd_start, GETTOKEN = prsd_nexttoken, END = prsd_end, LEXTYPES = prsd_lextype)`,
    places: [{ place: 'configuration', sql: (n) => `CREATE TEXT SEARCH CONFIGURATION ${n} (PARSER = other.${n})` }],
  },
  {
    kind: 'operator class',
    sql: (n) =>
      `CREATE OPERATOR CLASS other.${n} FOR TYPE integer USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(${INT})`,
    places: [
      { place: 'index', sql: (n) => `CREATE TABLE ${n} (id integer); CREATE INDEX ${n}_index ON ${n} (id other.${n})` },
      { place: 'range', sql: (n) => `CREATE TYPE ${n} AS RANGE (subtype = integer, subtype_opclass = other.${n})` },
      {
        place: 'key of partitions',
        sql: (n) => `CREATE TABLE ${n} (id integer) PARTITION BY RANGE (id other.${n})`,
        needed: true,
      },
    ],
  },
  {
    kind: 'operator family',
    sql: (n) => `CREATE OPERATOR FAMILY other.${n} USING btree`,
    places: [
      {
        place: 'operator class',
        sql: (
          n,
        ) => `CREATE OPERATOR CLASS ${n} FOR TYPE integer USING btree FAMILY other.${n} AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(${INT});
          CREATE TABLE ${n} (id integer); CREATE INDEX ${n}_index ON ${n} (id ${n})`,
      },
    ],
  },
  ofFunction('trigger function', `() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`, [
    {
      place: 'trigger',
      sql: (n) =>
        `CREATE TABLE ${n} (id integer); CREATE TRIGGER fires BEFORE INSERT ON ${n} FOR EACH ROW EXECUTE FUNCTION other.${n}()`,
    },
    {
      place: 'trigger of a view',
      sql: (n) =>
        `CREATE VIEW ${n} AS SELECT 1 AS id; CREATE TRIGGER fires INSTEAD OF INSERT ON ${n} FOR EACH ROW EXECUTE FUNCTION other.${n}()`,
    },
    {
      place: 'constraint trigger',
      sql: (n) =>
        `CREATE TABLE ${n} (id integer); CREATE CONSTRAINT TRIGGER fires AFTER INSERT ON ${n} DEFERRABLE FOR EACH ROW EXECUTE FUNCTION other.${n}()`,
    },
    {
      place: 'trigger of partitions',
      sql: (n) =>
        `CREATE TABLE ${n} (id integer) PARTITION BY LIST (id); CREATE TABLE ${n}_1 PARTITION OF ${n} DEFAULT; CREATE TRIGGER fires AFTER INSERT ON ${n} FOR EACH ROW EXECUTE FUNCTION other.${n}()`,
    },
  ]),
  ofFunction('event trigger function', `() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'`, [
    {
      place: 'event trigger',
      sql: (n) => `CREATE EVENT TRIGGER ${n} ON ddl_command_end EXECUTE FUNCTION other.${n}()`,
    },
  ]),
  ofFunction('function of two', `(${INT}) RETURNS integer LANGUAGE internal IMMUTABLE STRICT AS 'int4pl'`, [
    {
      place: 'state of an aggregate',
      sql: (n) => `CREATE AGGREGATE ${n} (integer) (SFUNC = other.${n}, STYPE = integer)`,
    },
    {
      place: 'combination of an aggregate',
      sql: (n) => `CREATE AGGREGATE ${n} (integer) (SFUNC = int4pl, STYPE = integer, COMBINEFUNC = other.${n})`,
    },
    {
      place: 'operator',
      sql: (n) =>
        `CREATE TYPE ${n} AS ENUM ('a'); CREATE FUNCTION other.${n}_plus(integer, ${n}) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'; CREATE OPERATOR <+> (LEFTARG = integer, RIGHTARG = ${n}, FUNCTION = other.${n}_plus)`,
    },
    {
      place: 'operator class',
      sql: (n) =>
        `CREATE OPERATOR CLASS ${n} FOR TYPE integer USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 other.${n}(${INT}); CREATE TABLE ${n} (id integer); CREATE INDEX ${n}_index ON ${n} (id ${n})`,
    },
  ]),
  ofFunction('function of one', `(integer) RETURNS integer LANGUAGE internal IMMUTABLE STRICT AS 'int4abs'`, [
    {
      place: 'end of an aggregate',
      sql: (n) => `CREATE AGGREGATE ${n} (integer) (SFUNC = int4pl, STYPE = integer, FINALFUNC = other.${n})`,
    },
  ]),
  ofFunction('function of a cast', `(point) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1'`, [
    {
      place: 'cast',
      sql: (n) =>
        `CREATE TYPE ${n} AS ENUM ('a'); CREATE FUNCTION other.${n}_cast(${n}) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN 1; END'; CREATE CAST (${n} AS integer) WITH FUNCTION other.${n}_cast(${n})`,
    },
  ]),
  ofFunction(
    'difference of a range',
    `(float8, float8) RETURNS float8 LANGUAGE internal IMMUTABLE STRICT AS 'float8mi'`,
    [{ place: 'range', sql: (n) => `CREATE TYPE ${n} AS RANGE (subtype = float8, subtype_diff = other.${n})` }],
  ),
  ofFunction(
    'selectivity',
    `(internal, oid, internal, integer) RETURNS float8 LANGUAGE internal STABLE STRICT AS 'eqsel'`,
    [
      {
        place: 'operator',
        sql: (n) =>
          `CREATE TYPE ${n} AS ENUM ('a'); CREATE FUNCTION ${n}_same(${n}, ${n}) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END'; CREATE OPERATOR ==== (LEFTARG = ${n}, RIGHTARG = ${n}, FUNCTION = ${n}_same, RESTRICT = other.${n})`,
      },
    ],
  ),
  ofFunction(
    'conversion function',
    `(integer, integer, cstring, internal, integer, boolean) RETURNS integer LANGUAGE c STRICT AS '$libdir/utf8_and_iso8859_1', 'iso8859_1_to_utf8'`,
    [{ place: 'conversion', sql: (n) => `CREATE CONVERSION ${n} FOR 'LATIN1' TO 'UTF8' FROM other.${n}` }],
  ),
  ofFunction(
    'handler of a language',
    `() RETURNS language_handler LANGUAGE c AS '$libdir/plpgsql', 'plpgsql_call_handler'`,
    [
      {
        place: 'language',
        sql: (n) =>
          `CREATE LANGUAGE ${n} HANDLER other.${n}; CREATE FUNCTION ${n}_says() RETURNS integer LANGUAGE ${n} AS 'BEGIN RETURN 1; END'`,
      },
    ],
  ),
  ofFunction('handler of tables', `(internal) RETURNS table_am_handler LANGUAGE internal AS 'heap_tableam_handler'`, [
    { place: 'access method', sql: (n) => `CREATE ACCESS METHOD ${n} TYPE TABLE HANDLER other.${n}` },
    {
      place: 'access method of a table',
      sql: (n) =>
        `CREATE ACCESS METHOD ${n}_am TYPE TABLE HANDLER other.${n}; CREATE TABLE ${n} (id integer) USING ${n}_am; INSERT INTO ${n} VALUES (1)`,
      needed: true,
    },
  ]),
  ofFunction('validator', `(text[], oid) RETURNS void LANGUAGE internal AS 'postgresql_fdw_validator'`, [
    {
      place: 'foreign data wrapper',
      sql: (n) =>
        `CREATE FOREIGN DATA WRAPPER ${n} VALIDATOR other.${n}; CREATE SERVER ${n} FOREIGN DATA WRAPPER ${n}; CREATE USER MAPPING FOR PUBLIC SERVER ${n}`,
    },
  ]),
  ofFunction('input of a type', `(cstring) RETURNS integer LANGUAGE internal IMMUTABLE STRICT AS 'int4in'`, [
    {
      place: 'base type of a column',
      sql: (
        n,
      ) => `CREATE TYPE ${n}_t; CREATE FUNCTION other.${n}_in(cstring) RETURNS ${n}_t LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
        CREATE FUNCTION ${n}_out(${n}_t) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
        CREATE TYPE ${n}_t (INPUT = other.${n}_in, OUTPUT = ${n}_out, LIKE = integer); CREATE TABLE ${n} (c ${n}_t); INSERT INTO ${n} VALUES ('1')`,
      needed: true,
    },
  ]),
  {
    kind: 'aggregate',
    sql: (n) => `CREATE AGGREGATE other.${n} (integer) (SFUNC = int4pl, STYPE = integer)`,
    places: QUERIES.map(({ place, sql }) => ({
      place,
      sql: (n: string) => sql(n, `SELECT other.${n}(oid::int4) AS a FROM pg_am`),
    })),
  },
];

function ofFunction(kind: string, definition: string, places: Usage[]): Used {
  return { kind, sql: (n) => `CREATE FUNCTION other.${n}${definition}`, places };
}

/** Where a relation can stand beside queries. */
const OF_TABLES: Usage[] = [
  {
    place: 'foreign key',
    sql: (n) => `CREATE TABLE ${n} (id integer CONSTRAINT ${n}_key REFERENCES other.${n}); INSERT INTO ${n} VALUES (1)`,
  },
  { place: 'statistics on it', sql: (n) => `CREATE STATISTICS ${n} ON a, b FROM other.${n}` },
  {
    place: 'rule that inserts',
    sql: (n) =>
      `CREATE TABLE ${n} (id integer); CREATE RULE used AS ON INSERT TO ${n} DO ALSO INSERT INTO other.${n} VALUES (NEW.id)`,
  },
];
const OF_PLAIN_TABLES: Usage[] = [
  {
    place: 'heir',
    sql: (n) => `CREATE TABLE ${n} (c integer) INHERITS (other.${n}); INSERT INTO ${n} VALUES (5, 'y', 2)`,
    oracle: (n) => `ALTER TABLE ${n} NO INHERIT other.${n}`,
  },
  {
    place: 'other end of a trigger',
    sql: (n) =>
      `CREATE TABLE ${n} (id integer); CREATE FUNCTION ${n}_fires() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE CONSTRAINT TRIGGER fires AFTER INSERT ON ${n} FROM other.${n} DEFERRABLE FOR EACH ROW EXECUTE FUNCTION ${n}_fires()`,
  },
];
const OF_PARTITIONED_TABLES: Usage[] = [
  {
    place: 'partition',
    sql: (n) => `CREATE TABLE ${n} PARTITION OF other.${n} FOR VALUES IN (2); INSERT INTO other.${n} VALUES (2, 'y')`,
    oracle: (n) => `ALTER TABLE other.${n} DETACH PARTITION ${n}`,
  },
];

/** What stands in a place: an expression, a query, a type, or nothing where the place names the object itself. */
function placesOf({
  kind: _kind,
  test,
  type,
  orders,
  standsAlone,
  relation,
  places = [],
}: Used): [Usage, (n: string) => string][] {
  const of = (all: Usage[], given: (n: string) => string = () => ''): [Usage, (n: string) => string][] =>
    all.map((place) => [place, given]);
  return [
    ...(test ? of(EXPRESSIONS, test) : []),
    ...(test ? of(QUERIES, (n) => `SELECT ${test(n)} AS a`) : []),
    ...(type ? of(OF_TYPES, type) : []),
    ...(type && orders ? of([RANGE], type) : []),
    ...(type && standsAlone ? of([TYPED_TABLE], type) : []),
    ...(relation
      ? of(
          QUERIES.map((place) => ({ ...place, place: `${place.place} that reads it` })),
          (n) => `SELECT a FROM other.${n}`,
        )
      : []),
    ...(relation === 'table' || relation === 'partitioned' ? of(OF_TABLES) : []),
    ...(relation === 'table' ? of(OF_PLAIN_TABLES) : []),
    ...(relation === 'partitioned' ? of(OF_PARTITIONED_TABLES) : []),
    ...of(places),
  ];
}

const RANGE: Usage = { place: 'range', sql: (n, t) => `CREATE TYPE ${n} AS RANGE (subtype = ${t})` };
const TYPED_TABLE: Usage = {
  place: 'table of the type',
  sql: (n, t) => `CREATE TABLE ${n} OF ${t}; INSERT INTO ${n} VALUES (1, 'x')`,
  needed: true,
};

/** Every pair, in the same order each time. */
export function outwardPairs(): OutwardPair[] {
  const pairs = [...TYPES, ...RELATIONS, ...SPECIAL].flatMap((used) =>
    placesOf(used).map(([place, given]) => ({ used, place, given })),
  );
  return pairs.map(({ used, place, given }, index) => {
    const n = `pair_${index}`;
    return {
      name: `${place.place}: ${used.kind}`,
      sql: `${used.sql(n)}; ${place.sql(n, given(n))}`,
      needed: place.needed ?? false,
      oracle: place.oracle?.(n) ?? '',
    };
  });
}
