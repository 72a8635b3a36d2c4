import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { applyPrune, planPrune } from '../../src/operations/prune/prune.ts';
import { applyRemove, planRemove } from '../../src/operations/remove/remove.ts';
import { openRemote } from '../../src/operations/snapshots/remote-repositories.ts';
import { listSnapshots } from '../../src/operations/snapshots/snapshots.ts';
import { pull } from '../../src/operations/snapshots/transfer/pull.ts';
import { push } from '../../src/operations/snapshots/transfer/push.ts';
import { verify } from '../../src/operations/snapshots/verify/verify.ts';
import type { Manifest } from '../../src/repository/manifest/manifest.ts';
import { filesOf } from '../../src/repository/repository.ts';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import { objectKey } from '../../src/repository/store/keys.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../helpers/storage/fault-proxy.ts';
import { lostBytes } from '../helpers/storage/lost-bytes.ts';
import { type Machine, machine } from '../helpers/storage/machine.ts';
import { describeWithS3, startS3 } from '../helpers/storage/s3-server.ts';
import { startOperation } from '../helpers/storage/storage-process.ts';
import { storeTables } from '../helpers/storage/stored-snapshot.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { type Round, trials } from '../helpers/trials.ts';
import type { PartName } from '../prove/promises.ts';

const FAULTS: Fault[] = [
  { kind: 'cut', where: 'before' },
  { kind: 'cut', where: 'request' },
  { kind: 'cut', where: 'answer' },
  { kind: 'lost-answer' },
  { kind: 'status', status: 500, code: 'InternalError' },
  { kind: 'status', status: 503, code: 'SlowDown' },
  { kind: 'status', status: 429, code: 'TooManyRequests' },
  { kind: 'corrupt', where: 'request' },
  { kind: 'corrupt', where: 'answer' },
  { kind: 'false-length', says: 'less' },
  { kind: 'false-length', says: 'more' },
  { kind: 'reorder' },
  { kind: 'delay', milliseconds: 30 },
];

/** What is damaged stays so: it is seen at the next look, or at the end. */
const LOOK_EVERY = 10;

const TABLES = 12;
const PART_BYTES = 8 * 1024 * 1024;

export interface FaultsOptions {
  part: PartName;
  /** Up to three of ten requests fail; else one in each round, in whatever is done. */
  often?: boolean;
  encrypt?: boolean;
}

/**
 * Random faults over push, pull, rm and prune. The bytes that pushes send in all are at most 1.1 × what the bucket
 * lacked, and a part more. With a fault now and then that holds as it is said. Where faults come often, a request's
 * bytes are lost again and again before an object is there to be kept, and no client could send fewer: there it holds
 * of the bytes that were not lost.
 */
export function testStorageFaults({ part: name, often = false, encrypt = false }: FaultsOptions): void {
  const part = trials(name);
  describeWithS3(`random faults${often ? ', often' : ''}${encrypt ? ', encrypted' : ''}`, () => {
    /** What goes wrong in a round, and after how many requests its push is killed. */
    function planRound({ random, oneOf }: Round): { fault: FaultProxy['fault']; kill: number | null } {
      if (often) {
        const rate = oneOf([0.05, 0.15, 0.3]);
        const kill = random() < 0.3 ? Math.floor(random() * 2 * TABLES) : null;
        return { fault: () => (random() < rate ? oneOf(FAULTS) : null), kill };
      }
      if (random() < 0.15) return { fault: () => null, kill: Math.floor(random() * 2 * TABLES) };
      // A request a table pushes it, one pulls it; what follows removes.
      const [kind, after] = [oneOf(FAULTS), Math.floor(random() * 4 * TABLES)];
      let seen = 0;
      const fault = (): Fault | null => {
        seen += 1;
        return seen === after + 1 ? kind : null;
      };
      return { fault, kill: null };
    }

    const server = suiteResource(() => startS3());
    const proxy = suiteResource(() => startFaultProxy(server.endpoint));
    let profile: BucketProfile;

    beforeAll(async () => {
      profile = { ...(await server.bucket()), encrypt };
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

    it(part.title('every listed snapshot is whole, none is lost, and what failed succeeds when it is done again'), {
      timeout: part.timeout,
    }, async () => {
      const shared = randomBytes(200_000);
      const expected = new Set<string>();
      const unsure = new Set<string>();
      let [lacked, sent, happened] = [0, 0, 0];
      await part.each(async (round) => {
        const { random, oneOf } = round;
        const manifest = await storeRandom(pushing, { round: round.number, shared, large: random() < 0.1 });
        const { id } = manifest;
        const before = await lacking(manifest);
        proxy.requests.length = 0;
        const { fault, kill } = planRound(round);
        proxy.fault = (request) => {
          const found = fault(request);
          if (found) happened += 1;
          return found;
        };

        if (kill === null) {
          if (await succeeds(push(pushing.context, { target: 'app', snapshot: id }))) expected.add(id);
          else unsure.add(id);
        } else {
          if (await pushAndKill(id, kill)) happened += 1;
          unsure.add(id);
        }
        if (expected.size > 0) await succeeds(pull(pulling.context, { target: 'app', snapshot: oneOf([...expected]) }));
        const unswept = await lacking(manifest);
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
        if (round.number % LOOK_EVERY === 0) await expectWhole(expected, unsure);
        // The clock of those who prune is ahead: a sweep may have taken what had arrived.
        lacked += before + (await lacking(manifest)) - unswept;
        await push(pushing.context, { target: 'app', snapshot: id });
        expect(await lacking(manifest)).toBe(0);
        sent += proxy.requests.reduce((sum, { bytes }) => sum + bytes, 0);
        if (often) sent -= lostBytes(proxy.requests);
        unsure.delete(id);
        expected.add(id);
      });
      await expectWhole(expected, unsure);
      if (often || part.isLong) expect(happened).toBeGreaterThan(0);
      expect(sent).toBeLessThanOrEqual(1.1 * lacked + PART_BYTES);
    });

    /** Bytes of a snapshot's objects that the bucket lacks. */
    async function lacking(manifest: Manifest): Promise<number> {
      const store = await openRemote(watching.context, 'team');
      const there = new Set((await store.store.list('objects')).map(({ key }) => key));
      const objects = new Map(filesOf(manifest).map((file) => [objectKey(file.sha256), file.stored_bytes]));
      return [...objects].reduce((sum, [key, bytes]) => (there.has(key) ? sum : sum + bytes), 0);
    }

    /** Kills the process when the proxy has seen so many requests; `false` when it has ended before. */
    async function pushAndKill(id: string, after: number): Promise<boolean> {
      const { child, ended } = await startOperation(pushing, { operation: 'push', snapshot: id });
      const { fault } = proxy;
      proxy.fault = (request) => {
        if (proxy.requests.length >= after) child.kill('SIGKILL');
        return fault(request);
      };
      const { end } = await ended;
      proxy.fault = fault;
      return end === 'SIGKILL';
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
  const own = Object.fromEntries(Array.from({ length: TABLES }, (_, n) => [`t${n}`, randomBytes(400_000)]));
  return storeTables(directory, {
    target: 'app',
    id: `${String(round).padStart(4, '0')}${randomBytes(2).toString('hex')}`,
    created_at: new Date(Date.UTC(2026, 0, 1) + round * 60_000).toISOString(),
    contents: { ...own, shared, large: randomBytes(large ? 20_000_000 : 100_000), small: `${round}\n` },
  });
}

async function removeRemote({ context }: Machine, snapshot: string): Promise<void> {
  const old = { ...context, clock: () => new Date(Date.now() + 2 * 24 * 60 * 60 * 1000) };
  await applyRemove(old, await planRemove(old, { target: 'app', snapshot, from: 'remote' }));
}

/** Which snapshots it may have removed. */
async function pruneRemote({ context }: Machine, last: number): Promise<string[]> {
  const old = { ...context, clock: () => new Date(Date.now() + 2 * 24 * 60 * 60 * 1000) };
  const planned = await planPrune(old, { target: 'app', keep: { last }, from: 'remote' }).catch(() => null);
  if (!planned) return [];
  await succeeds(applyPrune(old, planned));
  return planned.plan.targets.flatMap(({ remove }) => remove.map(({ id }) => id));
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
