import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildAndLoad, normalized } from '../../helpers/databases/build-and-load.ts';
import { describeWithPostgres, startPostgres, temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** Types, arrays, domains, operator classes, casts and functions of extensions in a schema that is left out. */
const EXTENSIONS = `
  CREATE SCHEMA ext; CREATE EXTENSION citext SCHEMA ext; CREATE EXTENSION hstore SCHEMA ext; CREATE EXTENSION cube SCHEMA ext;
  CREATE EXTENSION pg_trgm SCHEMA ext; CREATE EXTENSION ltree SCHEMA ext;
  CREATE EXTENSION isn SCHEMA ext; CREATE EXTENSION seg SCHEMA ext; CREATE EXTENSION btree_gist SCHEMA ext; CREATE EXTENSION intarray SCHEMA ext; CREATE EXTENSION btree_gin SCHEMA ext;
  CREATE EXTENSION postgres_fdw SCHEMA ext; CREATE EXTENSION unaccent SCHEMA ext;
  CREATE TABLE ext.not_of_an_extension (id integer PRIMARY KEY);
  CREATE DOMAIN place AS ext.cube; CREATE TYPE entry AS (path ext.ltree, at place); CREATE TYPE box_range AS RANGE (subtype = ext.cube);
  CREATE TABLE thing (id serial PRIMARY KEY, mail ext.citext UNIQUE, mails ext.citext[], facts ext.hstore DEFAULT '', at place, e entry, path ext.ltree,
    CONSTRAINT near CHECK (ext.cube_distance(at, at) >= 0), mail_length integer GENERATED ALWAYS AS (length(mail)) STORED);
  INSERT INTO thing (mail, mails, facts, at, path) VALUES ('A@b', '{x,Y}', 'a=>1', '(1, 2)', 'a.b.c');
  CREATE INDEX thing_trigrams ON thing USING gin ((mail::text) ext.gin_trgm_ops); CREATE INDEX thing_path ON thing USING gist (path);
  CREATE TABLE booked (room integer, during tsrange, weight ext.seg, isbn ext.isbn13 DEFAULT '978-0-11-000533-1', tags integer[], EXCLUDE USING gist (room WITH =, during WITH &&));
  INSERT INTO booked VALUES (1, '[2026-01-01,2026-02-01)', '1 .. 2', DEFAULT, '{1,2}'), (2, '[2026-01-01,2026-02-01)', '~3', '978-0-393-04002-9', '{3}');
  CREATE INDEX booked_tags ON booked USING gist (tags ext.gist__intbig_ops (siglen = 64)); CREATE INDEX booked_weight ON booked USING gist (weight); CREATE INDEX booked_room ON booked USING gin (room, tags ext.gin__int_ops);
  CREATE UNIQUE INDEX booked_isbn ON booked (isbn ext.isbn13_ops);
  CREATE TABLE listed (mail ext.citext) PARTITION BY LIST (mail); CREATE TABLE listed_a PARTITION OF listed FOR VALUES IN ('A@b'); INSERT INTO listed VALUES ('a@B');
  CREATE TABLE ranged (path ext.ltree, k ext.cube) PARTITION BY RANGE (path ext.ltree_ops); CREATE TABLE ranged_a PARTITION OF ranged FOR VALUES FROM ('a') TO ('b'); INSERT INTO ranged VALUES ('a.c', '(1)');
  CREATE TABLE hashed (mail ext.citext) PARTITION BY HASH (mail); CREATE TABLE hashed_0 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 0); CREATE TABLE hashed_1 PARTITION OF hashed FOR VALUES WITH (MODULUS 2, REMAINDER 1);
  INSERT INTO hashed SELECT 'Mail ' || i FROM generate_series(1, 20) i;
  CREATE OPERATOR CLASS own_cube FOR TYPE ext.cube USING btree AS OPERATOR 1 ext.<, OPERATOR 2 ext.<=, OPERATOR 3 ext.=, OPERATOR 4 ext.>=, OPERATOR 5 ext.>, FUNCTION 1 ext.cube_cmp(ext.cube, ext.cube);
  CREATE INDEX thing_cube ON thing (((e).at::ext.cube) own_cube); CREATE AGGREGATE joined (ext.ltree) (SFUNC = ext.ltree_addltree, STYPE = ext.ltree);
  CREATE FUNCTION near(ext.cube) RETURNS ext.citext LANGUAGE sql AS 'SELECT NULL'; CREATE CAST (ext.cube AS ext.citext) WITH FUNCTION near(ext.cube);
  CREATE VIEW seen AS SELECT ext.unaccent(mail::text) FROM thing; CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'nowhere');
  CREATE USER MAPPING FOR PUBLIC SERVER far; CREATE FOREIGN TABLE remote (id integer) SERVER far;
  CREATE TABLE refers (id integer CONSTRAINT goes REFERENCES ext.not_of_an_extension)`;

describeWithPostgres('a database that uses extensions and tablespaces', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  it('keeps what needs extensions of a schema that is left out, and leaves out what needs its other objects', async () => {
    await server.createDatabase('extended');
    await server.psql('extended', { sql: EXTENSIONS });
    const { warnings } = await buildAndLoad(server, {
      database: 'extended',
      workingDirectory: join(folder.path, 'work'),
    });
    expect(warnings).toEqual([expect.stringContaining('public.refers.goes needs ext.not_of_an_extension')]);
    await server.psql('extended', { sql: 'DROP TABLE ext.not_of_an_extension CASCADE' });
    expect(normalized(await server.dump('extended_copy'))).toEqual(normalized(await server.dump('extended')));
  });

  it('is loaded into the default tablespace', async () => {
    await server.createDatabase('spaced');
    const version = Number(await server.psql('spaced', { sql: `SELECT current_setting('server_version_num')` }));
    // Before, a tablespace needs a folder of the server's user.
    if (version < 150_000) return;
    // It may not stand in a transaction with others, as the statements of one string do.
    const script = `${folder.path}/tablespace.sql`;
    await writeFile(script, `SET allow_in_place_tablespaces = on;\nCREATE TABLESPACE elsewhere LOCATION '';\n`);
    await server.psql('spaced', { file: script });
    await server.psql('spaced', {
      sql: `CREATE TABLE far (id integer PRIMARY KEY USING INDEX TABLESPACE elsewhere) TABLESPACE elsewhere; INSERT INTO far VALUES (1);
        CREATE TABLE far_parts (id integer) PARTITION BY LIST (id) TABLESPACE elsewhere; CREATE TABLE far_1 PARTITION OF far_parts FOR VALUES IN (1);
        CREATE INDEX far_index ON far_parts (id) TABLESPACE elsewhere; CREATE MATERIALIZED VIEW far_seen TABLESPACE elsewhere AS SELECT id FROM far;
        ALTER DATABASE spaced SET default_tablespace = elsewhere`,
    });
    await buildAndLoad(server, { database: 'spaced', workingDirectory: join(folder.path, 'work') });
    const places = `SELECT count(*) FROM pg_class WHERE relname LIKE 'far%' AND reltablespace <> 0; SELECT count(*) FROM far`;
    expect(await server.psql('spaced_copy', { sql: places })).toBe('0\n1\n');
  });
});
