import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refreshInThread } from '../../../src/operations/refresh-thread.ts';
import { checkTarget, listTargets } from '../../../src/operations/targets/targets.ts';
import type { TargetRow } from '../../../src/results/results.ts';
import { describeWithPostgres, startPostgres, testContext } from '../../helpers/postgres/postgres-server.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

describeWithPostgres('the state of a target', () => {
  const server = suiteResource(() => startPostgres());
  const silent = createServer();

  beforeAll(async () => {
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  });

  afterAll(async () => {
    silent.close();
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

  describe('in a thread of its own', () => {
    let cwd: string;

    beforeAll(async () => {
      cwd = await mkdtemp(join(tmpdir(), 'tool-thread-'));
    });

    afterAll(() => rm(cwd, { recursive: true }));

    async function refresh(configuration: string, signal = new AbortController().signal) {
      const config = join(cwd, 'own.yml');
      await writeFile(config, configuration, { mode: 0o600 });
      const found = new Map<string, TargetRow>();
      const listed: string[] = [];
      const done = refreshInThread({
        place: { config, environment: { ...process.env, HOME: cwd }, cwd, debug: false },
        signal,
        configurationRead: ({ file }) => listed.push(file ?? 'none'),
        listed(rows) {
          listed.push(...rows.map(({ name }) => name));
          return rows.toReversed();
        },
        take: (row) => found.set(row.name, row),
      });
      return { done, found, listed };
    }

    const targets = (urls: string[]) =>
      [
        `working_directory: ${cwd}/work`,
        `secret_key: ${'a'.repeat(32)}`,
        'targets:',
        ...urls.map((url, index) => `  t${index}:\n    snapshot: { src_url: "${url}" }`),
      ].join('\n');

    it('is what it is in the present one', async () => {
      const urls = [server.url('postgres'), server.url('nowhere'), 'postgres://u@127.0.0.1:1/d'];
      const { done, found, listed } = await refresh(targets(urls));
      expect(await done).toBe(true);
      expect(listed).toEqual([join(cwd, 'own.yml'), 't0', 't1', 't2']);
      const states = ['t0', 't1', 't2'].map((name) => found.get(name));
      expect(states.map((row) => row?.status)).toEqual(['ok', 'missing', 'unreachable']);
      expect(states[0]?.size_bytes).toBeGreaterThan(1_000_000);
    });

    it('is left to the present one when the configuration cannot be read', async () => {
      const { done, listed } = await refresh('targets: [');
      expect(await done).toBe(false);
      expect(listed).toEqual([]);
    });

    it('ends when it is cancelled', async () => {
      const address = silent.address();
      const port = typeof address === 'object' ? address?.port : 0;
      const controller = new AbortController();
      silent.once('connection', () => controller.abort(new Error('cancelled')));
      const { done } = await refresh(targets([`postgres://u@127.0.0.1:${port}/d`]), controller.signal);
      await expect(done).rejects.toThrow('cancelled');
    });
  });
});
