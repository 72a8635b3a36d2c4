import { beforeAll, expect, it } from 'vitest';
import { readDefinitions } from '../../../src/engines/mysql/catalog/definitions/read-definitions.ts';
import { readInventory } from '../../../src/engines/mysql/catalog/introspect.ts';
import { constraintsOf } from '../../../src/engines/mysql/catalog/rights/stored-inventory.ts';
import { openSession } from '../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../src/engines/mysql/connection/url.ts';
import { checkRights, createSource, TABLES, VIEWS } from '../../helpers/mysql/mysql-rights.ts';
import { describeWithMysql, startMysql, testedFlavours } from '../../helpers/mysql/mysql-server.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const FLAVOURS = testedFlavours('mysql');
const LIMIT = 120_000;

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a build by a user whose rights hide objects' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));

    beforeAll(async () => {
      await createSource(server);
    }, LIMIT);

    const check = (user: string, grants: string[]) =>
      checkRights(server, { user, grants, workingDirectory: `${folder.path}/${user}` });

    it('derives the same constraints from definitions as information_schema lists for root', async () => {
      await server.createDatabase('types');
      for (const file of ['every-type', ...(flavour === 'mariadb' ? ['mariadb-only'] : [])]) {
        await server.file('types', new URL(`../../engines/mysql/fixtures/${file}.sql`, import.meta.url).pathname);
      }
      for (const database of ['types', 'app']) {
        await using session = await openSession({ url: parseMysqlUrl(server.url(database)) });
        const { tables } = await readDefinitions(session, database, () => {});
        const { constraint = [] } = await readInventory(session, database);
        expect(constraint.length).toBeGreaterThan(3);
        expect([...new Set(tables.flatMap(constraintsOf))].sort()).toEqual([...new Set(constraint)].sort());
      }
    });

    it(
      'announces all that SELECT alone does not show',
      async () => {
        const { refusals, hidden } = await check('reader', ['GRANT SELECT ON app.* TO USER']);
        expect(refusals).toEqual([]);
        expect(hidden).toMatchObject([
          { kind: 'trigger', names: [], right: 'TRIGGER' },
          { kind: 'routine', names: [] },
          { kind: 'event', names: [], right: 'EVENT' },
          { kind: 'view', names: [...VIEWS].sort(), right: 'SELECT, SHOW VIEW' },
        ]);
      },
      LIMIT,
    );

    it(
      'leaves out a view whose function is hidden, and keeps the others',
      async () => {
        const { hidden } = await check('viewer', ['GRANT SELECT, SHOW VIEW, TRIGGER, EVENT ON app.* TO USER']);
        expect(hidden).toMatchObject([
          { kind: 'routine', names: [] },
          { kind: 'view', names: ['of_function'] },
        ]);
      },
      LIMIT,
    );

    it(
      'knows that of two patterns the closer one counts alone',
      async () => {
        const { refusals } = await check('nearer', [
          'GRANT SELECT, SHOW VIEW, EVENT ON `a%`.* TO USER',
          'GRANT TRIGGER ON app.* TO USER',
        ]);
        expect(refusals).toHaveLength(1);
      },
      LIMIT,
    );

    it(
      'refuses a table of which only some columns are readable, and leaves out what tables without rights need',
      async () => {
        const rest = TABLES[flavour].filter((name) => name !== 'parent' && name !== 'child');
        const { refusals, hidden } = await check('partial', [
          'GRANT SELECT (id) ON app.child TO USER',
          ...rest.map((name) => `GRANT SELECT, TRIGGER ON app.\`${name.replaceAll('`', '``')}\` TO USER`),
          'GRANT SELECT, SHOW VIEW ON app.of_view TO USER',
        ]);
        expect(refusals).toEqual([`1 table of mysql://partial@127.0.0.1:${server.port}/app cannot be read`]);
        expect(hidden).toMatchObject([
          { kind: 'table', names: [] },
          ...(flavour === 'mariadb' ? [{ kind: 'sequence', names: [] }] : []),
          { kind: 'view', names: [] },
          { kind: 'trigger', names: [] },
          { kind: 'routine', names: [] },
          { kind: 'event', names: [] },
          { kind: 'view', names: ['of_view'] },
          { kind: 'foreign key', names: ['child.to_parent'] },
        ]);
      },
      LIMIT,
    );
  });
}
