import { beforeAll, expect, it } from 'vitest';
import { checkPostgresRights, createRightsSource } from '../../helpers/postgres/postgres-rights.ts';
import { describeWithPostgres, startPostgres, temporaryFolder } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

describeWithPostgres('a role that lacks a right on any object of any kind', () => {
  const folder = suiteResource(() => temporaryFolder());
  const server = suiteResource(() => startPostgres());
  let revocations: string[];

  beforeAll(async () => {
    revocations = await createRightsSource(server);
  }, 60_000);

  it('builds a complete snapshot or announces its gaps, or is refused with the SQL that helps', async () => {
    expect(revocations.length).toBeGreaterThan(80);
    const wrong: string[] = [];
    for (const [at, revoke] of revocations.entries()) {
      await checkPostgresRights(server, {
        database: `case_${at}`,
        revoke,
        workingDirectory: `${folder.path}/${at}`,
      }).catch((error) => wrong.push(`${revoke}: ${error.message}`));
    }
    expect(wrong).toEqual([]);
  });
});
