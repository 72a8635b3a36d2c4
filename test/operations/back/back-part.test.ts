import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { applyBack, type BackRequest, planBack } from '../../../src/operations/back/back.ts';
import { backOperation } from '../../../src/operations/back/operation.ts';
import { build } from '../../../src/operations/build/build.ts';
import { readChanges } from '../../../src/operations/changes/changes.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applySave, planSave } from '../../../src/operations/save/save.ts';
import { applyUndo, planUndo } from '../../../src/operations/undo/undo.ts';
import type { Context } from '../../../src/runtime/context.ts';
import { type AnyServer, SERVER_KINDS, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { asData } from '../../helpers/fakes/as-data.ts';
import { itIf } from '../../helpers/it-if.ts';
import { temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';

const FILL = [
  'CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(64))',
  "INSERT INTO customer VALUES (1, 'Ada'), (2, 'Bea'), (3, 'Cy')",
  'CREATE TABLE orders (id INT PRIMARY KEY, customer INT, amount INT, FOREIGN KEY (customer) REFERENCES customer (id) ON DELETE CASCADE)',
  'INSERT INTO orders VALUES (1, 1, 10), (2, 2, 20), (3, 1, 30)',
  'CREATE TABLE pair (a INT, b INT, PRIMARY KEY (a, b))',
  'INSERT INTO pair VALUES (1, 2)',
];
const CHANGES = [
  'UPDATE orders SET amount = 99 WHERE id = 1',
  'DELETE FROM orders WHERE id = 2',
  'INSERT INTO orders VALUES (4, 3, 40)',
  "UPDATE customer SET name = 'Eve' WHERE id = 1",
];

for (const kind of process.env.TEST_FULL ? SERVER_KINDS : (['postgres', 'mariadb'] as const)) {
  describeWithKind(kind, 'a return of rows', () => {
    const isPostgres = kind === 'postgres';
    let server: AnyServer;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;

    beforeAll(async () => {
      [server, folder] = await Promise.all([startAnyServer(kind), temporaryFolder()]);
      await server.create('source');
      await server.run('source', FILL);
      await build(contextWith(), { target: 'app' });
      await applyLoad(contextWith(), await planLoad(contextWith(), { target: 'app' }));
    }, 60_000);

    beforeEach(async () => {
      await server.run('copy', [
        'DELETE FROM orders',
        'DELETE FROM customer',
        FILL[1] ?? '',
        FILL[3] ?? '',
        ...CHANGES,
      ]);
    });

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    function contextWith(): Context {
      const app = { snapshot: { src_url: server.url('source'), dst_url: server.url('copy') } };
      const settings = { working_directory: join(folder.path, 'work'), targets: { app } };
      return testContext({ settings: { ...settings, saves: { keep: 20, max_duration: 10, before: [] } } });
    }

    const named = (table: string): string => `${server.prefix('source')}.${table}`;
    const plan = (request: Partial<BackRequest>) =>
      planBack(contextWith(), { target: 'app', point: 'load', ...request });
    const orders = () => server.column('copy', "SELECT CONCAT(id, ' ', customer, ' ', amount) FROM orders ORDER BY id");
    const name = async () => (await server.column('copy', 'SELECT name FROM customer WHERE id = 1'))[0];

    it('restores the rows of tables as they were, tells how many, and changes nothing else', async () => {
      const planned = asData(await plan({ tables: [named('orders')] }));
      expect(planned.plan.part).toEqual({ tables: [{ table: named('orders'), insert: 1, update: 1, delete: 1 }] });
      const { facts, title } = backOperation.question(planned.plan, new Date());
      expect(title).toBe('Return rows of 1 table of app to the last load');
      expect(facts[0]).toMatchObject({ value: `${named('orders')}: insert 1 row, update 1, delete 1` });
      await server.writer('copy', async (execute) => {
        await execute('SELECT 1');
        await applyBack(contextWith(), planned);
        // The session goes on.
        await execute('SELECT 2');
      });
      expect(await orders()).toEqual(['1 1 10', '2 2 20', '3 1 30']);
      expect(await name()).toBe('Eve');
      expect((await readChanges(contextWith(), { target: 'app' })).tables.map(({ table }) => table)).toEqual([
        named('customer'),
      ]);
      await applyUndo(contextWith(), await planUndo(contextWith(), { target: 'app' }));
      expect(await orders()).toEqual(['1 1 99', '3 1 30', '4 3 40']);
      expect((await readChanges(contextWith(), { target: 'app' })).tables).toHaveLength(2);
    });

    it('is of a save as well', async () => {
      await applySave(contextWith(), await planSave(contextWith(), { target: 'app', name: 'changed' }));
      await server.run('copy', ['DELETE FROM orders']);
      // Saves of MySQL name the destination.
      const planned = asData(await plan({ point: 'changed', tables: ['*orders'] }));
      expect(planned.plan).toMatchObject({ point: 'changed', part: { tables: [{ insert: 3, update: 0, delete: 0 }] } });
      await applyBack(contextWith(), planned);
      expect(await orders()).toEqual(['1 1 99', '3 1 30', '4 3 40']);
      await expect(plan({ point: 'previous', tables: ['*'] })).rejects.toMatchObject({ code: 'flag_needs_flag' });
    });

    it('is refused where rows would reference none, and names them', async () => {
      await server.run('copy', [
        'INSERT INTO customer VALUES (4, NULL)',
        'UPDATE orders SET customer = 4 WHERE id = 3',
      ]);
      const planned = await plan({ tables: [named('customer')] });
      await expect(applyBack(contextWith(), planned)).rejects.toMatchObject({
        code: 'rows_would_dangle',
        details: [expect.stringMatching(/orders \(customer\) → .*customer: 1 row, foreign key .*: 3$/)],
      });
      expect(await orders()).toEqual(['1 1 99', '3 4 30', '4 3 40']);
      expect(await name()).toBe('Eve');
    });

    it('is refused for tables that are defined otherwise', async () => {
      await server.run('copy', ['ALTER TABLE pair ADD more INT']);
      await expect(plan({ tables: [named('pair')] })).rejects.toMatchObject({ code: 'definitions_differ' });
      await server.run('copy', ['ALTER TABLE pair DROP more']);
    });

    itIf(isPostgres)('is of single rows by their keys', async () => {
      const planned = asData(await plan({ tables: [named('orders')], rows: ['01', '4', '77'] }));
      expect(planned.plan).toMatchObject({
        part: { tables: [{ insert: 0, update: 1, delete: 1 }], rows: ['1', '4', '77'] },
        load: { only_rows: { tables: [{ rows_before: 2, rows: 1 }] } },
      });
      await applyBack(contextWith(), planned);
      expect(await orders()).toEqual(['1 1 10', '3 1 30']);
      await applyUndo(contextWith(), await planUndo(contextWith(), { target: 'app' }));
      expect(await orders()).toEqual(['1 1 99', '3 1 30', '4 3 40']);
    });

    it('refuses keys that are not of one column, or of no number', async () => {
      const composite = plan({ tables: [named('pair')], rows: ['1'] });
      await expect(composite).rejects.toMatchObject({ code: 'rows_not_replaceable' });
      if (!isPostgres) return;
      await expect(plan({ tables: [named('orders')], rows: ['x'] })).rejects.toMatchObject({ code: 'usage' });
      await expect(plan({ rows: ['1'] })).rejects.toMatchObject({ code: 'flag_needs_flag' });
    });
  });
}
