import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { push } from '../../../src/operations/snapshots/transfer/push.ts';
import { verify } from '../../../src/operations/snapshots/verify/verify.ts';
import { createS3Store } from '../../../src/repository/s3/store.ts';
import { createLocks } from '../../../src/repository/store/locks.ts';
import type { Store } from '../../../src/repository/store/store.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import { startFaultProxy } from '../../helpers/storage/fault-proxy.ts';
import { type Machine, machine } from '../../helpers/storage/machine.ts';
import { describeWithS3, startS3 } from '../../helpers/storage/s3-server.ts';
import { startOperation } from '../../helpers/storage/storage-process.ts';
import { storeTables } from '../../helpers/storage/stored-snapshot.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const MEGABYTE = 1_000_000;
const ROUNDS = 10;

describeWithS3('a bucket that several use at once', () => {
  const server = suiteResource(() => startS3());
  const proxy = suiteResource(() => startFaultProxy(server.endpoint));
  let machines: Machine[];
  let store: Store;

  beforeEach(async () => {
    const profile = { ...(await server.bucket()), endpoint: proxy.endpoint };
    machines = await Promise.all(Array.from({ length: 3 }, () => machine({ profile })));
    store = await createS3Store({ name: 'team', profile, signal: new AbortController().signal });
  });

  afterEach(async () => {
    proxy.fault = () => null;
    for (const one of machines) await one[Symbol.asyncDispose]();
  });

  function snapshot(id: string, contents: Record<string, string | Uint8Array>) {
    return { target: 'app', id, created_at: `2026-01-0${id.slice(0, 1)}T00:00:00.000Z`, contents };
  }

  it('two pushes of what a removal would sweep, from three processes: each snapshot that is listed is whole', async () => {
    const [one, two, three] = machines as [Machine, Machine, Machine];
    for (let round = 0; round < ROUNDS; round += 1) {
      const shared = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`t${n}`, randomBytes(20_000)]));
      const ids = { old: `1a00000${round}`, first: `2b00000${round}`, second: `3c00000${round}` };
      await storeTables(three.directory, snapshot(ids.old, shared));
      await storeTables(one.directory, snapshot(ids.first, { ...shared, mine: randomBytes(100_000) }));
      await storeTables(two.directory, snapshot(ids.second, { ...shared, mine: randomBytes(100_000) }));
      await push(three.context, { target: 'app', snapshot: ids.old });
      const running = await Promise.all([
        startOperation(one, { operation: 'push', snapshot: ids.first }),
        startOperation(two, { operation: 'push', snapshot: ids.second }),
        startOperation(three, { operation: 'remove', snapshot: ids.old, days: 2 }),
      ]);
      for (const { ended } of running) expect(await ended).toEqual({ end: 0, output: '' });
      for (const id of [ids.first, ids.second]) {
        expect(await verify(three.context, { target: 'app', snapshot: id })).toMatchObject({ ok: true });
      }
    }
    expect((await listSnapshots(three.context, 'app')).snapshots).toHaveLength(3 * ROUNDS);
    expect(await store.list('locks')).toEqual([]);
  }, 180_000);

  it('a sweep gives way to a push, and a push waits for a sweep', async () => {
    const order: string[] = [];
    const { signal } = new AbortController();
    const report = (event: RunEvent): unknown => event.event === 'step' && order.push(event.label);
    const locks = createLocks(store, { signal, report });
    await locks.whilePushing(async () => {
      expect(await locks.whileSweeping(async () => 'swept')).toBeNull();
    });
    await locks.whileSweeping(async () => {
      const pushed = locks.whilePushing(async () => order.push('pushed'));
      while (order.length === 0) await store.list('locks');
      order.push('swept');
      void pushed.finally(() => order.push('end'));
    });
    while (!order.includes('end')) await store.list('locks');
    expect(order).toEqual([
      `Wait for a sweep of ${store.name}, at most 15 min if it was killed`,
      'swept',
      `Waited for a sweep of ${store.name}`,
      'pushed',
      'end',
    ]);
  });

  it('a push that is killed and done again sends little more than what was missing', {
    timeout: 180_000,
  }, async () => {
    const [one] = machines as [Machine];
    const contents = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`t${n}`, randomBytes(MEGABYTE)]));
    const { added_bytes } = await storeTables(one.directory, snapshot('1abcde01', contents));
    proxy.sent = 0;
    const { child, ended } = await startOperation(one, { operation: 'push', snapshot: '1abcde01' });
    proxy.fault = () => {
      if (proxy.sent > added_bytes / 2) child.kill('SIGKILL');
      return null;
    };
    expect(await ended).toMatchObject({ end: 'SIGKILL' });
    expect(await store.list('snapshots')).toEqual([]);
    proxy.fault = () => null;
    await push(one.context, { target: 'app' });
    expect(proxy.sent).toBeLessThan(1.1 * added_bytes + 8 * 1024 * 1024);
    expect(await verify(one.context, { target: 'app', remote: true })).toMatchObject({ ok: true, files: 60 });
  });

  it('a second push after one small table of forty has changed sends less than 2 % of the first', async () => {
    const [one] = machines as [Machine];
    const contents = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`t${n}`, randomBytes(50_000)]));
    await storeTables(one.directory, snapshot('1abcde01', contents));
    await storeTables(one.directory, snapshot('2abcde02', { ...contents, t7: 'changed\n' }));
    await push(one.context, { target: 'app', snapshot: '1abcde01' });
    const first = proxy.sent;
    proxy.sent = 0;
    await push(one.context, { target: 'app', snapshot: '2abcde02' });
    expect(proxy.sent / first).toBeLessThan(0.02);
  });

  it('an interrupted upload is aborted at once, and a killed one after a day', async () => {
    const [one] = machines as [Machine];
    await storeTables(one.directory, snapshot('1abcde01', { large: randomBytes(40 * MEGABYTE) }));
    const { child, ended } = await startOperation(one, { operation: 'push', snapshot: '1abcde01' });
    proxy.fault = ({ query }) => {
      if (query.includes('partNumber=3')) child.kill('SIGKILL');
      return null;
    };
    await ended;
    const { ListMultipartUploadsCommand } = await import('@aws-sdk/client-s3');
    const uploads = async () => {
      const found = await server.client.send(new ListMultipartUploadsCommand({ Bucket: one.profile.bucket }));
      return found.Uploads?.length ?? 0;
    };
    expect(await uploads()).toBe(1);
    await store.removeUnfinished(new Date(Date.now() - 60_000));
    expect(await uploads()).toBe(1);
    await store.removeUnfinished(new Date(Date.now() + 60_000));
    expect(await uploads()).toBe(0);

    const stopped = new AbortController();
    proxy.fault = ({ query }) => {
      if (query.includes('partNumber=3')) stopped.abort(new Error('stopped'));
      return null;
    };
    const context = { ...one.context, signal: stopped.signal };
    await expect(push(context, { target: 'app' })).rejects.toThrow('stopped');
    expect(await uploads()).toBe(0);
    expect(await store.list('locks')).toHaveLength(1);
  });
});
