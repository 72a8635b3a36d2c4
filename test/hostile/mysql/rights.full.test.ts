import { beforeAll, expect, it } from 'vitest';
import {
  checkRights,
  createSource,
  type RightsCase,
  routineGrant,
  TABLES,
  VIEWS,
} from '../../helpers/mysql/mysql-rights.ts';
import { describeWithMysql, startMysql, type TestFlavour } from '../../helpers/mysql/mysql-server.ts';
import { temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const FLAVOURS: TestFlavour[] = ['mariadb', 'mysql'];
const LIMIT = 600_000;
const RIGHTS = ['SELECT', 'SHOW VIEW', 'TRIGGER', 'EVENT', 'EXECUTE', 'ROUTINE'];

/** How a right reaches a user; the rights are those on a database. */
const WAYS: Record<string, (flavour: TestFlavour, rights: string) => string[]> = {
  database: (_, rights) => [`GRANT ${rights} ON app.* TO USER`],
  server: (_, rights) => [`GRANT ${rights} ON *.* TO USER`],
  pattern: (_, rights) => [`GRANT ${rights} ON \`%p_\`.* TO USER`],
  role: (flavour, rights) => [
    'DROP ROLE IF EXISTS seer',
    'CREATE ROLE seer',
    `GRANT ${rights} ON app.* TO seer`,
    'GRANT seer TO USER',
    `SET DEFAULT ROLE seer ${flavour === 'mysql' ? 'TO' : 'FOR'} USER`,
  ],
};

const without = (right: string): string[] => RIGHTS.filter((each) => each !== right);
/** Every choice of rights. */
const CHOICES = Array.from({ length: 2 ** RIGHTS.length }, (_, bits) =>
  RIGHTS.filter((_right, at) => (bits & (1 << at)) !== 0),
);
/** Each right alone, and all but each. */
const FEW = RIGHTS.flatMap((right) => [[right], without(right)]);

/** Choices of rights in several ways, and on single objects: each object without one of its rights, or without any. */
function casesOf(flavour: TestFlavour): RightsCase[] {
  const quoted = (name: string): string => `app.\`${name.replaceAll('`', '``')}\``;
  const isUsable = (rights: string[]): boolean => rights.some((right) => right !== 'ROUTINE');
  const ofDatabase = Object.entries(WAYS).flatMap(([way, grant]) =>
    (way === 'database' ? [...CHOICES, ['INSERT'], [...RIGHTS, 'INSERT']] : FEW).filter(isUsable).map((rights) => ({
      name: `${rights.join(', ')} by ${way}`,
      grants: [
        ...grant(flavour, rights.filter((right) => right !== 'ROUTINE').join(', ')),
        ...(rights.includes('ROUTINE') ? [routineGrant(flavour)] : []),
      ],
    })),
  );
  const rightsOn = (name: string): string[] => (VIEWS.includes(name) ? ['SELECT', 'SHOW VIEW'] : ['SELECT', 'TRIGGER']);
  const all = [...TABLES[flavour], ...VIEWS];
  const ofObjects = all.flatMap((lacking) =>
    [[], ...rightsOn(lacking).map((right) => [right])].map((left) => ({
      name: `${left.join(', ') || 'nothing'} on ${lacking}, all on the others`,
      grants: all.flatMap((name) => {
        const rights = name === lacking ? left : rightsOn(name);
        return rights.length === 0 ? [] : [`GRANT ${rights.join(', ')} ON ${quoted(name)} TO USER`];
      }),
    })),
  );
  const ofColumns = TABLES[flavour]
    .filter((name) => name !== 'counter')
    .map((lacking) => ({
      name: `columns of ${lacking}, all on the others`,
      grants: TABLES[flavour].map(
        (name) => `GRANT SELECT${name === lacking ? ' (id)' : ''} ON ${quoted(name)} TO USER`,
      ),
    }));
  return [...ofDatabase, ...ofObjects, ...ofColumns];
}

for (const flavour of FLAVOURS) {
  describeWithMysql(flavour, { name: 'a build by a user without some rights' }, () => {
    const folder = suiteResource(() => temporaryFolder());
    const server = suiteResource(() => startMysql(flavour));

    beforeAll(async () => {
      await createSource(server);
    }, LIMIT);

    it.each(casesOf(flavour).map((each, at) => ({ ...each, user: `user_${at}` })))(
      '$name: announces exactly what is missing, or names the GRANT',
      async ({ user, grants }) => {
        await expect(
          checkRights(server, { user, grants, workingDirectory: `${folder.path}/${user}` }),
        ).resolves.toMatchObject({ hidden: expect.any(Array) });
        await server.sql('', `DROP USER ${user}`);
      },
      LIMIT,
    );
  });
}
