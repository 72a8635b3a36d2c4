/**
 * One database for every pair "object in `public` depends on object in `other`". `sql` runs beside OTHER, and names its
 * objects by the name of the case, so that all cases fit into one database. The oracle is `DROP SCHEMA other CASCADE`.
 */
export interface OutwardCase {
  name: string;
  sql: string;
  /** One message of a warning at least must name both ends. */
  ends: [inner: string, outer: string];
  /** What differs from the oracle, which drops these tables with their rows. */
  oracle?: string;
}

export const OTHER = `
  CREATE SCHEMA other;
  CREATE TABLE other.log (id integer PRIMARY KEY, note text);
  INSERT INTO other.log VALUES (1, 'a');
  CREATE FUNCTION other.ok(integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 > 0';
  CREATE FUNCTION other.twice(integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 * 2';
  CREATE FUNCTION other.add(integer, integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2';
  CREATE FUNCTION other.less(integer, integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 < $2';
  CREATE FUNCTION other.diff(float8, float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT $1 - $2';
  CREATE FUNCTION other.compare(integer, integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 - $2';
  CREATE FUNCTION other.fire() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
  CREATE FUNCTION other.fire_event() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END';
  CREATE FUNCTION other.make_text(point) RETURNS text LANGUAGE sql IMMUTABLE AS $$SELECT 'p'$$;
  CREATE SEQUENCE other.numbers;
  CREATE TYPE other.mood AS ENUM ('fine', 'bad');
  CREATE TYPE other.pair AS (a integer, b integer);
  CREATE DOMAIN other.mail AS text;
  CREATE COLLATION other.sorted FROM "C";
  CREATE OPERATOR other.<<< (LEFTARG = integer, RIGHTARG = integer, FUNCTION = other.less);
  CREATE TEXT SEARCH DICTIONARY other.words (TEMPLATE = simple);
  CREATE TEXT SEARCH CONFIGURATION other.english (PARSER = "default");
  CREATE TABLE other.parent (id integer NOT NULL, kind text DEFAULT 'x' COLLATE "C", CONSTRAINT positive CHECK (id > 0));
  CREATE TABLE other.days (day date NOT NULL, n integer) PARTITION BY RANGE (day);`;

/** What a build leaves out, or changes, and says so. */
export const OUTWARD_CASES: OutwardCase[] = [
  {
    name: 'check',
    sql: `CREATE TABLE ck (id integer, CONSTRAINT first CHECK (other.ok(id)), CONSTRAINT stays CHECK (id < 1000), CONSTRAINT "Last one" CHECK (other.ok(id + 1)));
      INSERT INTO ck VALUES (1); COMMENT ON CONSTRAINT first ON ck IS 'goes'; COMMENT ON CONSTRAINT stays ON ck IS 'stays';
      CREATE TABLE ck_only (CONSTRAINT alone CHECK (other.ok(1)));
      CREATE TABLE ck_later (id integer); ALTER TABLE ck_later ADD CONSTRAINT later CHECK (other.ok(id)) NOT VALID`,
    ends: ['public.ck.first', 'other.ok'],
  },
  {
    name: 'inherited check',
    sql: `CREATE TABLE ckp (id integer, CONSTRAINT inherited CHECK (other.ok(id))); CREATE TABLE ckc (more text) INHERITS (ckp);
      CREATE TABLE ckpart (id integer, CONSTRAINT handed_down CHECK (other.ok(id))) PARTITION BY LIST (id);
      CREATE TABLE ckpart1 PARTITION OF ckpart FOR VALUES IN (1); INSERT INTO ckpart VALUES (1); INSERT INTO ckc VALUES (2, 'x')`,
    ends: ['public.ckp.inherited', 'other.ok'],
  },
  {
    name: 'default',
    sql: `CREATE TABLE df (id integer DEFAULT other.twice(2) NOT NULL, "Odd "" name" text DEFAULT (other.twice(1))::text, stays integer DEFAULT 7,
        n bigint DEFAULT nextval('other.numbers'::regclass), at timestamp DEFAULT '2020-01-02 03:04'::timestamp + other.twice(1) * interval '1 day');
      INSERT INTO df VALUES (1, 'DEFAULT other.twice(2)', 3);
      CREATE VIEW df_view AS SELECT id FROM df; ALTER VIEW df_view ALTER COLUMN id SET DEFAULT other.twice(4)`,
    ends: ['public.df.id', 'other.twice'],
  },
  {
    name: 'inherited default',
    sql: `CREATE TABLE dfp (id integer, d integer DEFAULT other.twice(1)); CREATE TABLE dfc () INHERITS (dfp);
      CREATE TABLE dfc2 (own integer DEFAULT other.twice(3)) INHERITS (dfp);
      CREATE TABLE dfpart (id integer, d integer DEFAULT other.twice(1)) PARTITION BY LIST (id);
      CREATE TABLE dfpart1 PARTITION OF dfpart FOR VALUES IN (1)`,
    ends: ['public.dfp.d', 'other.twice'],
  },
  {
    name: 'generated column',
    sql: `CREATE TABLE gen (id integer PRIMARY KEY, g integer GENERATED ALWAYS AS (other.twice(id)) STORED NOT NULL, kept integer GENERATED ALWAYS AS (id + 1) STORED,
        "Last" integer GENERATED ALWAYS AS (other.twice(id)) STORED);
      INSERT INTO gen VALUES (1); COMMENT ON COLUMN gen.g IS 'goes'; COMMENT ON COLUMN gen.kept IS 'stays'; ALTER TABLE gen ALTER g SET STATISTICS 10;
      CREATE INDEX gen_index ON gen (g); CREATE VIEW gen_view AS SELECT g FROM gen; ALTER TABLE gen ADD CONSTRAINT gen_check CHECK (g > 0);
      CREATE STATISTICS gen_statistics ON id, g FROM gen;
      CREATE TABLE gen_only (g integer GENERATED ALWAYS AS (other.twice(1)) STORED)`,
    ends: ['public.gen.g', 'other.twice'],
  },
  {
    name: 'index expression',
    sql: `CREATE TABLE ix (id integer, t text); INSERT INTO ix VALUES (1, 'a'); CREATE INDEX ix_expression ON ix (other.twice(id)); CREATE INDEX ix_predicate ON ix (id) WHERE other.ok(id);
      CREATE INDEX ix_collation ON ix (t COLLATE other.sorted); CREATE INDEX ix_stays ON ix (id);
      CREATE TABLE ixp (id integer) PARTITION BY LIST (id); CREATE TABLE ixp1 PARTITION OF ixp FOR VALUES IN (1); CREATE INDEX ixp_index ON ixp (other.twice(id))`,
    ends: ['public.ix_expression', 'other.twice'],
  },
  {
    name: 'statistics',
    sql: `CREATE TABLE st (id integer, b integer); CREATE STATISTICS st_statistics ON (other.twice(id)), b FROM st; CREATE STATISTICS st_stays ON id, b FROM st`,
    ends: ['public.st_statistics', 'other.twice'],
  },
  {
    name: 'trigger',
    sql: `CREATE TABLE tr (id integer); CREATE FUNCTION tr_stays() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
      CREATE TRIGGER fires BEFORE INSERT ON tr FOR EACH ROW EXECUTE FUNCTION other.fire();
      CREATE TRIGGER conditional BEFORE INSERT ON tr FOR EACH ROW WHEN (other.ok(NEW.id)) EXECUTE FUNCTION tr_stays();
      CREATE CONSTRAINT TRIGGER deferred AFTER INSERT ON tr FROM other.log DEFERRABLE FOR EACH ROW EXECUTE FUNCTION tr_stays();
      CREATE TRIGGER stays BEFORE INSERT ON tr FOR EACH ROW EXECUTE FUNCTION tr_stays();
      CREATE TABLE trp (id integer) PARTITION BY LIST (id); CREATE TABLE trp1 PARTITION OF trp FOR VALUES IN (1);
      CREATE TRIGGER fires AFTER INSERT ON trp FOR EACH ROW EXECUTE FUNCTION other.fire()`,
    ends: ['public.tr.conditional', 'other.ok'],
  },
  {
    name: 'domain',
    sql: `CREATE DOMAIN dm_type AS other.mail; CREATE DOMAIN dm_check AS integer CONSTRAINT dm_ok CHECK (other.ok(VALUE)) CONSTRAINT dm_stays CHECK (VALUE < 100);
      CREATE TABLE dm (id dm_check); INSERT INTO dm VALUES (5)`,
    ends: ['public.dm_check.dm_ok', 'other.ok'],
  },
  {
    name: 'range',
    sql: `CREATE TYPE rg_subtype AS RANGE (subtype = other.mood); CREATE TYPE rg_diff AS RANGE (subtype = float8, subtype_diff = other.diff)`,
    ends: ['public.rg_diff', 'other.diff'],
  },
  {
    name: 'composite type',
    sql: `CREATE TYPE cp AS (a other.mood, b integer); CREATE FUNCTION cp_function(cp) RETURNS integer LANGUAGE sql AS 'SELECT 1'`,
    ends: ['public.cp', 'other.mood'],
    oracle: 'DROP TYPE cp CASCADE',
  },
  {
    name: 'function',
    sql: `CREATE FUNCTION fn_argument(other.mood) RETURNS integer LANGUAGE sql AS 'SELECT 1'; CREATE FUNCTION fn_result() RETURNS other.pair LANGUAGE sql AS 'SELECT 1, 2';
      CREATE FUNCTION fn_set() RETURNS SETOF other.log LANGUAGE sql AS 'SELECT 1, ''x'''; CREATE FUNCTION fn_default(a integer DEFAULT other.twice(1)) RETURNS integer LANGUAGE sql AS 'SELECT 1';
      CREATE FUNCTION fn_atomic() RETURNS bigint BEGIN ATOMIC SELECT count(*) FROM other.log; END; CREATE PROCEDURE fn_procedure(other.mood) LANGUAGE sql AS 'SELECT 1';
      CREATE FUNCTION fn_uses() RETURNS bigint BEGIN ATOMIC SELECT fn_atomic(); END; CREATE VIEW fn_view AS SELECT fn_uses();
      CREATE FUNCTION fn_stays(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'`,
    ends: ['public.fn_atomic', 'other.log'],
  },
  {
    name: 'aggregate',
    sql: `CREATE AGGREGATE ag (integer) (SFUNC = other.add, STYPE = integer)`,
    ends: ['public.ag', 'other.add'],
  },
  {
    name: 'policy',
    sql: `CREATE TABLE po (id integer); ALTER TABLE po ENABLE ROW LEVEL SECURITY; CREATE POLICY seen ON po USING (EXISTS (SELECT FROM other.log)); CREATE POLICY stays ON po USING (id = 1)`,
    ends: ['public.po.seen', 'other.log'],
  },
  {
    name: 'rule',
    sql: `CREATE TABLE ru (id integer); CREATE RULE noted AS ON INSERT TO ru DO ALSO INSERT INTO other.log VALUES (NEW.id); CREATE RULE stays AS ON DELETE TO ru DO INSTEAD NOTHING`,
    ends: ['public.ru.noted', 'other.log'],
  },
  {
    name: 'view',
    sql: `CREATE VIEW vw AS SELECT id FROM other.log; CREATE MATERIALIZED VIEW vw_materialized AS SELECT id FROM vw; CREATE UNIQUE INDEX vw_index ON vw_materialized (id);
      CREATE FUNCTION vw_function(vw) RETURNS integer LANGUAGE sql AS 'SELECT 1'; CREATE FUNCTION vw_rows() RETURNS SETOF vw LANGUAGE sql AS 'SELECT 1';
      CREATE MATERIALIZED VIEW vw_toasted AS SELECT note FROM other.log; CREATE VIEW vw_join AS SELECT mood FROM (SELECT 'fine'::other.mood AS mood) m; COMMENT ON VIEW vw IS 'goes'; COMMENT ON COLUMN vw.id IS 'goes'`,
    ends: ['public.vw_materialized', 'other.log'],
  },
  {
    name: 'text search',
    sql: `CREATE TEXT SEARCH CONFIGURATION ts (PARSER = "default"); ALTER TEXT SEARCH CONFIGURATION ts ADD MAPPING FOR word WITH other.words;
      CREATE TABLE tsd (t text); CREATE INDEX tsd_index ON tsd USING gin (to_tsvector('other.english', t))`,
    ends: ['public.ts', 'other.words'],
  },
  {
    name: 'event trigger',
    sql: `CREATE EVENT TRIGGER et ON ddl_command_end EXECUTE FUNCTION other.fire_event(); COMMENT ON EVENT TRIGGER et IS 'goes'`,
    ends: ['et', 'other.fire_event'],
  },
  {
    name: 'cast',
    sql: `CREATE CAST (point AS text) WITH FUNCTION other.make_text(point); CREATE TYPE ca AS (a integer); CREATE CAST (ca AS other.pair) WITH INOUT`,
    ends: ['point', 'other.make_text'],
  },
  {
    name: 'operator',
    sql: `CREATE OPERATOR <<~ (LEFTARG = integer, RIGHTARG = integer, FUNCTION = other.less);
      CREATE OPERATOR CLASS oc FOR TYPE integer USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 other.compare(integer, integer);
      CREATE TABLE oct (id integer); CREATE INDEX oct_index ON oct (id oc)`,
    ends: ['public.oct_index', 'other.compare'],
  },
  {
    name: 'foreign key',
    sql: `CREATE TABLE fk (id integer PRIMARY KEY, log integer CONSTRAINT logged REFERENCES other.log); INSERT INTO fk VALUES (1, 1);
      CREATE TABLE fkp (log integer CONSTRAINT parts_logged REFERENCES other.log) PARTITION BY LIST (log); CREATE TABLE fkp1 PARTITION OF fkp FOR VALUES IN (1)`,
    ends: ['public.fk.logged', 'other.log'],
  },
  {
    name: 'exclusion',
    sql: `CREATE FUNCTION other.same(integer, integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 = $2';
      CREATE TABLE ex (id integer, CONSTRAINT apart EXCLUDE USING btree ((other.twice(id)) WITH =))`,
    ends: ['public.ex.apart', 'other.twice'],
  },
  {
    name: 'partition with a parent that is left out',
    sql: `CREATE TABLE pt PARTITION OF other.days FOR VALUES FROM ('2026-01-01') TO ('2027-01-01'); INSERT INTO pt VALUES ('2026-05-05', 1);
      ALTER TABLE other.days ADD PRIMARY KEY (day); CREATE INDEX days_index ON other.days (n);
      CREATE TRIGGER fires AFTER INSERT ON other.days FOR EACH ROW EXECUTE FUNCTION other.fire()`,
    ends: ['public.pt', 'other.days'],
    oracle: 'ALTER TABLE other.days DETACH PARTITION public.pt',
  },
  {
    name: 'partition that is left out',
    sql: `CREATE TABLE mp (id integer PRIMARY KEY) PARTITION BY LIST (id); CREATE TABLE mp1 PARTITION OF mp FOR VALUES IN (1);
      CREATE TABLE other.mp2 PARTITION OF mp FOR VALUES IN (2); INSERT INTO mp VALUES (1), (2); CREATE INDEX mp_index ON mp ((id + 1));
      CREATE TABLE mp_refers (id integer CONSTRAINT mp_key REFERENCES mp); INSERT INTO mp_refers VALUES (1), (2)`,
    ends: ['other.mp2', 'public.mp'],
    oracle: 'ALTER TABLE mp_refers DROP CONSTRAINT mp_key',
  },
  {
    name: 'heir that is left out',
    sql: `CREATE TABLE hp (id integer); CREATE TABLE other.heir () INHERITS (hp); INSERT INTO other.heir VALUES (1)`,
    ends: ['other.heir', 'public.hp'],
  },
  {
    name: 'inheritance from a table that is left out',
    sql: `CREATE TABLE inh_base (base integer); CREATE TABLE inh (own integer DEFAULT 1, CONSTRAINT own_check CHECK (own < 9)) INHERITS (other.parent); INSERT INTO inh VALUES (1, 'y', 2);
      CREATE TABLE inh_none () INHERITS (other.parent); INSERT INTO inh_none VALUES (5); CREATE TABLE inh_both (more text) INHERITS (inh_base, other.parent); INSERT INTO inh_both VALUES (3, 4, 'z', 'w');
      CREATE TABLE inh_child (last integer) INHERITS (inh); INSERT INTO inh_child VALUES (7, 'v', 3, 4)`,
    ends: ['public.inh', 'other.parent'],
    oracle: `ALTER TABLE inh NO INHERIT other.parent; ALTER TABLE inh_none NO INHERIT other.parent; ALTER TABLE inh_both NO INHERIT other.parent`,
  },
];

/** What a build refuses, since rows would be without their columns. */
export const REFUSED_CASES: Pick<OutwardCase, 'name' | 'sql' | 'ends'>[] = [
  { name: 'column type', sql: 'CREATE TABLE a (id integer, m other.mood)', ends: ['public.a.m', 'other.mood'] },
  { name: 'array', sql: 'CREATE TABLE a (id integer, m other.mood[])', ends: ['public.a.m', 'other.mood'] },
  { name: 'row type', sql: 'CREATE TABLE a (id integer, m other.log)', ends: ['public.a.m', 'other.log'] },
  {
    name: 'domain over a type',
    sql: 'CREATE DOMAIN d AS other.mood; CREATE TABLE a (m d)',
    ends: ['public.a.m', 'other.mood'],
  },
  {
    name: 'column of the row type of a view that is left out',
    sql: 'CREATE VIEW v AS SELECT id FROM other.log; CREATE TABLE a (m v, n v[])',
    ends: ['public.a.m', 'other.log'],
  },
  { name: 'collation', sql: 'CREATE TABLE a (t text COLLATE other.sorted)', ends: ['public.a.t', 'other.sorted'] },
  { name: 'typed table', sql: 'CREATE TABLE a OF other.pair', ends: ['public.a', 'other.pair'] },
  {
    name: 'partition key',
    sql: 'CREATE TABLE a (id integer) PARTITION BY LIST (other.twice(id))',
    ends: ['public.a', 'other.twice'],
  },
];
