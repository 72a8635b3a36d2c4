import { beforeAll, expect, it } from 'vitest';
import { connectToServer } from '../../../src/engines/postgres/connection/connect.ts';
import { parsePostgresUrl } from '../../../src/engines/postgres/connection/url.ts';
import { createDatabase, markNew } from '../../../src/engines/postgres/server/new-database.ts';
import { applyBranchCreate, planBranchCreate } from '../../../src/operations/branch/create/create.ts';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { applyReset, planReset } from '../../../src/operations/reset/reset.ts';
import { asData } from '../../helpers/fakes/as-data.ts';
import {
  describeWithPostgres,
  psqlAt,
  startPostgres,
  temporaryFolder,
  testContext,
} from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

/** Read while a load fills the database. */
const SEEN = `CREATE TABLE person (id integer); CREATE MATERIALIZED VIEW seen AS
  SELECT has_database_privilege('guest', current_database(), 'CONNECT') AS enters,
    has_database_privilege('guest', current_database(), 'TEMPORARY') AS creates`;
const DEFAULT = 'owner=CTc,=Tc';

describeWithPostgres('the shadow database of a load', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(async () => {
    const started = await startPostgres();
    await started.psql('postgres', {
      sql: `CREATE ROLE guest LOGIN PASSWORD 'guest'; CREATE ROLE plain LOGIN CREATEDB PASSWORD 'plain'`,
    });
    await started.createDatabase('source');
    await started.psql('source', { sql: SEEN });
    return started;
  });

  beforeAll(async () => void (await build(contextFor('copy', null), { target: 'app' })), 60_000);

  const urlAs = (user: string, database: string) => server.url(database).replace(/\/\/[^@]*@/, `//${user}:${user}@`);

  const contextFor = (destination: string, user: string | null) => {
    const dst_url = user === null ? server.url(destination) : urlAs(user, destination);
    const app = { snapshot: { src_url: server.url('source'), dst_url } };
    return testContext({ settings: { working_directory: folder.path, targets: { app } } });
  };

  /** The grants of a database as the server applies them. */
  const grantsOf = async (database: string) => {
    const sql = `SELECT string_agg(replace(split_part(a::text, '/', 1), pg_get_userbyid(datdba) || '=', 'owner='), ',' ORDER BY a::text = '' , a::text DESC)
      FROM pg_database d, unnest(coalesce(datacl, acldefault('d', datdba))) a WHERE datname = '${database}'`;
    return (await server.psql('postgres', { sql })).trim();
  };

  async function load(destination: string, user: string | null = null) {
    const context = contextFor(destination, user);
    await applyLoad(context, await planLoad(context, { target: 'app', cpus: 1, keepBase: true }));
    return (await server.psql(destination, { sql: 'SELECT enters, creates FROM seen' })).trim();
  }

  it('refuses all roles before its mark, and then all but its owner', async () => {
    await using session = await connectToServer(
      testContext({ settings: {} }),
      parsePostgresUrl(urlAs('plain', 'absent')),
    );
    const enter = (user: string) => psqlAt(urlAs(user, 'shadow'), { sql: 'SELECT 1' });
    await createDatabase(session, { name: 'shadow', locale: null, major: 15 });
    for (const user of ['guest', 'plain']) await expect(enter(user)).rejects.toThrow('not currently accepting');
    await markNew(session, 'shadow', { of: 'absent', admits: 'owner' });
    await expect(enter('guest')).rejects.toThrow('permission denied');
    expect((await enter('plain')).trim()).toBe('1');
    await server.psql('postgres', { sql: 'DROP DATABASE shadow' });
  });

  it.each([null, 'plain'])(
    'refuses other roles while it is filled, and a new destination has the grants of the server (%s)',
    async (user) => {
      const destination = `new_${user}`;
      expect(await load(destination, user)).toBe('f|f');
      expect(await grantsOf(destination)).toBe(DEFAULT);
      expect(await server.dump(destination, '--create')).not.toMatch(/GRANT|REVOKE/);
      // The same again, with a destination.
      expect(await load(destination, user)).toBe('f|f');
      expect(await grantsOf(destination)).toBe(DEFAULT);
    },
  );

  it('leaves the destination, its resets and branches with the grants of the destination', async () => {
    await server.createDatabase('copy', 'plain');
    await server.psql('postgres', {
      sql: `REVOKE ALL ON DATABASE copy FROM PUBLIC; GRANT TEMPORARY ON DATABASE copy TO guest`,
    });
    const grants = await grantsOf('copy');
    expect(grants).toBe('owner=CTc,guest=T');
    for (const user of [null, 'plain']) {
      expect(await load('copy', user)).toBe('f|f');
      expect(await grantsOf('copy')).toBe(grants);
      const context = contextFor('copy', user);
      await applyReset(context, asData(await planReset(context, { target: 'app', copy: true })));
      expect(await grantsOf('copy')).toBe(grants);
      const name = `by_${user}`;
      await applyBranchCreate(context, await planBranchCreate(context, { target: 'app', name }));
      expect(await grantsOf(`copy_${name}`)).toBe(grants);
    }
  });

  it('admits a role that its own settings make another one, without its rights', async () => {
    await server.psql('postgres', {
      sql: `CREATE ROLE login LOGIN NOINHERIT IN ROLE plain PASSWORD 'login'; ALTER ROLE login SET role = plain`,
    });
    for (const _ of ['new', 'again']) {
      expect(await load('set_role', 'login')).toBe('f|f');
      expect(await grantsOf('set_role')).toMatch(/owner=CTc.*,=Tc/);
    }
  });
});
