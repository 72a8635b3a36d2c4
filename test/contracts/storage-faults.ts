import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { planPrune, prune } from '../../src/operations/prune.ts';
import { pull } from '../../src/operations/pull.ts';
import { push } from '../../src/operations/push.ts';
import { planRemove, remove } from '../../src/operations/remove.ts';
import { listSnapshots } from '../../src/operations/snapshots.ts';
import { verify } from '../../src/operations/verify.ts';
import type { Manifest } from '../../src/snapshots/manifest.ts';
import type { StorageProfile } from '../../src/snapshots/s3/providers.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../helpers/fault-proxy.ts';
import { type Machine, machine } from '../helpers/machine.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/s3-server.ts';
import { startOperation } from '../helpers/storage-process.ts';
import { storeTables } from '../helpers/stored-snapshot.ts';

const FAULTS: Fault[] = [
  { kind: 'cut', where: 'before' },
  { kind: 'cut', where: 'request' },
  { kind: 'cut', where: 'answer' },
  { kind: 'lost-answer' },
  { kind: 'status', status: 500, code: 'InternalError' },
  { kind: 'status', status: 503, code: 'SlowDown' },
  { kind: 'corrupt', where: 'request' },
  { kind: 'corrupt', where: 'answer' },
  { kind: 'delay', milliseconds: 30 },
];

/** What is damaged stays so: it is seen at the next look, or at the end. */
const LOOK_EVERY = 10;

export interface FaultRounds {
  rounds: number;
  /** Makes them the same again. */
  seed: number;
  encrypt?: boolean;
}

/** Random faults over push, pull, rm and prune. */
export function testStorageFaults({ rounds, seed, encrypt = false }: FaultRounds): void {
  describeWithS3(`${rounds} rounds of faults (seed ${seed}${encrypt ? ', encrypted' : ''})`, () => {
    const random = randomFrom(seed);
    const oneOf = <Item>(items: Item[]): Item => items[Math.floor(random() * items.length)] as Item;
    let server: S3Server;
    let proxy: FaultProxy;
    let profile: StorageProfile;

    beforeAll(async () => {
      server = await startS3();
      proxy = await startFaultProxy(server.endpoint);
      profile = { ...(await server.bucket()), encrypt };
    });

    afterAll(async () => {
      await proxy.stop();
      await server.stop();
    });

    let pushing: Machine;
    let pulling: Machine;
    let watching: Machine;

    beforeEach(async () => {
      const faulty = { ...profile, endpoint: proxy.endpoint };
      [pushing, pulling] = [await machine({ profile: faulty }), await machine({ profile: faulty })];
      watching = await machine({ profile });
    });

    afterEach(async () => {
      for (const one of [pushing, pulling, watching]) await one[Symbol.asyncDispose]();
    });

    it('every listed snapshot is whole, none is lost, and what failed succeeds when it is done again', async () => {
      const shared = randomBytes(200_000);
      const expected = new Set<string>();
      const unsure = new Set<string>();
      for (let round = 0; round < rounds; round += 1) {
        const { id } = await storeRandom(pushing, { round, shared, large: random() < 0.1 });
        const rate = oneOf([0.05, 0.15, 0.3]);
        const kill = random() < 0.3 ? proxy.requests.length + Math.floor(random() * 25) : Number.POSITIVE_INFINITY;
        proxy.fault = () => (random() < rate ? oneOf(FAULTS) : null);

        if (kill === Number.POSITIVE_INFINITY) {
          if (await succeeds(push(pushing.context, { target: 'app', snapshot: id }))) expected.add(id);
          else unsure.add(id);
        } else {
          await pushAndKill(id, kill);
          unsure.add(id);
        }
        if (expected.size > 0) await succeeds(pull(pulling.context, { target: 'app', snapshot: oneOf([...expected]) }));
        if (expected.size > 3 && random() < 0.4) {
          for (const id of await pruneRemote(pulling, expected.size - 1)) {
            if (expected.delete(id)) unsure.add(id);
          }
        } else if (expected.size > 2) {
          const going = oneOf([...expected]);
          expected.delete(going);
          unsure.add(going);
          await succeeds(removeRemote(pulling, going));
        }

        proxy.fault = () => null;
        if (round % LOOK_EVERY === 0) await expectWhole(expected, unsure);
        await push(pushing.context, { target: 'app', snapshot: id });
        unsure.delete(id);
        expected.add(id);
      }
      await expectWhole(expected, unsure);
    });

    /** Kills the process when the proxy has seen so many requests; it may have ended before. */
    async function pushAndKill(id: string, after: number): Promise<void> {
      const { child, ended } = await startOperation(pushing, { operation: 'push', snapshot: id });
      const { fault } = proxy;
      proxy.fault = (request) => {
        if (proxy.requests.length >= after) child.kill('SIGKILL');
        return fault(request);
      };
      await ended;
      proxy.fault = fault;
    }

    async function expectWhole(expected: Set<string>, unsure: Set<string>): Promise<void> {
      const { snapshots } = await listSnapshots(watching.context, 'app');
      const listed = snapshots.map(({ id }) => id);
      expect(listed).toEqual(expect.arrayContaining([...expected]));
      for (const id of listed) {
        expect([...expected, ...unsure]).toContain(id);
        expect(await verify(watching.context, { target: 'app', snapshot: id })).toMatchObject({
          ok: true,
          problems: [],
        });
      }
      for (const manifest of await pulling.repository.list('app')) {
        for (const { file } of manifest.tables) readFileSync(pulling.repository.object(file).path);
      }
    }
  });
}

function storeRandom(
  { directory }: Machine,
  { round, shared, large }: { round: number; shared: Uint8Array; large: boolean },
): Promise<Manifest> {
  return storeTables(directory, {
    target: 'app',
    id: `${String(round).padStart(4, '0')}${randomBytes(2).toString('hex')}`,
    created_at: new Date(Date.UTC(2026, 0, 1) + round * 60_000).toISOString(),
    contents: { shared, own: randomBytes(large ? 20_000_000 : 100_000), small: `${round}\n` },
  });
}

async function removeRemote({ context }: Machine, snapshot: string): Promise<void> {
  const old = { ...context, clock: () => new Date(Date.now() + 2 * 24 * 60 * 60 * 1000) };
  await remove(old, await planRemove(old, { target: 'app', snapshot, from: 'remote' }));
}

/** Which snapshots it may have removed. */
async function pruneRemote({ context }: Machine, last: number): Promise<string[]> {
  const old = { ...context, clock: () => new Date(Date.now() + 2 * 24 * 60 * 60 * 1000) };
  const plan = await planPrune(old, { target: 'app', keep: { last }, from: 'remote' }).catch(() => null);
  if (!plan) return [];
  await succeeds(prune(old, plan));
  return plan.targets.flatMap(({ remove }) => remove.map(({ id }) => id));
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

/** Mulberry32: the same numbers from the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
