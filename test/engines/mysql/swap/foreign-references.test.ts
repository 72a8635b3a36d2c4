import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { applyUndo, planUndo } from '../../../../src/operations/undo/undo.ts';
import { describeWithMysql, startMysql, type TestFlavour, type TestMysql } from '../../../helpers/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres-server.ts';

const FLAVOURS: TestFlavour[] = ['mariadb', 'mysql'];
const NAME = 'Kopie-1';
const REFERENCE = 'billing-1.invoice: foreign key invoice_customer references customer';

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a destination that tables of another database reference' }, () => {
    let server: TestMysql;
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let context: ReturnType<typeof testContext>;

    beforeAll(async () => {
      folder = await temporaryFolder();
      server = await startMysql(flavour);
      await server.createDatabase('source');
      await server.createDatabase('billing-1');
      await server.sql('source', 'CREATE TABLE customer (id INT PRIMARY KEY)', 'INSERT INTO customer VALUES (1), (2)');
      const settings = {
        working_directory: join(folder.path, 'work'),
        targets: { app: { snapshot: { src_url: server.url('source'), dst_url: server.url(NAME) } } },
      };
      context = testContext({ settings });
      await build(context, { target: 'app' });
      await loadApp();
    }, 120_000);

    afterAll(async () => {
      await server?.stop();
      await folder?.[Symbol.asyncDispose]();
    });

    beforeEach(async () => {
      await server.sql(
        'billing-1',
        'DROP TABLE IF EXISTS invoice',
        `CREATE TABLE invoice (id INT PRIMARY KEY, customer INT, CONSTRAINT invoice_customer FOREIGN KEY (customer) REFERENCES \`${NAME}\`.customer (id))`,
        'INSERT INTO invoice VALUES (1, 1)',
      );
    });

    async function loadApp(options: { dropForeignReferences?: boolean } = {}) {
      return applyLoad(context, await planLoad(context, { target: 'app', ...options }));
    }

    it('is not loaded into, and the refusal lists them before anything is changed', async () => {
      const before = await server.databases();
      await expect(planLoad(context, { target: 'app' })).rejects.toMatchObject({
        code: 'foreign_reference',
        details: [REFERENCE],
      });
      expect(await server.databases()).toEqual(before);
    });

    it('loses them with the swap where the caller wants it; an undo is refused while there are new ones', async () => {
      const planned = await planLoad(context, { target: 'app', dropForeignReferences: true });
      expect(JSON.stringify(planned.plan)).toContain(REFERENCE);
      await applyLoad(context, planned);
      await server.sql('billing-1', 'INSERT INTO invoice VALUES (2, 1), (3, 77)');
      const [table] = await server.sql<Record<string, string>>('billing-1', 'SHOW CREATE TABLE invoice');
      expect(table?.['Create Table']).not.toContain('FOREIGN KEY');

      await server.sql('billing-1', 'DELETE FROM invoice WHERE id > 2');
      await server.sql(
        'billing-1',
        `ALTER TABLE invoice ADD CONSTRAINT invoice_again FOREIGN KEY (id) REFERENCES \`${NAME}\`.customer (id)`,
      );
      await expect(applyUndo(context, await planUndo(context, { target: 'app' }))).rejects.toMatchObject({
        code: 'foreign_reference',
      });
      await server.sql('billing-1', 'DROP TABLE invoice');
      await applyUndo(context, await planUndo(context, { target: 'app' }));
    });
  });
}
