import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { build } from '../../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../../src/operations/load/load.ts';
import { applySanitize, planSanitize } from '../../../../../src/operations/sanitize/sanitize.ts';
import { findSnapshot, listSnapshots } from '../../../../../src/operations/snapshots/snapshots.ts';
import { verify } from '../../../../../src/operations/snapshots/verify/verify.ts';
import { applyUndo, planUndo } from '../../../../../src/operations/undo/undo.ts';
import { localRunner } from '../../../../../src/process/local.ts';
import type { RunEvent } from '../../../../../src/results/events.ts';
import type { Context } from '../../../../../src/runtime/context.ts';
import { withDetails } from '../../../../helpers/databases/build-and-load.ts';
import { changeFile } from '../../../../helpers/databases/change-definitions.ts';
import { itIf } from '../../../../helpers/it-if.ts';
import { withPrograms, writeProgram } from '../../../../helpers/mysql/mysql-programs.ts';
import {
  describeWithMysql,
  startMysql,
  type TestFlavour,
  testedFlavours,
} from '../../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../../helpers/suite-resource.ts';

const FIXTURES: Record<TestFlavour, string[]> = {
  mariadb: ['every-type.sql', 'mariadb-only.sql'],
  mysql: ['every-type.sql'],
};

const FLAVOURS = testedFlavours('mariadb');

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: "snapshots by the vendor's own program" }, () => {
    const server = suiteResource(() => startMysql(flavour, ['--local-infile=OFF']));
    const folder = suiteResource(() => temporaryFolder());
    const events: RunEvent[] = [];
    let context: Context;

    beforeAll(async () => {
      await server.createDatabase('source');
      for (const name of FIXTURES[flavour]) {
        await server.file('source', new URL(`../../fixtures/${name}`, import.meta.url).pathname);
      }
      await server.sql(
        'source',
        'CREATE TABLE `odd ``;\n-- x` (id INT PRIMARY KEY, `a; (b` VARCHAR(40))',
        "INSERT INTO `odd ``;\n-- x` VALUES (1, 'a\\nINSERT INTO x;'), (2, 'it''s; -- \\\\'), (3, NULL)",
        "CREATE TRIGGER odd BEFORE INSERT ON `odd ``;\n-- x` FOR EACH ROW BEGIN SET NEW.`a; (b` = 'x;;\n'; /* ;; */ SET @x = 1; END",
        'CREATE PROCEDURE tricky() BEGIN -- delimiter ;\n SELECT 1 AS delimiter ; SELECT "\\\\"; END',
        'CREATE EVENT daily ON SCHEDULE EVERY 1 DAY DO DELETE FROM `odd ``;\n-- x` WHERE id > 100',
        'CREATE VIEW second AS SELECT 1 AS one',
        'CREATE VIEW first AS SELECT * FROM second',
      );
      const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
      const settings = {
        working_directory: join(folder.path, 'work'),
        targets: {
          app: { snapshot, program: true, sanitize: { override_query: "UPDATE words SET first = 'clean'" } },
        },
      };
      context = await withPrograms(testContext({ settings, events }), flavour, folder.path);
    }, 240_000);

    it('round-trips every type and every kind of object, and are marked', async () => {
      const row = await withDetails(build(context, { target: 'app' }));
      const name = flavour === 'mariadb' ? 'mariadb-dump' : 'mysqldump';
      expect(row).toMatchObject({ program: expect.stringMatching(new RegExp(`^(${name}|mysqldump) \\d+\\.`)) });
      expect((await verify(context, { target: 'app' })).ok).toBe(true);
      const planned = await planLoad(context, { target: 'app', events: true });
      expect(planned.plan.snapshot).toMatchObject({ program: row.program });
      await withDetails(applyLoad(context, planned));
      expect(comparable(await server.dump('copy'))).toEqual(comparable(await server.dump('source')));
    });

    it('store nothing twice, and one table again when it has changed', async () => {
      expect((await build(context, { target: 'app' })).stored_bytes).toBe(0);
      await server.sql('source', "INSERT INTO words VALUES ('new', 'row')");
      const { manifest: before } = await findSnapshot(context, { target: 'app' });
      await build(context, { target: 'app' });
      const { manifest: after } = await findSnapshot(context, { target: 'app' });
      const changed = after.tables.filter(({ file }, at) => file.sha256 !== before.tables[at]?.file.sha256);
      expect(changed.map(({ name }) => name)).toEqual(['source.words']);
    });

    it('are undone, and loaded in part', async () => {
      await applyLoad(context, await planLoad(context, { target: 'app', tables: ['source.words'] }));
      expect(await server.sql('copy', 'SELECT COUNT(*) AS n FROM words')).toEqual([{ n: 7 }]);
      expect(await server.sql('copy', 'SELECT COUNT(*) AS n FROM parent')).toEqual([{ n: 0 }]);
      await applyUndo(context, await planUndo(context, { target: 'app' }));
      expect(await server.sql('copy', 'SELECT COUNT(*) AS n FROM parent')).toEqual([{ n: 4 }]);
    });

    it('are sanitized into snapshots of the same kind', async () => {
      const target = { target: 'app', build: {}, ephemeral: true };
      const { snapshot, coverage } = await withDetails(applySanitize(context, await planSanitize(context, target)));
      expect(snapshot).toMatchObject({ sanitized: true, program: expect.any(String) });
      const changed = coverage.tables.filter(({ state }) => state !== 'untouched').map(({ name }) => name);
      expect(changed).toEqual(['source.words']);
      await withDetails(applyLoad(context, await planLoad(context, { target: 'app' })));
      expect(await server.sql('copy', "SELECT COUNT(*) AS n FROM words WHERE first = 'clean'")).toEqual([{ n: 7 }]);
    });

    it('hand the password over in a file, and no argument', async () => {
      await server.sql(
        '',
        `CREATE USER reader@'%' IDENTIFIED BY 'pass word'`,
        `GRANT SELECT, SHOW VIEW, TRIGGER, EVENT ON source.* TO reader@'%'`,
        ...(flavour === 'mysql' ? ["GRANT SHOW_ROUTINE ON *.* TO reader@'%'"] : []),
        `GRANT ALL ON \`copy%\`.* TO reader@'%'`,
      );
      const user = { name: 'reader', password: 'pass word' };
      const own = ownContext({ src_url: server.url('source', user), dst_url: server.url('copy', user) });
      await withDetails(build(own, { target: 'app' }));
      await withDetails(applyLoad(own, await planLoad(own, { target: 'app' })));
      const commands = events.flatMap((event) => (event.event === 'command' ? [event.command] : []));
      expect(commands.filter((command) => command.includes('--single-transaction'))).not.toEqual([]);
      expect(JSON.stringify(events)).not.toContain('pass word');
    });

    it('are refused when their rows hold another statement', async () => {
      await server.sql('', 'CREATE DATABASE victim', 'CREATE TABLE victim.t (id INT)');
      const { id } = await build(context, { target: 'app' });
      const { manifest } = await findSnapshot(context, { target: 'app', snapshot: id });
      const words = manifest.tables.find(({ name }) => name === 'source.words');
      const before = await server.dump('copy');
      await changeFile(context.configuration.settings.working_directory, {
        ...{ id, name: words?.file.name ?? '' },
        change: (text) => text.replace(';\n', ';\nDROP DATABASE victim;\n'),
      });
      const planned = await planLoad(context, { target: 'app', snapshot: id });
      await expect(applyLoad(context, planned)).rejects.toMatchObject({ code: 'content_refused', exit: 5 });
      expect(await server.databases()).toEqual(expect.arrayContaining(['victim', 'copy']));
      expect(await server.dump('copy')).toEqual(before);
      expect((await server.databases()).filter((name) => name.includes('tool-new'))).toEqual([]);
    });

    it('fail the load when the server does not take a value as it is, or refuses a row', async () => {
      const { id } = await build(context, { target: 'app' });
      const { manifest } = await findSnapshot(context, { target: 'app', snapshot: id });
      const name = manifest.tables.find((table) => table.name === 'source.no_key')?.file.name ?? '';
      const directory = context.configuration.settings.working_directory;
      const forge = (from: string, to: string): Promise<void> =>
        changeFile(directory, { id, name, change: (text) => text.replace(from, to) });
      await forge("(1,'x')", "(1,'longer than ten letters')");
      const loaded = async (): Promise<unknown> =>
        applyLoad(context, await planLoad(context, { target: 'app', snapshot: id }));
      await expect(loaded()).rejects.toMatchObject({
        code: 'restore_failed',
        details: [expect.stringMatching(/Data truncated|too long/)],
      });
      await forge("(1,'longer than ten letters')", "(1,'x',5)");
      await expect(loaded()).rejects.toMatchObject({
        code: 'restore_failed',
        message: 'The rows of source.no_key could not be loaded',
        details: ["Column count doesn't match value count at row 1"],
      });
    });

    // The machine has those of MariaDB.
    itIf(flavour === 'mysql')('need programs of the flavour and version of the server', async () => {
      await using bin = await temporaryFolder();
      const refused = {
        code: 'tools_too_old',
        message: expect.stringMatching(/needs its own mysqldump, of its version or newer, and this machine has none$/),
        hint: expect.stringContaining('docker.images.mysql'),
      };
      const environment = { ...process.env };
      const plain = { ...context, environment, runner: localRunner({ environment, report: context.report }) };
      await expect(build(plain, { target: 'app' })).rejects.toMatchObject(refused);
      await writeProgram(join(bin.path, 'mysqldump'), "echo 'mysqldump  Ver 8.0.36 for Linux on x86_64'");
      const older = { ...environment, PATH: `${bin.path}:${process.env.PATH}` };
      const runner = localRunner({ environment: older, report: context.report });
      await expect(build({ ...plain, runner }, { target: 'app' })).rejects.toMatchObject(refused);
    });

    const FAULTS = [
      { what: 'dies', script: 'PROGRAM "$@" | head -c 3000; kill -9 $$', error: /failed$/ },
      {
        what: 'fails in the middle',
        script: 'PROGRAM "$@" | head -c 3000; echo "no right" >&2; exit 2',
        error: /failed$/,
      },
      {
        what: 'stops early without an error',
        script: 'PROGRAM "$@" | head -n 40',
        error: /cut short|middle of a statement/,
      },
      {
        what: 'writes what is not known',
        script: 'echo "GRANT ALL ON *.* TO x;"; PROGRAM "$@"',
        error: /cannot be stored/,
      },
    ];

    it.each(FAULTS)('store nothing when the program $what', async ({ script, error }) => {
      await using bin = await temporaryFolder();
      const own = await faulty(bin.path, script);
      const before = await listSnapshots(own, 'app');
      await expect(build(own, { target: 'app' })).rejects.toThrow(error);
      expect(await listSnapshots(own, 'app')).toEqual(before);
    });

    it("pass on the program's warnings, although it ends without an error", async () => {
      await using bin = await temporaryFolder();
      const own = await faulty(bin.path, 'PROGRAM "$@"; echo "mysqldump: could not read masking policies" >&2');
      await build(own, { target: 'app' });
      const message = 'mysqldump: could not read masking policies';
      expect(events).toContainEqual({ event: 'warning', code: 'program_warning', message });
    });

    /** The context with a dump program in the place of the real one, which it may call as PROGRAM. */
    async function faulty(bin: string, script: string): Promise<Context> {
      const program = flavour === 'mariadb' ? '/usr/bin/mariadb-dump' : join(folder.path, 'mysqldump');
      const version = `[ "$1" = --version ] && exec ${program} --version`;
      await writeProgram(join(bin, 'mysqldump'), `${version}\n${script.replaceAll('PROGRAM', program)}`);
      return onPath(bin);
    }

    /** The context with only these programs found before those of the system. */
    function onPath(bin: string): Context {
      const environment = { ...context.environment, PATH: `${bin}:${context.environment.PATH}` };
      return { ...context, environment, runner: localRunner({ environment, report: context.report }) };
    }

    function ownContext(snapshot: { src_url: string; dst_url: string }): Context {
      const { settings } = context.configuration;
      const targets = { app: { snapshot, program: true } };
      return { ...context, configuration: { ...context.configuration, settings: { ...settings, targets } } };
    }
  });
}

/** A dump without what an event's copy or a moved counter may differ in. */
function comparable(dump: string): string[] {
  return dump.replaceAll(/`(source|copy)`\./g, '').split('\n');
}
