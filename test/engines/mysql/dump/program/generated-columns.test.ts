import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { build } from '../../../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../../../src/operations/load/load.ts';
import { applySanitize, planSanitize } from '../../../../../src/operations/sanitize/sanitize.ts';
import { localRepository } from '../../../../../src/operations/snapshots/local-repository.ts';
import { readRows } from '../../../../../src/operations/snapshots/rows/rows.ts';
import { findSnapshot } from '../../../../../src/operations/snapshots/snapshots.ts';
import type { RowsResult } from '../../../../../src/results/review/rows-results.ts';
import type { Context } from '../../../../../src/runtime/context.ts';
import { withPrograms } from '../../../../helpers/mysql/mysql-programs.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../../../helpers/mysql/mysql-server.ts';
import { temporaryFolder, testContext } from '../../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../../helpers/suite-resource.ts';

const COLUMNS = ['id', 'label', 'doubled', 'email', 'phone', 'remark', 'plain', 'date_of_birth'];
const PEOPLE = Array.from(
  { length: 40 },
  (_, id) => `(${id}, 'person-${id}@mail.example.org', '+49 30 ${1_000_000 + id * 7919}', '1970-01-31')`,
);

for (const flavour of testedFlavours('mariadb')) {
  describeWithMysql(flavour, { name: 'generated columns in a dump of the vendor program' }, () => {
    const server = suiteResource(() => startMysql(flavour));
    const folder = suiteResource(() => temporaryFolder());
    let context: Context;

    beforeAll(async () => {
      await server.createDatabase('source');
      await server.sql(
        'source',
        `CREATE TABLE person (id INT PRIMARY KEY, label INT AS (id + 1) STORED, doubled INT AS (id * 2) VIRTUAL,
          email VARCHAR(80), phone VARCHAR(40), remark VARCHAR(80), plain VARCHAR(80),
          date_of_birth DATE)`,
        `INSERT INTO person (id, email, phone, date_of_birth) VALUES ${PEOPLE.join(', ')}`,
      );
      const snapshot = { src_url: server.url('source'), dst_url: server.url('copy') };
      const sanitize = {
        override_query:
          "UPDATE person SET plain = email, email = CONCAT('p', id, '@example.com'), phone = NULL, date_of_birth = NULL",
      };
      const settings = {
        working_directory: join(folder.path, 'work'),
        targets: { app: { snapshot, program: true, sanitize } },
      };
      context = await withPrograms(testContext({ settings }), flavour, folder.path);
    }, 240_000);

    it('move no value to another column: personal ones stay masked', async () => {
      await build(context, { target: 'app' });
      const request = { target: 'app', table: 'source.person', limit: 1 };
      const named = ({ columns, rows: [row = []] }: RowsResult) =>
        Object.fromEntries(columns.map(({ name }, at) => [name, row[at]]));
      const rest = { id: '0', remark: null, plain: null };
      expect(named(await readRows(context, request))).toMatchObject({ ...rest, email: '***', phone: '***' });
      const revealed = { ...rest, email: 'person-0@mail.example.org', phone: '+49 30 1000000' };
      expect(named(await readRows(context, { ...request, reveal: true }))).toMatchObject(revealed);
    });

    /** As earlier versions have stored it: with all columns of the table, whatever the program has written. */
    async function nameAllColumns(): Promise<void> {
      const { manifest } = await findSnapshot(context, { target: 'app' });
      const [data] = Object.values(manifest.details.data as Record<string, { columns: string[] }>);
      data?.columns.splice(0, Infinity, ...COLUMNS);
      const { signature: _, ...unsigned } = manifest;
      await localRepository(context).write(unsigned);
    }

    it.each([false, true])(
      'do not shift the columns of the search for original values; as stored earlier: %s',
      async (isEarlier) => {
        await build(context, { target: 'app' });
        if (isEarlier) await nameAllColumns();
        const { coverage } = await applySanitize(
          context,
          await planSanitize(context, { target: 'app', snapshot: 0, ephemeral: true }),
        );
        const found = coverage.findings.map(({ column, original_values }) => ({ column, original_values }));
        expect(found).toEqual([{ column: 'source.person.plain', original_values: 40 }]);
      },
    );

    it('are loaded where their values have more digits than they hold', async () => {
      await server.createDatabase('thirds');
      await server.sql(
        'thirds',
        'CREATE TABLE third (id INT PRIMARY KEY, part DECIMAL(9,3) AS (id / 3) STORED)',
        'INSERT INTO third (id) VALUES (1), (2)',
      );
      const app = { snapshot: { src_url: server.url('thirds'), dst_url: server.url('copy') }, program: true };
      const settings = { ...context.configuration.settings, targets: { app } };
      const ofThirds = { ...context, configuration: { ...context.configuration, settings } };
      await build(ofThirds, { target: 'app' });
      await applyLoad(ofThirds, await planLoad(ofThirds, { target: 'app' }));
      expect(await server.sql('copy', 'SELECT * FROM third')).toEqual(
        await server.sql('thirds', 'SELECT * FROM third'),
      );
    });

    it('leave every value masked where they were stored as columns that the rows do not have', async () => {
      await build(context, { target: 'app' });
      await nameAllColumns();
      const { rows } = await readRows(context, { target: 'app', table: 'source.person', limit: 1 });
      // Personal by the name of its column only.
      expect(JSON.stringify(rows)).not.toContain('1970-01-31');
    });
  });
}
