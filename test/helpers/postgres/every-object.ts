/** A database with an object of every kind that pg_dump writes, and those that it does not write although they are there. */
export const EVERY_OBJECT = `
  CREATE SCHEMA a; CREATE SCHEMA "a.b"; CREATE SCHEMA "Odd "" schema";
  CREATE TABLE a.t (id integer PRIMARY KEY); INSERT INTO a.t VALUES (1);
  CREATE TABLE "a.b".t (id integer PRIMARY KEY, more text UNIQUE); INSERT INTO "a.b".t VALUES (1, 'x'), (2, 'y');
  CREATE TABLE "Odd "" schema"."odd ' table" ("odd "" column" integer, CONSTRAINT "odd ; check" CHECK ("odd "" column" > 0));
  CREATE TABLE a."b.c" (id integer); INSERT INTO a."b.c" VALUES (1), (2), (3); CREATE TABLE "a.b".c (id integer); INSERT INTO "a.b".c VALUES (1);

  CREATE TABLE twice (id integer); INSERT INTO twice VALUES (1), (1);
  CREATE TABLE "a_table_whose_name_has_as_many_letters_as_a_name_may_have_here_" (id integer,
    CONSTRAINT "a_check_whose_name_has_as_many_letters_as_a_name_may_have_1" CHECK (id > 0),
    CONSTRAINT "a_check_whose_name_has_as_many_letters_as_a_name_may_have_2" CHECK (id > 1));
  CREATE TRIGGER "a_trigger_whose_name_has_as_many_letters_as_a_name_may_have_1" BEFORE UPDATE ON
    "a_table_whose_name_has_as_many_letters_as_a_name_may_have_here_" FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
  CREATE TRIGGER "a_trigger_whose_name_has_as_many_letters_as_a_name_may_have_2" BEFORE UPDATE ON
    "a_table_whose_name_has_as_many_letters_as_a_name_may_have_here_" FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();

  CREATE TYPE mood AS ENUM ('fine', 'bad', 'angry', 'calm', 'sad');
  CREATE TABLE hashed (m mood, n integer) PARTITION BY HASH (m);
  CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 3, REMAINDER 0);
  CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 3, REMAINDER 1) PARTITION BY RANGE (n);
  CREATE TABLE hashed_1_low PARTITION OF hashed_1 FOR VALUES FROM (MINVALUE) TO (10);
  CREATE TABLE hashed_1_high PARTITION OF hashed_1 DEFAULT;
  CREATE TABLE hashed_2 PARTITION OF hashed FOR VALUES WITH (MODULUS 3, REMAINDER 2);
  INSERT INTO hashed SELECT m, n FROM unnest(enum_range(NULL::mood)) m, generate_series(1, 20) n;
  CREATE TABLE hashed_arrays (m mood[]) PARTITION BY HASH (m);
  CREATE TABLE hashed_arrays_0 PARTITION OF hashed_arrays FOR VALUES WITH (MODULUS 2, REMAINDER 0);
  CREATE TABLE hashed_arrays_1 PARTITION OF hashed_arrays FOR VALUES WITH (MODULUS 2, REMAINDER 1);
  INSERT INTO hashed_arrays SELECT ARRAY[x, y] FROM unnest(enum_range(NULL::mood)) x, unnest(enum_range(NULL::mood)) y;

  CREATE TABLE parts (id integer, at date, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
  CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (MINVALUE) TO ('2026-01-01'); CREATE TABLE parts_2 PARTITION OF parts DEFAULT;
  CREATE INDEX parts_index ON parts (at); CREATE INDEX parts_incomplete ON ONLY parts (id); INSERT INTO parts VALUES (1, '2025-01-01'), (2, '2026-06-06');
  CREATE TABLE refers (id integer, at date, CONSTRAINT refers_key FOREIGN KEY (id, at) REFERENCES parts);
  CREATE TABLE heir (more text) INHERITS (twice); INSERT INTO heir VALUES (5, 'x'); CREATE UNLOGGED TABLE unlogged (id serial PRIMARY KEY);

  CREATE DOMAIN mail AS text CONSTRAINT has_at CHECK (VALUE LIKE '%@%'); CREATE TYPE pair AS (x integer, y text); CREATE TYPE span AS RANGE (subtype = float8);
  CREATE TABLE kinds (id bigint GENERATED ALWAYS AS IDENTITY, m mail DEFAULT 'a@b', p pair, s span, g integer GENERATED ALWAYS AS (7) STORED,
    CONSTRAINT never EXCLUDE USING gist (s WITH &&), CONSTRAINT later CHECK (g > 0) NOT VALID);
  CREATE STATISTICS kinds_statistics ON id, g FROM kinds; CREATE SEQUENCE counter START 5; SELECT nextval('counter');
  CREATE FUNCTION plus(integer, integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1 + $2'; CREATE PROCEDURE nothing() LANGUAGE sql AS 'SELECT 1';
  CREATE AGGREGATE total (integer) (SFUNC = plus, STYPE = integer, INITCOND = '0');
  CREATE OPERATOR ## (LEFTARG = integer, RIGHTARG = integer, FUNCTION = plus);
  CREATE OPERATOR FAMILY family USING btree;
  CREATE OPERATOR CLASS class FOR TYPE integer USING btree FAMILY family AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(integer, integer);
  CREATE COLLATION sorted FROM "C"; CREATE CONVERSION converted FOR 'LATIN1' TO 'UTF8' FROM iso8859_1_to_utf8;
  CREATE CAST (pair AS text) WITH INOUT; CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler;
  CREATE FUNCTION plother_handler() RETURNS language_handler LANGUAGE c AS '$libdir/plpgsql', 'plpgsql_call_handler';
  CREATE LANGUAGE plother HANDLER plother_handler;
  CREATE TEXT SEARCH DICTIONARY words (TEMPLATE = simple); CREATE TEXT SEARCH CONFIGURATION english2 (COPY = english);
  CREATE FOREIGN DATA WRAPPER wrapper; CREATE SERVER far FOREIGN DATA WRAPPER wrapper; CREATE USER MAPPING FOR PUBLIC SERVER far;
  CREATE FOREIGN TABLE foreign_table (id integer) SERVER far;
  CREATE VIEW seen AS SELECT id FROM twice; CREATE MATERIALIZED VIEW kept AS SELECT count(*) AS n FROM seen; CREATE UNIQUE INDEX kept_index ON kept (n);
  CREATE MATERIALIZED VIEW not_filled AS SELECT 1 AS one WITH NO DATA;
  CREATE RULE silent AS ON DELETE TO twice DO INSTEAD NOTHING;
  ALTER TABLE kinds ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON kinds USING (id > 0);
  COMMENT ON TABLE kinds IS 'a table'; COMMENT ON COLUMN kinds.m IS 'a column'; COMMENT ON CONSTRAINT later ON kinds IS 'a constraint'; COMMENT ON TYPE mood IS 'a type';

  CREATE TABLE noted (tag text);
  CREATE FUNCTION note_command() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.noted VALUES (tg_tag); END';
  CREATE EVENT TRIGGER notes ON ddl_command_end EXECUTE FUNCTION note_command(); ALTER EVENT TRIGGER notes ENABLE ALWAYS;
  COMMENT ON EVENT TRIGGER notes IS 'hears of every command';
  CREATE EVENT TRIGGER notes_off ON ddl_command_start EXECUTE FUNCTION note_command(); ALTER EVENT TRIGGER notes_off DISABLE;`;

/** Fails in the end, and leaves an index that is not valid. */
export const INVALID_INDEX = 'CREATE UNIQUE INDEX CONCURRENTLY invalid_index ON twice (id)';
