import { randomBytes } from 'node:crypto';
import { globSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { applyPrune, planPrune } from '../../../src/operations/prune/prune.ts';
import { applyRemove, planRemove } from '../../../src/operations/remove/remove.ts';
import { annotate } from '../../../src/operations/snapshots/annotate/annotate.ts';
import { listSnapshots } from '../../../src/operations/snapshots/snapshots.ts';
import { pull } from '../../../src/operations/snapshots/transfer/pull.ts';
import { push } from '../../../src/operations/snapshots/transfer/push.ts';
import { verify } from '../../../src/operations/snapshots/verify/verify.ts';
import type { BucketProfile } from '../../../src/repository/s3/connection.ts';
import { createS3Store } from '../../../src/repository/s3/store.ts';
import type { Store } from '../../../src/repository/store/store.ts';
import { type Machine, machine } from '../../helpers/storage/machine.ts';
import { describeWithS3, startS3 } from '../../helpers/storage/s3-server.ts';
import { storeTables } from '../../helpers/storage/stored-snapshot.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';

const DAY = 24 * 60 * 60 * 1000;

describeWithS3('prune and rm', () => {
  const server = suiteResource(() => startS3());
  let profile: BucketProfile;
  let here: Machine;
  let store: Store;

  beforeEach(async () => {
    profile = await server.bucket();
    here = await machine({ profile });
    store = await createS3Store({ name: 'team', profile, signal: here.context.signal });
    const shared = randomBytes(50_000);
    for (const n of [1, 2, 3]) {
      const contents = { shared, own: randomBytes(n * 10_000) };
      await storeTables(here.directory, {
        target: 'app',
        id: `${n}`.repeat(8),
        created_at: `2026-01-0${n}T00:00:00.000Z`,
        contents,
      });
      await push(here.context, { target: 'app' });
    }
  });

  afterEach(() => here[Symbol.asyncDispose]());

  const later = ({ context }: Machine) => ({ ...context, clock: () => new Date(Date.now() + 2 * DAY) });
  const ids = async (): Promise<Record<string, string>> => {
    const { snapshots } = await listSnapshots(here.context, 'app');
    return Object.fromEntries(snapshots.map(({ id, where }) => [id, where.join('+')]));
  };
  const objectsHere = () => globSync(`${here.directory}/objects/*/*`).length;

  it('removes here and in the bucket what no rule keeps, and what only that needed', async () => {
    const planned = await planPrune(later(here), { keep: { last: 1 } });
    const { plan } = planned;
    expect(plan.targets).toMatchObject([
      { target: 'app', keep: [{ id: '33333333' }], remove: [{ id: '22222222' }, { id: '11111111' }] },
    ]);
    expect(plan.frees_bytes).toBeGreaterThan(2 * 30_000);
    expect(plan.frees_bytes).toBeLessThan(2 * 31_000);
    expect(await ids()).toHaveProperty('11111111');
    await applyPrune(later(here), planned);
    expect(await ids()).toEqual({ '33333333': 'local+remote' });
    expect([objectsHere(), (await store.list('objects')).length]).toEqual([2, 2]);
    for (const remote of [false, true]) {
      expect(await verify(here.context, { target: 'app', remote })).toMatchObject({ ok: true });
    }
  });

  it('neither counts nor removes a snapshot of the future, or of a key that is not trusted', async () => {
    const contents = { own: randomBytes(1000) };
    await storeTables(here.directory, {
      target: 'app',
      id: '99999999',
      created_at: '2126-01-01T00:00:00.000Z',
      contents,
    });
    const { plan } = await planPrune(later(here), { keep: { last: 1 } });
    const idsOf = (rows: { id: string }[] = []) => rows.map(({ id }) => id).sort();
    expect(idsOf(plan.targets[0]?.keep)).toEqual(['33333333', '99999999']);
    expect(idsOf(plan.targets[0]?.remove)).toEqual(['11111111', '22222222']);
    const { configuration } = here.context;
    const trusted_keys = [`ed25519-${'A'.repeat(43)}=`];
    const strict = { ...configuration, settings: { ...configuration.settings, trusted_keys } };
    const none = await planPrune({ ...later(here), configuration: strict }, { keep: { last: 1 } });
    expect(idsOf(none.plan.targets[0]?.remove)).toEqual([]);
  });

  it('counts an original and what was made of it as one', async () => {
    const [newest] = await here.repository.list('app');
    if (!newest) throw new Error('there is none');
    const sibling = { ...newest, id: 'aaaa4444', sanitized: true, sanitized_of: newest.id };
    await here.repository.write({ ...sibling, sanitized_at: '2026-01-04T00:00:00.000Z' });
    const { plan } = await planPrune(later(here), { keep: { last: 2 } });
    expect(plan.targets).toMatchObject([
      { keep: [{ id: 'aaaa4444' }, { id: '33333333' }, { id: '22222222' }], remove: [{ id: '11111111' }] },
    ]);
  });

  it('keeps what is pinned, on either side, and refuses a plan from before the pin', async () => {
    const planned = await planPrune(later(here), { keep: { last: 1 } });
    const removal = await planRemove(here.context, { target: 'app', snapshot: '22222222' });
    // By somebody else: the local manifest has no pin.
    await annotate(here.context, { target: 'app', snapshot: '22222222', pinned: true });
    const [unpinned] = (await here.repository.list('app')).filter(({ id }) => id === '22222222');
    if (!unpinned) throw new Error('there is none');
    const { pinned: _, ...local } = unpinned;
    await here.repository.write(local);
    await annotate(here.context, { target: 'app', snapshot: '22222222', note: 'kept' });
    await here.repository.write(local);

    const outdated = { code: 'plan_outdated', exit: 5 };
    await expect(applyPrune(later(here), planned)).rejects.toMatchObject(outdated);
    await expect(applyRemove(later(here), removal)).rejects.toMatchObject(outdated);
    await applyPrune(later(here), await planPrune(later(here), { keep: { last: 1 } }));
    expect(await ids()).toEqual({ '33333333': 'local+remote', '22222222': 'local+remote' });

    const request = { target: 'app', snapshot: '22222222' };
    await expect(planRemove(here.context, request)).rejects.toMatchObject({ code: 'snapshot_pinned', exit: 5 });
    const chosen = { target: 'app', keep: {}, remove: ['33333333', '22222222'] };
    await expect(planPrune(here.context, chosen)).rejects.toMatchObject({ code: 'snapshot_pinned', exit: 5 });
    await applyRemove(here.context, await planRemove(here.context, { ...request, pinned: true }));
    expect(await ids()).toEqual({ '33333333': 'local+remote' });
    const rest = await planPrune(later(here), { ...chosen, remove: ['33333333'] });
    expect(rest.plan.targets).toMatchObject([{ remove: [{ id: '33333333' }], keep: [] }]);
    await applyPrune(later(here), rest);
    expect(await ids()).toEqual({});
  });

  it('frees nothing that is younger than a day, and the next removal does', async () => {
    await applyPrune(here.context, await planPrune(here.context, { target: 'app', keep: { last: 1 } }));
    expect(await ids()).toEqual({ '33333333': 'local+remote' });
    expect([objectsHere(), (await store.list('objects')).length]).toEqual([4, 4]);
    await applyRemove(later(here), await planRemove(here.context, { target: 'app', snapshot: '33333333' }));
    expect([objectsHere(), (await store.list('objects')).length]).toEqual([0, 0]);
  });

  it('removes from one place only, when told so', async () => {
    const [local, remote] = ['local', 'remote'] as const;
    await applyRemove(
      later(here),
      await planRemove(here.context, { target: 'app', snapshot: '11111111', from: local }),
    );
    await applyPrune(later(here), await planPrune(here.context, { keep: { last: 2 }, from: remote }));
    expect(await ids()).toEqual({ '33333333': 'local+remote', '22222222': 'local+remote' });
    await applyPrune(later(here), await planPrune(here.context, { keep: { last: 1 }, from: local }));
    expect(await ids()).toEqual({ '33333333': 'local+remote', '22222222': 'remote' });
    await pull(here.context, { target: 'app', snapshot: '22222222' });
    expect(await verify(here.context, { target: 'app', snapshot: '22222222' })).toMatchObject({ ok: true });
  });

  it('a share target removes nothing from the bucket, and is not pruned', async () => {
    await expect(
      planRemove(here.context, { target: 'shared', snapshot: 0, original: true, from: 'remote' }),
    ).rejects.toMatchObject({ code: 'snapshot_not_here', exit: 2 });
    expect(await planRemove(here.context, { target: 'shared', snapshot: 0, original: true })).toMatchObject({
      plan: { from: ['local'] },
    });
    const pruning = planPrune(here.context, { target: 'shared', keep: { last: 1 } });
    await expect(pruning).rejects.toMatchObject({ code: 'target_shares', exit: 2 });
  });

  it('a prune that is not told what to keep is refused', async () => {
    await expect(planPrune(here.context, { keep: {} })).rejects.toMatchObject({ code: 'keep_missing', exit: 2 });
  });

  it('only the named one of a sanitized snapshot and its original is removed', async () => {
    const original = (await here.repository.list('app'))[0];
    if (!original) throw new Error('there is none');
    await here.repository.write({ ...original, id: 'aaaa4444', sanitized: true });
    await applyRemove(here.context, await planRemove(here.context, { target: 'app', snapshot: 'aaaa4444' }));
    expect((await here.repository.list('app')).map(({ id }) => id)).toEqual(['33333333', '22222222', '11111111']);
  });

  it('a sweep takes nothing while a manifest in the bucket is damaged', async () => {
    await store.write('snapshots/app/20260101T000000000Z-dddddddd.json', '{"format": 2}');
    await applyRemove(later(here), await planRemove(here.context, { target: 'app', snapshot: '11111111' }));
    expect((await store.list('objects')).length).toBe(4);
  });
});
