import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkPostgresRights, createRightsSource } from '../../helpers/postgres/postgres-rights.ts';
import {
  describeWithPostgres,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
} from '../../helpers/postgres/postgres-server.ts';

describeWithPostgres('a role that lacks a right on any object of any kind', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let revocations: string[];

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startPostgres();
    revocations = await createRightsSource(server);
  }, 60_000);

  afterAll(async () => {
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  it('builds a snapshot that is whole or announces what it lacks, or is refused with the SQL that helps', async () => {
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
