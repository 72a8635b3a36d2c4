import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../src/operations/load/planned-load.ts';
import { loadSummary } from '../../../src/operations/load/text.ts';
import type { LoadResult } from '../../../src/results/load-results.ts';
import {
  describeWithPostgres,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

describeWithPostgres('a load of an SQL file', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());

  beforeAll(async () => {
    await server.createDatabase('prod');
    await server.psql('prod', { sql: 'CREATE TABLE orders (id integer); INSERT INTO orders VALUES (1)' });
  }, 60_000);

  beforeEach(async () => {
    for (const name of await server.databases()) {
      if (name.startsWith('copy')) await server.psql('postgres', { sql: `DROP DATABASE "${name}" WITH (FORCE)` });
    }
    await server.createDatabase('copy');
    await server.psql('copy', { sql: 'CREATE TABLE mine (id integer); INSERT INTO mine VALUES (7)' });
  });

  async function load(sql: string | Buffer, request: Partial<LoadRequest> = {}): Promise<LoadResult> {
    const file = join(folder.path, 'script.sql');
    await writeFile(file, sql);
    const snapshot = { src_url: server.url('prod'), dst_url: server.url('copy') };
    const settings = { working_directory: join(folder.path, 'work'), targets: { app: { snapshot } } };
    const context = testContext({ settings, events: [] });
    return applyLoad(context, await planLoad(context, { target: 'app', file, ...request }));
  }

  const canary = (): string => join(folder.path, 'canary');

  async function expectUntouched(): Promise<void> {
    expect(await server.psql('copy', { sql: 'SELECT id FROM mine' })).toBe('7\n');
    expect(await server.psql('prod', { sql: 'SELECT id FROM orders' })).toBe('1\n');
    expect(await server.databases()).toEqual(['copy', 'postgres', 'prod']);
    expect(await readdir(folder.path)).not.toContain('canary');
  }

  it.each([
    { what: '\\c in the middle of a line', sql: 'create table a(i int); \\c prod\ndrop table orders;', at: '1:24' },
    { what: '\\connect', sql: 'SELECT 1;\n\\connect prod\nDROP TABLE orders;', at: '2:1' },
    { what: '\\i', sql: '\\i other.sql', at: '1:1' },
    { what: '\\ir after a statement without its end', sql: 'SELECT 1 \\ir other.sql', at: '1:10' },
    { what: '\\!', sql: 'SELECT 1; \\! touch CANARY', at: '1:11' },
    { what: '\\o with a program', sql: '\\o |touch CANARY\nSELECT 1;', at: '1:1' },
    { what: '\\copy from a program', sql: "\\copy mine from program 'touch CANARY'", at: '1:1' },
    { what: '\\gexec', sql: "SELECT 'DROP TABLE orders' \\gexec", at: '1:28' },
    { what: '\\g with a program', sql: 'SELECT 1 \\g |touch CANARY', at: '1:10' },
    { what: '\\w', sql: 'SELECT 1 \\w CANARY', at: '1:10' },
    { what: '\\setenv', sql: '\\setenv PAGER x', at: '1:1' },
    { what: 'a backquote in \\set', sql: '\\set a `touch CANARY`', at: '1:1' },
    { what: '\\if', sql: '\\if true\nSELECT 1;\n\\endif', at: '1:1' },
    { what: '\\restrict in the middle of a line', sql: 'SELECT 1; \\restrict abc', at: '1:11' },
    { what: '\\! behind a nested comment', sql: '/* a /* b */ */ \\! touch CANARY', at: '1:17' },
    { what: '\\! behind a carriage return that ends a comment', sql: '-- a\r\\! touch CANARY', at: '1:6' },
    { what: '\\! behind an escape string', sql: "SELECT E'\\\\'; \\! touch CANARY", at: '1:15' },
    { what: '\\! behind a continued escape string', sql: "SELECT E'a'\n'\\''; \\! touch CANARY --'", at: '2:7' },
    { what: '\\! behind a standard string', sql: "SELECT '\\'; \\! touch CANARY --'", at: '1:13' },
    { what: '\\! on the line of COPY', sql: 'COPY mine FROM stdin; \\! touch CANARY\n1\n\\.\n', at: '1:23' },
    { what: '\\! behind the rows of COPY', sql: 'COPY mine FROM stdin;\n1\n\\.\n\\! touch CANARY', at: '4:1' },
    { what: 'COPY without an end of its rows', sql: 'COPY mine FROM stdin;\n1\n', at: '1:1' },
    { what: 'a binary COPY', sql: 'COPY mine FROM stdin (FORMAT binary);\n1\n\\.\n', at: '1:1' },
    { what: 'an unknown form of COPY', sql: 'COPY mine FROM stdin WHERE id > 1;\n1\n\\.\n', at: '1:1' },
    { what: 'a quote without an end', sql: "SELECT 1;\nSELECT 'open", at: '2:8' },
    { what: 'a NUL character', sql: 'SELECT 1;\nSELECT \0', at: '2:8' },
    { what: 'DROP DATABASE behind COMMIT', sql: 'COMMIT; DROP DATABASE prod;', at: '1:9' },
    { what: 'an encoding with backslashes in characters', sql: "SET client_encoding = 'SJIS';", at: '1:1' },
  ])('refuses $what before it runs anything', async ({ sql, at }) => {
    const text = sql.replaceAll('CANARY', canary());
    for (const request of [{}, { noDrop: true }, { source: true }]) {
      await expect(load(`CREATE TABLE early ();\n${text}`, request)).rejects.toMatchObject({
        code: 'script_refused',
        exit: 5,
        message: expect.stringContaining(`script.sql:${Number(at.split(':')[0]) + 1}:${at.split(':')[1]}: `),
      });
      await expectUntouched();
      expect(await server.psql('prod', { sql: `SELECT to_regclass('early') IS NULL` })).toBe('t\n');
    }
  });

  it('warns when the user may run programs of the server', async () => {
    const file = join(folder.path, 'script.sql');
    await writeFile(file, 'SELECT 1');
    await server.psql('postgres', {
      sql: `CREATE ROLE plain LOGIN PASSWORD 'p'; CREATE ROLE writer LOGIN PASSWORD 'p' NOINHERIT IN ROLE pg_write_server_files; CREATE ROLE maker LOGIN PASSWORD 'p' CREATEROLE; REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC`,
    });
    const warningsFor = async (user: { username?: string; password?: string }): Promise<string[]> => {
      const url = Object.assign(new URL(server.url('copy')), user).href;
      const settings = {
        working_directory: join(folder.path, 'work'),
        targets: { app: { snapshot: { src_url: server.url('prod'), dst_url: url } } },
      };
      const planned = await planLoad(testContext({ settings }), { target: 'app', file });
      return planned.plan.warnings.map(({ code }) => code);
    };
    expect(await warningsFor({})).toEqual(['script_reach']);
    expect(await warningsFor({ username: 'writer', password: 'p' })).toEqual(['script_reach']);
    expect(await warningsFor({ username: 'maker', password: 'p' })).toEqual(['script_reach']);
    expect(await warningsFor({ username: 'plain', password: 'p' })).toEqual([]);
    await server.psql('postgres', { sql: 'GRANT CONNECT ON DATABASE postgres, template1 TO PUBLIC' });
  });

  it('reads no row of COPY as a command when the file replaces functions of the system', async () => {
    const replaced = `CREATE TABLE "rows" (line text);
      CREATE OR REPLACE FUNCTION pg_catalog.convert_from(bytea, name) RETURNS text LANGUAGE sql AS $$ SELECT 'SELECT 1'::text $$;
      COPY "rows" (line) FROM stdin CSV;\n\\! touch ${canary()}\n\\.\n`;
    const loading = load(replaced).catch((error) => error);
    await loading;
    expect(await readdir(folder.path)).not.toContain('canary');
    expect(await loading).toMatchObject({ statements: 3 });
    expect(await server.psql('copy', { sql: 'SELECT line FROM "rows"' })).toBe(`\\! touch ${canary()}\n`);
  });

  it('copies rows into tables and columns of all kinds of names', async () => {
    await load(
      `CREATE TABLE "Größe ""x"" :a ; \\! touch ${canary()} '" ("Maß" text, straße text, "a:b ; '" text, plain text);
      COPY "Größe ""x"" :a ; \\! touch ${canary()} '" ("Maß", STRAßE, "a:b ; '", Plain) FROM stdin WITH (FORMAT csv, QUOTE '"', ESCAPE E'\\\\', NULL ':x', FORCE_NOT_NULL ("Maß", plain));
"a\\"b",ü,:x,""
\\.
      SELECT set_config('client_encoding', 'LATIN1', false);`,
    );
    const sql = `SELECT "Maß", straße, "a:b ; '" IS NULL, plain = '' FROM "Größe ""x"" :a ; \\! touch ${canary()} '"`;
    expect(await server.psql('copy', { sql })).toBe('a"b|ü|t|t\n');
    expect(await readdir(folder.path)).not.toContain('canary');
  });

  it('runs what only looks like a command of psql, in strings, names, comments and bodies', async () => {
    await load(
      [
        `CREATE TABLE "\\! touch ${canary()}" (t text);`,
        `INSERT INTO "\\! touch ${canary()}" VALUES ('\\c prod'), (E'\\\\c\\tprod'), ($$\n\\c prod\n$$), ($a$\\! touch $b$ x$a$);`,
        `-- \\! touch ${canary()}`,
        `/* \\c prod /* nested */ \\c prod */`,
        `CREATE FUNCTION f() RETURNS text LANGUAGE plpgsql AS $body$ BEGIN RETURN ';\\! touch ${canary()}'; END $body$;`,
        `CREATE FUNCTION g() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END;`,
        `SELECT (ARRAY[1, 2])[1:2], 'a' || ':HOST' AS "x:y";`,
      ].join('\n'),
    );
    expect(await server.psql('copy', { sql: `SELECT string_agg(t, '|') FROM "\\! touch ${canary()}"` })).toBe(
      '\\c prod|\\c\tprod|\n\\c prod\n|\\! touch $b$ x\n',
    );
    expect(await server.psql('copy', { sql: `SELECT f() = ';\\! touch ${canary()}', g()` })).toBe('t|2\n');
    expect(await server.psql('prod', { sql: 'SELECT id FROM orders' })).toBe('1\n');
    expect(await readdir(folder.path)).not.toContain('canary');
  });

  it('loads a plain dump of pg_dump, whose rows have backslashes, and which begins with \\restrict', async () => {
    await server.psql('prod', {
      sql: String.raw`CREATE TABLE odd (a text, b text, c bytea); INSERT INTO odd VALUES
        (E'\\.', E'\\! touch ${canary()}', '\x00ff'), (NULL, E'line\nfeed\ttab', ''), (E'\\c prod', 'größe', NULL), ('', E'\r', '\x5c2e');
        CREATE VIEW v AS SELECT a FROM odd; CREATE SEQUENCE s; SELECT setval('s', 5);
        SELECT lo_from_bytea(4711, '\x5c2e0a');`,
    });
    const dump = await server.dump('prod');
    const whole = await plainDump(server.url('prod'));
    const key = /\\restrict/.test(whole) ? '' : '\\restrict abcDEF012\n';
    const result = await load(`${key}${whole}${key.replace('restrict', 'unrestrict')}`);
    expect(await server.dump('copy')).toBe(dump);
    expect(result).toMatchObject({ statements: expect.any(Number) });
    expect(await readdir(folder.path)).not.toContain('canary');
    await load(`${await plainDump(server.url('prod'), '--inserts')}`);
    expect(await server.dump('copy')).toBe(dump);
    await server.psql('prod', { sql: 'DROP VIEW v; DROP TABLE odd; DROP SEQUENCE s; SELECT lo_unlink(4711)' });
  });

  it('reads the rows of COPY in CSV, with options of either form', async () => {
    await load(
      [
        'CREATE TABLE t (a text, "B c" text);',
        `COPY public.t (a, "B c") FROM STDIN WITH (FORMAT csv, HEADER, DELIMITER ';', NULL 'none');`,
        'a;B c',
        '"x;\\""y";none',
        '\\N;\\!',
        '\\.',
        `COPY t FROM stdin WITH DELIMITER AS E'\\t' NULL AS '-' CSV;`,
        '1\t-',
        '\\.',
        'SELECT 1;',
      ].join('\n'),
    );
    expect(await server.psql('copy', { sql: `SELECT a, "B c" IS NULL FROM t ORDER BY a COLLATE "C"` })).toBe(
      '1|t\n\\N|f\nx;\\"y|t\n',
    );
  });

  it('reports the line of the failed statement, with its SQLSTATE', async () => {
    const failed = load('CREATE TABLE t ();\n\n  SELECT\n  nothing FROM nowhere;\nSELECT 1;', { noDrop: true });
    await expect(failed).rejects.toMatchObject({
      code: 'script_failed',
      message: expect.stringContaining('script.sql:3:3'),
      details: expect.arrayContaining([expect.stringContaining('42P01')]),
    });
    await expectUntouched();
    await expect(load('CREATE TABLE t (i int);\nCOPY t FROM stdin;\n1\nx\n\\.\nSELECT 1;')).rejects.toMatchObject({
      code: 'script_failed',
      message: expect.stringContaining('script.sql:2:1'),
      details: expect.arrayContaining([expect.stringContaining('22P02')]),
    });
    await expectUntouched();
  });

  it('does not run the rows of a COPY that the server refuses', async () => {
    await expect(
      load(`COPY nowhere FROM stdin;\n\\! touch ${canary()}\n\\c prod\nDROP TABLE orders;\n\\.\n`),
    ).rejects.toMatchObject({ code: 'script_failed', details: [expect.stringContaining('42P01')] });
    await expectUntouched();
  });

  it('runs no command that a change of string or encoding settings would uncover', async () => {
    for (const setting of ["'standard_conforming_strings', 'off'", "'client_encoding', 'SJIS'"]) {
      const hidden = `SELECT '\\'' \\! touch ${canary()} ';`;
      await load(
        `SELECT set_config(${setting}, false);\n${hidden}\nSELECT '\u0083\\'; SELECT ' \\! touch ${canary()}\n';`,
      ).catch(() => {});
      expect(await readdir(folder.path)).not.toContain('canary');
    }
  });

  it('reports the statements, and mentions no manifest', async () => {
    const file = join(folder.path, 'script.sql');
    const result = await load('CREATE TABLE t ();\nSELECT 1;\n');
    const context = testContext({
      settings: {
        working_directory: join(folder.path, 'work'),
        targets: { app: { snapshot: { dst_url: server.url('copy') } } },
      },
      events: [],
    });
    const { plan } = await planLoad(context, { target: 'app', file });
    const { details } = loadSummary(result, plan);
    expect(details).toEqual([expect.stringContaining('Ran 2 statements')]);
    expect(plan.steps[0]).toContain('2 statements');
  });
});

async function plainDump(url: string, ...flags: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('pg_dump', [...flags, '--dbname', url]);
  return stdout;
}
