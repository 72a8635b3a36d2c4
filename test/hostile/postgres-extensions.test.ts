import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildAndLoad, normalized } from '../helpers/build-and-load.ts';
import { describeWithPostgres, startPostgres, type TestPostgres, temporaryFolder } from '../helpers/postgres-server.ts';

/** Types, arrays, domains, operator classes, casts and functions of extensions in a schema that is left out. */
const EXTENSIONS = `
  CREATE SCHEMA ext; CREATE EXTENSION citext SCHEMA ext; CREATE EXTENSION hstore SCHEMA ext; CREATE EXTENSION cube SCHEMA ext;
  CREATE EXTENSION pg_trgm SCHEMA ext; CREATE EXTENSION ltree SCHEMA ext;
  CREATE EXTENSION postgres_fdw SCHEMA ext; CREATE EXTENSION unaccent SCHEMA ext;
  CREATE TABLE ext.not_of_an_extension (id integer PRIMARY KEY);
  CREATE DOMAIN place AS ext.cube; CREATE TYPE entry AS (path ext.ltree, at place); CREATE TYPE box_range AS RANGE (subtype = ext.cube);
  CREATE TABLE thing (id serial PRIMARY KEY, mail ext.citext UNIQUE, mails ext.citext[], facts ext.hstore DEFAULT '', at place, e entry, path ext.ltree,
    CONSTRAINT near CHECK (ext.cube_distance(at, at) >= 0), mail_length integer GENERATED ALWAYS AS (length(mail)) STORED);
  INSERT INTO thing (mail, mails, facts, at, path) VALUES ('A@b', '{x,Y}', 'a=>1', '(1, 2)', 'a.b.c');
  CREATE INDEX thing_trigrams ON thing USING gin ((mail::text) ext.gin_trgm_ops); CREATE INDEX thing_path ON thing USING gist (path);
  CREATE VIEW seen AS SELECT ext.unaccent(mail::text) FROM thing; CREATE SERVER far FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'nowhere');
  CREATE USER MAPPING FOR PUBLIC SERVER far; CREATE FOREIGN TABLE remote (id integer) SERVER far;
  CREATE TABLE refers (id integer CONSTRAINT goes REFERENCES ext.not_of_an_extension)`;

describeWithPostgres('a database that uses extensions and tablespaces', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startPostgres();
  }, 60_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  it('keeps what needs extensions of a schema that is left out, and leaves out what needs its other objects', async () => {
    await server.createDatabase('extended');
    await server.psql('extended', { sql: EXTENSIONS });
    const { warnings } = await buildAndLoad(server, { database: 'extended', workingDirectory: folder.path });
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
      sql: `CREATE TABLE far (id integer PRIMARY KEY USING INDEX TABLESPACE elsewhere) TABLESPACE elsewhere; INSERT INTO far VALUES (1)`,
    });
    await buildAndLoad(server, { database: 'spaced', workingDirectory: folder.path });
    const places = `SELECT count(*) FROM pg_class WHERE relname LIKE 'far%' AND reltablespace <> 0; SELECT count(*) FROM far`;
    expect(await server.psql('spaced_copy', { sql: places })).toBe('0\n1\n');
  });
});
