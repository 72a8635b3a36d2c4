import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { openDatabase } from '../../../src/engines/open-database.ts';
import { engineOf } from '../../../src/engines/registry.ts';
import { listHistory } from '../../../src/operations/history/list-history.ts';
import { applyImport, planImport } from '../../../src/operations/import/import.ts';
import { importQuestion, importSummary } from '../../../src/operations/import/text.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { isBuiltHere } from '../../../src/operations/snapshots/signatures.ts';
import { createLocalRepository } from '../../../src/repository/local-repository.ts';
import type { ImportResult } from '../../../src/results/results.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { UserError } from '../../../src/runtime/errors.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../../helpers/databases/any-server.ts';
import { withDetails } from '../../helpers/databases/build-and-load.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { dumpDifferences } from '../../helpers/databases/dump-differences.ts';
import { itIf } from '../../helpers/it-if.ts';
import { withMysqlServerPrograms } from '../../helpers/mysql/mysql-programs.ts';
import { psqlAt, temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const run = promisify(execFile);

const POSTGRES = [
  'CREATE ROLE reporting; CREATE ROLE shop_owner',
  'CREATE EXTENSION pg_trgm',
  'CREATE EXTENSION pg_stat_statements',
  "CREATE TYPE state AS ENUM ('new', 'paid')",
  'CREATE TABLE customer (id serial PRIMARY KEY, name text NOT NULL, "Odd "" column" numeric)',
  `INSERT INTO customer (name) SELECT 'name ' || n || E'\\t\\\\.' FROM generate_series(1, 500) n`,
  "INSERT INTO customer (name) VALUES (E'line\\n\\\\! touch /tmp/never\\n\\\\.')",
  'CREATE INDEX customer_name ON customer USING gin (name gin_trgm_ops)',
  'CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, customer integer REFERENCES customer, state state)',
  "INSERT INTO orders (customer, state) SELECT n, 'paid' FROM generate_series(1, 100) n",
  "CREATE VIEW paid AS SELECT * FROM orders WHERE state = 'paid'",
  'CREATE MATERIALIZED VIEW counted AS SELECT count(*) AS n FROM orders',
  "CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.name = NEW.name || ';'; RETURN NEW; END $$",
  'CREATE TRIGGER touched BEFORE INSERT ON customer FOR EACH ROW EXECUTE FUNCTION touch()',
  'ALTER TABLE orders ENABLE ROW LEVEL SECURITY',
  "CREATE POLICY own ON orders FOR SELECT TO reporting USING (state = 'paid')",
  'GRANT SELECT ON customer TO reporting',
  'ALTER TABLE customer OWNER TO shop_owner',
  "SELECT lo_from_bytea(4711, '\\x0102')",
  'CREATE PUBLICATION all_tables FOR ALL TABLES',
  "CREATE FUNCTION noted() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'",
  'CREATE EVENT TRIGGER noted ON ddl_command_end EXECUTE FUNCTION noted()',
];

const MYSQL = [
  "CREATE TABLE customer (id integer PRIMARY KEY AUTO_INCREMENT, name varchar(60) NOT NULL DEFAULT '', data blob)",
  "INSERT INTO customer (name, data) VALUES ('Ann \\\\! \\'; --', x'00ff0a'), ('Bob', NULL)",
  'CREATE TABLE orders (id integer PRIMARY KEY, customer integer, FOREIGN KEY (customer) REFERENCES customer (id))',
  'INSERT INTO orders VALUES (1, 1), (2, 2)',
  'CREATE VIEW named AS SELECT name FROM customer',
  'CREATE FUNCTION twice(n integer) RETURNS integer DETERMINISTIC RETURN 2 * n',
  "CREATE TRIGGER touched BEFORE INSERT ON customer FOR EACH ROW SET NEW.name = CONCAT(NEW.name, 'DEFINER=`root`@`%`')",
  'CREATE EVENT later ON SCHEDULE EVERY 1 DAY DISABLE DO DELETE FROM orders',
];

const OUTWARD_POSTGRES: [string, string][] = [
  ["COPY t FROM PROGRAM 'touch TRACE';", 'script_failed'],
  ["COPY t TO 'TRACE';", 'script_failed'],
  ["COPY t FROM '/etc/passwd';", 'script_failed'],
  ['\\! touch TRACE', 'script_refused'],
  ["\\copy t from '/etc/passwd'", 'script_refused'],
  ['\\i /etc/passwd', 'script_refused'],
  ["SELECT '\\! touch TRACE' \\gexec", 'script_refused'],
  ["SELECT pg_read_file('/etc/passwd');", 'script_failed'],
  ["SELECT lo_import('/etc/passwd');", 'script_failed'],
  ["SELECT lo_export(1, 'TRACE');", 'script_failed'],
  ["DO $$ BEGIN EXECUTE 'SET SESSION AUTHORIZATION postgres'; END $$;", 'script_failed'],
  ["DO $$ BEGIN EXECUTE 'ALTER ROLE tool SUPERUSER'; END $$;", 'script_failed'],
  ["DO $$ BEGIN EXECUTE 'CREATE EXTENSION dblink'; END $$;", 'script_failed'],
  ["DO $$ BEGIN EXECUTE 'CREATE SUBSCRIPTION s CONNECTION ''host=127.0.0.1'' PUBLICATION p'; END $$;", 'script_failed'],
  ["CREATE FUNCTION system(cstring) RETURNS integer LANGUAGE c AS 'libc.so.6', 'system';", 'script_failed'],
  ["ALTER SYSTEM SET archive_command = 'touch TRACE';", 'script_failed'],
  ['CREATE EXTENSION pg_stat_statements WITH SCHEMA public;', 'dump_refused'],
];

const OUTWARD_MYSQL: [string, string][] = [
  ["LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t;", 'script_refused'],
  ["LOAD DATA INFILE '/etc/passwd' INTO TABLE t;", 'script_failed'],
  ["SELECT 1 INTO OUTFILE 'TRACE';", 'script_failed'],
  ['\\! touch TRACE', 'script_refused'],
  ['system touch TRACE', 'script_refused'],
  ['source /etc/passwd', 'script_refused'],
  ['USE a; USE mysql;', 'script_refused'],
  ['INSERT INTO mysql.general_log (argument) VALUES (1);', 'script_failed'],
  ["CREATE USER other@'%';", 'script_failed'],
  ['SET GLOBAL general_log = 1;', 'script_failed'],
  ["CREATE TABLE far (id integer) ENGINE=FEDERATED CONNECTION='mysql://u@127.0.0.1/a/t';", 'script_failed'],
  ["CREATE SERVER far FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1');", 'script_failed'],
  ["CREATE FUNCTION f RETURNS STRING SONAME 'x.so';", 'script_failed'],
];

const leftovers = (): string[] => readdirSync(tmpdir()).filter((name) => /^tool-(?:postgres|mysql)-/.test(name));

for (const kind of SERVER_KINDS) {
  describeWithKind(kind, 'the import of a dump', () => {
    let server: AnyServer;
    const folder = suiteResource(() => temporaryFolder({ mode: 0o755 }));
    /** Of this suite alone: others start such servers meanwhile. */
    let temporary: Awaited<ReturnType<typeof temporaryFolder>>;
    let settings: Partial<Settings>;
    let context: () => Context;

    const dumpTo = async (name: string, ...flags: string[]): Promise<string> => {
      const file = join(folder.path, name);
      if (kind === 'postgres') await run('pg_dump', [...flags, `--file=${file}`, server.url('shop')]);
      else await writeFile(file, await server.plainDump('shop'));
      return file;
    };

    const importFile = async (file: string): Promise<ImportResult> => {
      const planned = await planImport(context(), { file, target: 'shop' });
      return withDetails(applyImport(context(), planned));
    };

    const refusal = async (file: string): Promise<unknown> => {
      const before = leftovers();
      const repository = createLocalRepository({ directory: join(folder.path, 'work'), report: () => {} });
      const stored = await repository.list('shop');
      const error = await planImport(context(), { file, target: 'shop' })
        .then((planned) => applyImport(context(), planned))
        .then(
          () => null,
          (thrown) => thrown,
        );
      expect(leftovers()).toEqual(before);
      expect(await repository.list('shop')).toEqual(stored);
      return error;
    };

    beforeAll(async () => {
      server = await startAnyServer(kind);
      await server.create('shop');
      await server.run('shop', kind === 'postgres' ? POSTGRES : MYSQL);
      settings = {
        working_directory: join(folder.path, 'work'),
        targets: { shop: { snapshot: { src_url: server.url('shop'), dst_url: server.url('shop_dev') } } },
      };
      const own = testContext({ settings });
      const placed = kind === 'mysql' ? await withMysqlServerPrograms(own, join(folder.path, 'programs')) : own;
      context = () => ({ ...placed, configuration: testContext({ settings }).configuration });
      temporary = await temporaryFolder({ mode: 0o1777 });
    }, 240_000);

    beforeEach(() => {
      vi.stubEnv('TMPDIR', temporary.path);
    });

    afterAll(async () => {
      vi.unstubAllEnvs();
      await server?.stop();
      await temporary?.[Symbol.asyncDispose]();
    });

    const formats: [string, string[]][] =
      kind === 'postgres'
        ? [
            ['custom', ['--format=custom']],
            ['directory', ['--format=directory']],
            ['tar', ['--format=tar']],
            ['sql', ['--create']],
          ]
        : [['sql', []]];

    it.each(formats)(
      'makes a snapshot of a dump (%s) that loads as the original',
      async (format, flags) => {
        const file = await dumpTo(`shop.${format}`, ...flags);
        const before = leftovers();
        const { plan } = await planImport(context(), { file, target: 'shop' });
        expect(plan).toMatchObject({ format, target: 'shop', snapshot: null });
        expect(plan.place).toContain(plan.product);
        expect(importQuestion(plan).facts.map(({ name }) => name)).toContain('Restored in');
        const imported = await importFile(file);
        expect(leftovers()).toEqual(before);
        expect(imported).toMatchObject({ target: 'shop', sanitized: false, dump: { file: `shop.${format}`, format } });
        expect(imported.left_out?.join()).toMatch(
          kind === 'postgres' ? /owners \(\d+\).*publications.*event triggers/ : /definers/,
        );
        expect(importSummary(imported).line).toContain(`from shop.${format}`);
        const { entries } = listHistory(context(), { target: 'shop' });
        expect(entries[0]).toMatchObject({ operation: 'import', outcome: 'done', snapshot: imported.id, from: file });
        const repository = createLocalRepository({ directory: join(folder.path, 'work'), report: () => {} });
        const [manifest] = await repository.list('shop');
        if (!manifest) throw new Error('nothing was stored');
        expect(await isBuiltHere(context(), manifest)).toBe(false);

        await withDetails(planLoad(context(), { target: 'shop' }).then((planned) => applyLoad(context(), planned)));
        const toSource = planLoad(context(), { target: 'shop', destdb: server.url('shop') });
        await expect(toSource).rejects.toMatchObject({ code: 'destination_is_source' });
        const original = await server.dump('shop');
        const expected = original.replaceAll(/^CREATE (?:PUBLICATION|EVENT TRIGGER)[\s\S]*?;$/gm, '');
        expect(dumpDifferences(expected, await server.dump('shop_dev'))).toEqual([]);
      },
      240_000,
    );

    it('reads a compressed SQL dump, and refuses one that is cut short', async () => {
      const file = await dumpTo('whole.sql');
      const plain = await readFile(file, 'latin1');
      // As `--databases` and `--set-gtid-purged` write it.
      const server = [
        'CREATE DATABASE /*!32312 IF NOT EXISTS*/ `shop` /*!40100 DEFAULT CHARACTER SET latin1 */;',
        'USE `shop`;',
        'SET @MYSQLDUMP_TEMP_LOG_BIN = @@SESSION.SQL_LOG_BIN;',
        'SET @@SESSION.SQL_LOG_BIN= 0;',
        "SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ '';",
      ].join('\n');
      const whole = kind === 'postgres' ? plain : plain.replace(/^(?=--\n-- Table structure)/m, `${server}\n`);
      const text = Buffer.from(whole, 'latin1');
      const packed = join(folder.path, 'packed.sql.gz');
      await writeFile(packed, gzipSync(text));
      expect((await importFile(packed)).dump).toMatchObject({ file: 'packed.sql.gz', format: 'sql' });
      await truncate(packed, Math.floor(gzipSync(text).length * 0.9));
      expect(await refusal(packed)).toMatchObject({ code: 'dump_unreadable' });
      await truncate(file, plain.length - 200);
      expect(await refusal(file)).toMatchObject({ code: 'dump_unreadable' });
    }, 240_000);

    const written = (name: string, ...lines: string[]): Promise<string> => {
      const file = join(folder.path, name);
      const [head, last] =
        kind === 'postgres'
          ? [
              '--\n-- PostgreSQL database dump\n--\n-- Dumped from database version 15.8',
              '-- PostgreSQL database dump complete',
            ]
          : [
              `-- ${kind === 'mysql' ? 'MySQL' : 'MariaDB'} dump 10.19\n-- Server version\t${kind === 'mysql' ? '9.0.0' : '10.11.6-MariaDB'}`,
              '-- Dump completed',
            ];
      return writeFile(file, `${[head, ...lines, last].join('\n')}\n`).then(() => file);
    };

    it('runs no statement of a dump that reaches files, programs or other servers', async () => {
      const engine = engineOf(kind === 'postgres' ? 'postgres' : 'mysql');
      const trace = join(folder.path, 'trace');
      const places = await engine.scratchPlaces(context(), null);
      const place = places.find(({ label }) => label.toLowerCase().includes(kind));
      if (!place) throw new Error('there is no place');
      await using opened = await place.open(context());
      const outward = kind === 'postgres' ? OUTWARD_POSTGRES : OUTWARD_MYSQL;
      for (const [index, [statement, code]] of outward.entries()) {
        const file = await written('hostile.sql', 'CREATE TABLE t (line text);', statement.replaceAll('TRACE', trace));
        const dump = await engine.readDump(file);
        if (!dump) throw new Error('the file is no dump');
        const url = engine.withDatabase(opened.url, `sanitize${index}`);
        const restored = openDatabase(context(), url).restore.restoreDump(dump);
        await expect(restored, statement).rejects.toMatchObject({ code });
        expect(existsSync(trace), statement).toBe(false);
        if (kind === 'postgres') {
          const maintenance = engine.urlWithPassword(engine.withDatabase(opened.url, 'postgres'));
          await psqlAt(maintenance, { sql: `DROP DATABASE sanitize${index} WITH (FORCE)` });
          await psqlAt(maintenance, { sql: 'DROP ROLE tool' });
        }
      }
    }, 240_000);

    itIf(kind !== 'postgres')(
      'creates no file outside the throw-away server',
      async () => {
        const outside = join(folder.path, 'outside');
        await mkdir(outside);
        await chmod(outside, 0o777);
        const option = `DATA DIRECTORY = '${outside}'`;
        const tables = ['ENGINE=InnoDB', 'ENGINE=MyISAM'].map(
          (engine, at) => `CREATE TABLE t${at} (id integer) ${engine} ${option};`,
        );
        for (const table of tables) {
          const file = await written('directory.sql', table);
          const planned = await planImport(context(), { file, target: 'shop' });
          const code = await applyImport(context(), planned).then(
            () => 'imported',
            (error) => error.code,
          );
          expect(['imported', 'script_failed'], table).toContain(code);
          expect(readdirSync(outside), table).toEqual([]);
        }
      },
      240_000,
    );

    itIf(kind === 'postgres')(
      'refuses an archive that is broken, or that names or links other files',
      async () => {
        const archive = await dumpTo('broken.custom', '--format=custom');
        await truncate(archive, Math.floor((await readFile(archive)).length * 0.6));
        expect(await refusal(archive)).toMatchObject({ code: 'dump_unreadable' });

        const whole = await dumpTo('whole', '--format=directory');
        const [data = ''] = readdirSync(whole).filter((name) => name.endsWith('.dat.gz'));
        const copy = async (): Promise<string> => {
          const other = join(folder.path, 'changed');
          await rm(other, { recursive: true, force: true });
          await cp(whole, other, { recursive: true });
          return other;
        };
        const cut = await copy();
        await truncate(join(cut, data), 12);
        expect(await refusal(cut)).toMatchObject({ code: 'dump_unreadable' });

        const linked = await copy();
        await symlink('/etc/passwd', join(linked, '1.dat'));
        expect(await refusal(linked)).toMatchObject({ code: 'dump_unreadable', details: ['1.dat'] });

        const named = await copy();
        const toc = await readFile(join(named, 'toc.dat'), 'latin1');
        const own = data.replace('.gz', '');
        await writeFile(join(named, 'toc.dat'), toc.replace(own, '../a.dat'.padEnd(own.length, 'x')), 'latin1');
        expect(await refusal(named)).toMatchObject({ code: 'dump_unreadable', details: ['../a.dat'] });

        const large = await copy();
        await writeFile(join(large, 'blobs.toc'), '4711 ../../etc/passwd\n');
        expect(await refusal(large)).toMatchObject({ code: 'dump_unreadable', details: ['4711 ../../etc/passwd'] });

        const packed = await copy();
        await rm(join(packed, 'blobs.toc'));
        await writeFile(join(packed, 'blobs.toc.gz'), gzipSync('4711 ../../../../../../../../etc/passwd\n'));
        expect(await refusal(packed)).toMatchObject({ code: 'dump_unreadable', details: ['blobs.toc.gz'] });

        const waiting = await copy();
        await rm(join(waiting, 'toc.dat'));
        await run('mkfifo', [join(waiting, 'toc.dat')]);
        expect(await refusal(waiting)).toBeInstanceOf(UserError);
      },
      240_000,
    );

    it('refuses a dump without --target, and a file that is none', async () => {
      const file = await written('empty.sql');
      await expect(planImport(context(), { file })).rejects.toMatchObject({ code: 'flag_needs_flag', exit: 2 });
      const other = join(folder.path, 'other.sql');
      await writeFile(other, 'SELECT 1;');
      expect(await refusal(other)).toMatchObject({ code: 'archive_not_understood' });
      expect(await refusal(join(folder.path, 'missing'))).toMatchObject({ code: 'file_missing' });
    }, 120_000);
  });
}
