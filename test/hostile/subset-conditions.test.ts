import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { planSubset } from '../../src/operations/subset/subset.ts';
import { startAnyServer, testedKinds } from '../helpers/databases/any-server.ts';
import { describeWithKind } from '../helpers/databases/describe-with-kind.ts';
import { temporaryFolder, testContext } from '../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

for (const kind of testedKinds('mariadb')) {
  describeWithKind(kind, 'the condition of a subset', () => {
    const folder = suiteResource(() => temporaryFolder({ mode: 0o777 }));
    const server = suiteResource(() => startAnyServer(kind));

    beforeAll(async () => {
      await server.create('source');
      await server.run('source', ['CREATE TABLE t (id integer PRIMARY KEY)', 'INSERT INTO t VALUES (1), (2), (3)']);
    }, 240_000);

    async function rowsWhere(where: string) {
      const table = `${server.prefix('source')}.t`;
      const subset = {
        src_url: server.url('source'),
        dst_url: server.url('small'),
        subset_tables: [{ table, where }],
      };
      const context = testContext({
        settings: { working_directory: join(folder.path, 'work'), targets: { app: { subset } } },
      });
      const { plan } = await planSubset(context, { target: 'app', count: true });
      return plan.tables.find((row) => row.table === table)?.rows_expected;
    }

    it.each([
      'id > 1',
      "id = 1 OR 'a)' = ')'",
      'id IN (SELECT max(id) FROM t) -- the newest',
      "id > 1 /* ; */ AND 'it''s' <> ''",
    ])('may be %s', async (where) => {
      expect(await rowsWhere(where)).toBeGreaterThan(0);
    });

    it('is one expression, and nothing beside it is executed', async () => {
      const file = join(folder.path, 'written');
      const drop = 'DROP TABLE t';
      const hostile = [
        `true); ${drop}; --`,
        `true); ${drop}; SELECT * FROM t WHERE (true`,
        'true) UNION SELECT * FROM t WHERE (true',
        'id > 1; SELECT 1',
        `true)\n\\! touch ${file}\n--`,
        `true) \\! touch ${file}`,
        `true) \\g | touch ${file}`,
        `true /* \n\\! touch ${file}`,
        "true) --'\n; DROP TABLE t; --'",
        'id > (1',
        "id > '1",
        ...(kind === 'postgres'
          ? [`true); COPY (SELECT 1) TO PROGRAM 'touch ${file}'; --`, '$$ ) ; DROP TABLE t; --']
          : [
              'true) OR (true',
              `true /*!50000 ) ; ${drop}; -- */`,
              `true /*M!100000 ) INTO OUTFILE '${file}' -- */`,
              `true) INTO OUTFILE '${file}' -- `,
            ]),
      ];
      for (const where of hostile) {
        await expect(rowsWhere(where), where).rejects.toMatchObject({ code: 'subset_invalid' });
      }
      expect(await server.column('source', 'SELECT count(*) FROM t')).toEqual(['3']);
      expect(existsSync(file)).toBe(false);
    });
  });
}
