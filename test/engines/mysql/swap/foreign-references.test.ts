import { join } from 'node:path';
import { beforeAll, beforeEach, expect, it } from 'vitest';
import { build } from '../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../src/operations/load/load.ts';
import { applyUndo, planUndo } from '../../../../src/operations/undo/undo.ts';
import { UserError } from '../../../../src/runtime/errors.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

const FLAVOURS = testedFlavours('mysql');
const NAME = 'Kopie-1';
const REFERENCE = 'billing-1.invoice: foreign key invoice_customer references customer';

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a destination that tables of another database reference' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));
    let context: ReturnType<typeof testContext>;

    beforeAll(async () => {
      await server.createDatabase('source');
      await server.createDatabase('billing-1');
      await server.sql('source', 'CREATE TABLE customer (id INT PRIMARY KEY)', 'INSERT INTO customer VALUES (1), (2)');
      const settings = {
        working_directory: join(folder.path, 'work'),
        targets: { app: { snapshot: { src_url: server.url('source'), dst_url: server.url(NAME) } } },
      };
      context = testContext({ settings });
      await build(context, { target: 'app' });
      await applyLoad(context, await planLoad(context, { target: 'app' }));
      await applyLoad(context, await planLoad(context, { target: 'app' }));
    }, 120_000);

    beforeEach(async () => {
      await server.sql(
        'billing-1',
        'DROP TABLE IF EXISTS invoice',
        `CREATE TABLE invoice (id INT PRIMARY KEY, customer INT, CONSTRAINT invoice_customer FOREIGN KEY (customer) REFERENCES \`${NAME}\`.customer (id))`,
        'INSERT INTO invoice VALUES (1, 1)',
      );
    });

    it('is not loaded into, and the refusal lists them before anything is changed', async () => {
      const before = await server.databases();
      await expect(planLoad(context, { target: 'app' })).rejects.toMatchObject({
        code: 'foreign_reference',
        details: [REFERENCE],
      });
      expect(await server.databases()).toEqual(before);
    });

    it('is not undone either, until they are dropped as the refusal shows', async () => {
      const refused = await planUndo(context, { target: 'app' })
        .then((planned) => applyUndo(context, planned))
        .catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'foreign_reference', details: [REFERENCE] });
      const [statement = ''] = /ALTER TABLE .*$/.exec(refused instanceof UserError ? (refused.hint ?? '') : '') ?? [];
      await server.sql('billing-1', statement);
      await applyLoad(context, await planLoad(context, { target: 'app' }));
      await applyUndo(context, await planUndo(context, { target: 'app' }));
    });
  });
}
