import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import type { TargetSettings } from '../../../../../src/config/schema/settings.ts';
import { openDatabase } from '../../../../../src/engines/open-database.ts';
import { parseUrl } from '../../../../../src/engines/registry.ts';
import { applyBranchCreate, planBranchCreate } from '../../../../../src/operations/branch/create/create.ts';
import { build } from '../../../../../src/operations/build/build.ts';
import { applyDropCopies, planDropCopies } from '../../../../../src/operations/drop-copies/drop-copies.ts';
import { applyLoad, planLoad } from '../../../../../src/operations/load/load.ts';
import type { LoadRequest } from '../../../../../src/operations/load/planned-load.ts';
import { applyReset, planReset, type ResetRequest } from '../../../../../src/operations/reset/reset.ts';
import { applyUndo, planUndo } from '../../../../../src/operations/undo/undo.ts';
import type { RunEvent } from '../../../../../src/results/events.ts';
import type { LoadResult, ResetResult } from '../../../../../src/results/load-results.ts';
import type { Context } from '../../../../../src/runtime/context.ts';
import { asData } from '../../../../helpers/fakes/as-data.ts';
import { itIf } from '../../../../helpers/it-if.ts';
import {
  describeWithMysql,
  startMysql,
  type TestFlavour,
  testedFlavours,
} from '../../../../helpers/mysql/mysql-server.ts';
import { eventually, temporaryFolder, testContext } from '../../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../../helpers/suite-resource.ts';

const FLAVOURS = testedFlavours('mariadb');
/** Each needs loads of its own. */
const itInFull = itIf(process.env.TEST_FULL);

const FILL = [
  'CREATE TABLE numbers (n INT PRIMARY KEY)',
  'INSERT INTO numbers VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)',
  'CREATE TABLE person (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(40) NOT NULL, boss INT, upper_name VARCHAR(40) AS (UPPER(name)) STORED, KEY by_name (name), FOREIGN KEY (boss) REFERENCES person (id) ON DELETE SET NULL)',
  "INSERT INTO person (id, name, boss) SELECT 1 + a.n + 10 * b.n + 100 * c.n + 1000 * d.n, CONCAT('person ', a.n, b.n, c.n), NULL FROM numbers a, numbers b, numbers c, numbers d WHERE d.n < 3",
  'UPDATE person SET boss = id DIV 2 WHERE id > 1',
  'CREATE TABLE `od``d` (id INT PRIMARY KEY, person_id INT NOT NULL, score FLOAT, note BLOB, CONSTRAINT belongs FOREIGN KEY (person_id) REFERENCES person (id))',
  "INSERT INTO `od``d` SELECT n, n + 1, n / 3, X'00FF0A' FROM numbers",
  'CREATE TABLE nothing (id INT)',
  'CREATE TABLE archived (id INT, note VARCHAR(20)) ENGINE = ARCHIVE',
  "INSERT INTO archived VALUES (1, 'one'), (2, 'two')",
  'CREATE VIEW names AS SELECT name FROM person',
  'CREATE FUNCTION twice(n INT) RETURNS INT DETERMINISTIC RETURN 2 * n',
  "CREATE TRIGGER named BEFORE UPDATE ON person FOR EACH ROW SET NEW.name = CONCAT(NEW.name, '!')",
  'CREATE EVENT hourly ON SCHEDULE EVERY 1 HOUR DO DELETE FROM nothing',
];
const FILL_OF: Record<TestFlavour, string[]> = {
  mariadb: [
    'CREATE SEQUENCE counter START WITH 7 NOCACHE',
    'SELECT NEXTVAL(counter)',
    'CREATE TABLE drawn (id INT DEFAULT NEXTVAL(counter) PRIMARY KEY, note INT)',
    'INSERT INTO drawn (note) VALUES (1), (2), (3)',
    'CREATE TABLE versioned (id INT PRIMARY KEY) WITH SYSTEM VERSIONING',
    'INSERT INTO versioned VALUES (1), (2)',
  ],
  mysql: ['CREATE TABLE document (id INT PRIMARY KEY, body JSON)', `INSERT INTO document VALUES (1, '{"a": [1, 2]}')`],
};

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a reset' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));
    let events: RunEvent[] = [];
    let pristine: string;

    beforeAll(async () => {
      await server.createDatabase('source');
      await server.sql('source', ...FILL, ...FILL_OF[flavour]);
      await build(contextWith(), { target: 'app' });
      await load({ keepBase: false });
      pristine = await server.dump('copy');
    }, 240_000);

    beforeEach(async () => {
      events = [];
      for (const name of await server.databases()) {
        if (name.startsWith('copy')) await server.sql('', `DROP DATABASE \`${name}\``);
      }
      await server.createDatabase('copy');
    });

    /** `controller`: aborted when the creation of a spare begins. */
    function contextWith(
      snapshot: TargetSettings['snapshot'] = {},
      others: Record<string, TargetSettings> = {},
      controller?: AbortController,
    ): Context {
      const app = { snapshot: { src_url: server.url('source'), dst_url: server.url('copy'), ...snapshot } };
      const settings = { working_directory: join(folder.path, 'work'), targets: { app, ...others } };
      const context = testContext({ settings, events, ...(controller && { signal: controller.signal }) });
      const report: Context['report'] = (event) => {
        context.report(event);
        if (event.event === 'step' && event.step === 'spare') controller?.abort(new Error('interrupted'));
      };
      return { ...context, report };
    }

    const codes = () =>
      events.flatMap((event) => (event.event === 'warning' && event.code !== 'sessions_open' ? [event.code] : []));
    const beside = async () => (await server.databases()).filter((name) => name.startsWith('copy.'));

    async function load(request: Partial<LoadRequest> = {}, on = contextWith()): Promise<LoadResult> {
      return applyLoad(on, await planLoad(on, { target: 'app', ...request }));
    }

    async function reset(request: Partial<ResetRequest> = {}, on = contextWith()): Promise<ResetResult> {
      return applyReset(on, asData(await planReset(on, { target: 'app', ...request })));
    }

    async function undo(): Promise<void> {
      await applyUndo(contextWith(), await planUndo(contextWith(), { target: 'app' }));
    }

    const dirty = () =>
      server.sql(
        'copy',
        'DELETE FROM `od``d`',
        'DROP VIEW names',
        'INSERT INTO person (name) VALUES (1), (2)',
        'CREATE TABLE mine (id INT)',
      );

    it('restores the state after the last load, again and again, and can be undone', async () => {
      await expect(planReset(contextWith(), { target: 'app' })).rejects.toMatchObject({
        code: 'no_base_copy',
        exit: 1,
      });
      expect(await load({ keepBase: true })).toMatchObject({ base_database: 'copy.tool-base' });
      expect(await beside()).toEqual(['copy.tool-base', 'copy.tool-undo']);
      await dirty();
      const changed = await server.dump('copy');

      const { plan } = await planReset(contextWith(), { target: 'app' });
      expect(plan).toMatchObject({ from: 'base', undo: true, spare: false, base: { database: 'copy.tool-base' } });
      expect(await reset()).toMatchObject({ from: 'base', undo_database: 'copy.tool-undo' });
      expect(await server.dump('copy')).toBe(pristine);

      await undo();
      expect(await server.dump('copy')).toBe(changed);
      await expect(planReset(contextWith(), { target: 'app' })).rejects.toMatchObject({ code: 'base_copy_outdated' });
      await undo();
      await server.sql('copy', 'DROP TABLE `od``d`, person');
      await reset({ undo: false });
      expect(await server.dump('copy')).toBe(pristine);
      expect(await beside()).toEqual(['copy.tool-base']);
      expect(codes().filter((code) => code !== 'events_disabled')).toEqual([]);
    });

    it('takes no flush of an ARCHIVE table for a change', async () => {
      await load({ spare: true });
      const now = async () => (await server.sql('', 'SELECT CAST(NOW(0) AS CHAR) AS now'))[0]?.now;
      const loaded = await now();
      await eventually(async () => (await now()) !== loaded);
      await server.sql('', 'FLUSH TABLES');
      expect((await planReset(contextWith(), { target: 'app' })).plan.from).toBe('spare');
      await reset();
      expect(await server.dump('copy')).toBe(pristine);
    });

    it('takes the spare where there is one, and makes the next one', async () => {
      expect(await load({ spare: true })).toMatchObject({ spare_database: 'copy.tool-spare' });
      await dirty();
      expect(await reset({ spare: true })).toMatchObject({ from: 'spare', spare_database: 'copy.tool-spare' });
      expect(await server.dump('copy')).toBe(pristine);
      expect(await beside()).toEqual(['copy.tool-base', 'copy.tool-spare', 'copy.tool-undo']);
      await dirty();
      expect(await reset()).toMatchObject({ from: 'spare', spare_database: null });
      expect(await server.dump('copy')).toBe(pristine);
      await dirty();

      const controller = new AbortController();
      const interrupted = contextWith({}, {}, controller);
      expect(await reset({ spare: true }, interrupted)).toMatchObject({ from: 'base', spare_database: null });
      expect(controller.signal.aborted).toBe(true);
      expect(codes()).toContain('spare_not_created');
      expect(await server.dump('copy')).toBe(pristine);
      expect(await beside()).toEqual(['copy.tool-base', 'copy.tool-undo']);
    });

    it('the branch of a working tree takes the spare, and a prune makes the next one', async () => {
      await load({ spare: true, undo: false });
      const create = async (name: string, more: object = {}) => {
        const planned = await planBranchCreate(contextWith(), { target: 'app', name, ...more });
        return applyBranchCreate(contextWith(), asData(planned));
      };
      await create('plain');
      expect(await beside()).toEqual(['copy.tool-base', 'copy.tool-spare']);
      await create('tree', { tree: '0123456789abcdef' });
      expect(await beside()).toEqual(['copy.tool-base']);
      await create('next', { tree: '123456789abcdef0' });
      const contentOf = async (name: string): Promise<string> =>
        (await server.dump(`copy_${name}`)).replaceAll(`copy_${name}`, 'copy').replace(/COMMENT='\{"tool"[^\n]*/, '');
      const plain = await contentOf('plain');
      expect(plain).toContain('person');
      for (const name of ['tree', 'next']) expect(await contentOf(name), name).toBe(plain);
      await openDatabase(contextWith(), parseUrl(server.url('copy'))).branches.replaceTakenSpare();
      expect(await beside()).toEqual(['copy.tool-base', 'copy.tool-spare']);
      await reset({ undo: false });
      expect(await server.dump('copy')).toBe(pristine);
    });

    it('does not use a base copy or a spare that was changed', async () => {
      await load({ spare: true });
      await server.sql(
        'copy.tool-spare',
        "CREATE TRIGGER by_hand BEFORE INSERT ON person FOR EACH ROW SET NEW.name = 'by hand'",
      );
      await dirty();
      await reset();
      expect(await server.dump('copy')).toBe(pristine);
      await load({ spare: true });
      await server.sql('copy.tool-spare', "UPDATE person SET name = 'written' WHERE id = 5");
      await dirty();
      await reset();
      expect(await server.dump('copy')).toBe(pristine);
      await server.sql('copy.tool-base', "UPDATE person SET name = 'written' WHERE id = 5");
      await dirty();
      const changed = await server.dump('copy');
      await expect(reset()).rejects.toThrow('changed since');
      expect(await server.dump('copy')).toBe(changed);
      expect((await beside()).filter((name) => name.includes('.tool-new-'))).toEqual([]);
    });

    it('does not use a spare that was truncated, of which MariaDB keeps the time', async () => {
      await load({ spare: true });
      const now = async () => (await server.sql('', 'SELECT CAST(NOW(0) AS CHAR) AS now'))[0]?.now;
      const loaded = await now();
      await eventually(async () => (await now()) !== loaded);
      // As after a longer creation, whose tables had their rows before the second of the record.
      await server.sql(
        'copy.tool-spare',
        "UPDATE `tool-base` SET json = JSON_SET(json, '$.read_at', CAST(NOW(0) AS CHAR))",
        ...['TRUNCATE `od``d`'],
      );
      await reset();
      expect(await server.dump('copy')).toBe(pristine);
    });

    itInFull.each([{ keepBase: true }, { keepBase: false }])('is of the last load alone: %o', async (request) => {
      await load({ spare: true });
      await load(request);
      expect(await beside()).toEqual([...(request.keepBase ? ['copy.tool-base'] : []), 'copy.tool-undo']);
      if (!request.keepBase) await expect(reset()).rejects.toMatchObject({ code: 'no_base_copy' });
      else await reset();
      expect(await server.dump('copy')).toBe(pristine);
    });

    itInFull('never uses or drops a database of somebody else that has the name of a base copy', async () => {
      await server.createDatabase('copy.tool-base');
      await server.sql('copy.tool-base', 'CREATE TABLE precious (id INT)');
      await load();
      await expect(load({ keepBase: true })).rejects.toMatchObject({ code: 'database_name_taken', exit: 5 });
      await expect(reset()).rejects.toMatchObject({ code: 'no_base_copy' });
      await expect(planDropCopies(contextWith(), { target: 'app' })).rejects.toMatchObject({ code: 'no_base_copy' });
      await server.sql('copy.tool-base', 'SELECT * FROM precious');
    });

    itInFull('--drop removes base copy and spare only', async () => {
      await load({ spare: true });
      const planned = await planDropCopies(contextWith(), { target: 'app' });
      expect(planned.plan.copies.map(({ database }) => database)).toEqual(['copy.tool-base', 'copy.tool-spare']);
      expect(await applyDropCopies(contextWith(), planned)).toMatchObject({
        dropped: ['copy.tool-spare', 'copy.tool-base'],
      });
      expect(await beside()).toEqual(['copy.tool-undo']);
      expect(await server.dump('copy')).toBe(pristine);
    });

    itInFull('is never possible for the source of another target, nor is a base copy', async () => {
      await load({ keepBase: true });
      const owner = { snapshot: { src_url: server.url('copy') }, allow_destination_of: ['app'] };
      const allowed = contextWith({}, { owner });
      await expect(load({ keepBase: true }, allowed)).rejects.toMatchObject({ code: 'base_copies_unsupported' });
      await expect(reset({}, allowed)).rejects.toMatchObject({ code: 'base_copies_unsupported' });
      const ofBase = contextWith({}, { owner: { snapshot: { src_url: server.url('copy.tool-base') } } });
      for (const run of [load, reset]) {
        await expect(run({}, ofBase)).rejects.toMatchObject({
          code: expect.stringMatching(/^(destination_is_source|sources_unverified)$/),
        });
      }
    });
  });
}
