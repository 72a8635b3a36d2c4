import { expect, it } from 'vitest';
import { annotate } from '../../src/operations/snapshots/annotate/annotate.ts';
import { findSnapshot, listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { push } from '../../src/operations/snapshots/transfer/push.ts';
import { createS3Store } from '../../src/repository/s3/store.ts';
import { mapWithConcurrency } from '../../src/runtime/map-with-concurrency.ts';
import { startFaultProxy } from '../helpers/storage/fault-proxy.ts';
import { machine } from '../helpers/storage/machine.ts';
import { describeWithS3, startS3 } from '../helpers/storage/s3-server.ts';
import { storeSnapshot } from '../helpers/storage/stored-snapshot.ts';
import { suiteResource } from '../helpers/suite-resource.ts';

const COUNT = process.env.TEST_FULL === '1' ? 10_000 : 1200;

describeWithS3(`a bucket of ${COUNT} snapshots`, () => {
  const server = suiteResource(() => startS3());
  const proxy = suiteResource(() => startFaultProxy(server.endpoint));

  it('is listed in few requests once this machine has read it; a change costs one more, and the newest snapshot few', {
    timeout: 900_000,
  }, async () => {
    const profile = await server.bucket();
    const behindProxy = { ...profile, endpoint: proxy.endpoint };
    await using first = await machine({ profile: behindProxy });
    await using second = await machine({ profile: behindProxy });
    const store = await createS3Store({ name: 'team', profile, signal: first.context.signal });
    const manifest = await storeSnapshot(first.directory, {
      ...{ target: 'app', id: '00000000', created_at: '2026-01-01T00:00:00.000Z', content: 'one\n' },
    });
    await push(first.context, { target: 'app' });
    const numbers = Array.from({ length: COUNT - 1 }, (_, index) => index + 1);
    await mapWithConcurrency(numbers, 16, async (number) => {
      const created_at = new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString();
      const id = String(number).padStart(8, '0');
      const time = created_at.replaceAll(/[-:.]/g, '');
      await store.write(`snapshots/app/${time}-${id}.json`, JSON.stringify({ ...manifest, id, created_at }));
    });
    const pages = Math.ceil(COUNT / 1000);
    const requests = async (): Promise<number> => {
      proxy.requests.length = 0;
      expect((await listSnapshots(second.context, 'app')).snapshots).toHaveLength(COUNT);
      return proxy.requests.length;
    };

    // What was read before an interruption is not read again.
    const stopped = new AbortController();
    proxy.fault = () => {
      if (proxy.requests.length > 200) stopped.abort(new Error('stopped'));
      return null;
    };
    proxy.requests.length = 0;
    const interrupted = listSnapshots({ ...first.context, signal: stopped.signal }, 'app', { timeoutMs: 600_000 });
    await expect(interrupted).rejects.toThrow('stopped');
    proxy.fault = () => null;
    proxy.requests.length = 0;
    expect((await listSnapshots(first.context, 'app', { timeoutMs: 600_000 })).snapshots).toHaveLength(COUNT);
    expect(proxy.requests.length).toBeLessThan(COUNT);
    expect(await requests()).toBe(pages + COUNT);
    expect(await requests()).toBe(pages);

    await annotate(first.context, { target: 'app', snapshot: 7, note: 'changed' });
    expect(await requests()).toBe(pages + 1);
    expect((await listSnapshots(second.context, 'app')).snapshots[7]?.note).toBe('changed');

    await using third = await machine({ profile: behindProxy });
    proxy.requests.length = 0;
    await findSnapshot(third.context, { target: 'app' });
    expect(proxy.requests.length).toBeLessThanOrEqual(pages + 16 + 1);
  });
});
