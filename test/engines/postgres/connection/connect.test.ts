import { expect, it } from 'vitest';
import { connect } from '../../../../src/engines/postgres/connection/connect.ts';
import { parsePostgresUrl } from '../../../../src/engines/postgres/connection/url.ts';
import { describeWithPostgres, startPostgres, testContext } from '../../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../../helpers/suite-resource.ts';

describeWithPostgres('a refused connection', () => {
  const server = suiteResource(() => startPostgres());

  it.each([
    ['a connection of its own', {}],
    ['psql', { mounts: [] }],
  ])('is reported by %s in the same words', async (_, options) => {
    const url = parsePostgresUrl(server.url('postgres').replace(/:[^:@/]*@/, ':wrong@'));
    await expect(connect(testContext({ settings: {} }), url, options)).rejects.toMatchObject({
      details: [
        `connection to server at "127.0.0.1", port ${server.port} failed: FATAL:  password authentication failed for user "postgres"`,
      ],
    });
  });
});
