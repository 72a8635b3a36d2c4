import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithPostgres, startPostgres, type TestPostgres } from '../helpers/postgres/postgres-server.ts';
import { tryHistory } from '../helpers/postgres/random-history.ts';
import { trials } from '../helpers/trials.ts';

const part = trials('unchanged/postgres');

describeWithPostgres('random histories', () => {
  let server: TestPostgres;

  beforeAll(async () => {
    server = await startPostgres({ synchronous_commit: 'on', max_prepared_transactions: '20' });
  }, 60_000);

  afterAll(() => server?.stop());

  it(part.title('are proved unchanged only where they are'), { timeout: part.timeout }, async () => {
    let [ranges, unchanged] = [0, 0];
    await part.each(async (round) => {
      const tried = await tryHistory({ server, database: `app_${round.number}`, round });
      ranges += tried.ranges;
      unchanged += tried.unchanged;
    });
    // Otherwise nothing was tried.
    if (part.count > 0) expect(unchanged / ranges).toBeGreaterThan(0.1);
  });
});
