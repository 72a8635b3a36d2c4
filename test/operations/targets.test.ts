import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkTarget, listTargets } from '../../src/operations/targets.ts';
import { describeWithPostgres, startPostgres, type TestPostgres, testContext } from '../helpers/postgres-server.ts';

describeWithPostgres('the state of a target', () => {
  let server: TestPostgres;
  const silent = createServer();

  beforeAll(async () => {
    server = await startPostgres();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });

  afterAll(async () => {
    silent.close();
    await server?.stop();
  });

  async function check(src_url: string) {
    return checkTarget(testContext({ settings: { targets: { app: { snapshot: { src_url } } } } }), 'app');
  }

  it('is ok, with latency, version and size, when its database answers', async () => {
    const row = await check(server.url('postgres'));
    expect(row).toMatchObject({ status: 'ok', engine: 'postgres', error: null, snapshots: 0 });
    expect(row.latency_ms).toBeGreaterThan(0);
    expect(row.size_bytes).toBeGreaterThan(1_000_000);
    expect(row.server_version).toMatch(/^\d+\.\d+$/);
  });

  it('is missing, denied or unreachable, with the reason, when it does not', async () => {
    expect(await check(server.url('nowhere'))).toMatchObject({
      status: 'missing',
      error: expect.stringContaining('nowhere'),
    });
    const wrong = server.url('postgres').replace(/:[^:@]+@/, ':wrong@');
    expect(await check(wrong)).toMatchObject({ status: 'denied', error: expect.not.stringContaining('wrong@') });
    expect(await check('postgres://u@127.0.0.1:1/d')).toMatchObject({ status: 'unreachable' });
  });

  it('is unreachable after a bounded time when its server accepts and says nothing', async () => {
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const row = await check(`postgres://u@127.0.0.1:${port}/d`);
    expect(row).toMatchObject({ status: 'unreachable', error: 'no answer within 5 s' });
  }, 20_000);

  it('shows no password, and is unchecked, in a list that touches no network', async () => {
    const src_url = server.url('postgres');
    const rows = await listTargets(
      testContext({ settings: { targets: { app: { name: 'App', snapshot: { src_url } } } } }),
    );
    expect(rows).toMatchObject([{ name: 'app', title: 'App', type: 'local', status: 'unchecked' }]);
    expect(JSON.stringify(rows)).not.toContain(new URL(src_url).password);
  });
});
