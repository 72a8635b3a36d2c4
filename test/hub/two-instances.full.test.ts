import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Manifest, manifestText } from '../../src/repository/manifest/manifest.ts';
import { manifestKey } from '../../src/repository/repository.ts';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import { fc } from '../helpers/fast-check.ts';
import { putStorageProfile, type Received, startHub, type TestHub } from '../helpers/hub/hub.ts';
import type { InstanceOptions } from '../helpers/hub/hub-instance.ts';
import {
  createHubTarget,
  type HubTarget,
  hash,
  objectOf,
  objectPath,
  openHubTarget,
  type TestObject,
} from '../helpers/hub/hub-target.ts';
import { describeWithPostgres } from '../helpers/postgres/postgres-server.ts';
import { type FaultProxy, startFaultProxy } from '../helpers/storage/fault-proxy.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';

const FULL = process.env.TEST_FULL === '1';
const SEQUENCES = Number(process.env.TOOL_TEST_SEQUENCES ?? (FULL ? 150 : 5));

const INSTANCE = new URL('../helpers/hub/hub-instance.ts', import.meta.url).pathname;

/** Passes connections to the instances in turn. */
interface Proxy {
  url: string;
  /** Ends every connection, in the middle of whatever it carries. */
  cut(): void;
  close(): void;
}

async function startProxy(ports: () => number[]): Promise<Proxy> {
  const open = new Set<Socket>();
  let turn = 0;
  const server: Server = createServer((client) => {
    const live = ports();
    turn += 1;
    const upstream = connect(live[turn % live.length] ?? 1, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(to);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  const address = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${address.port}`,
    cut,
    close() {
      cut();
      server.close();
    },
  };
}

interface Instance {
  child: ChildProcess;
  port: number;
  /** Its standard error. */
  ended: Promise<string>;
}

async function startInstance(options: InstanceOptions): Promise<Instance> {
  const child = fork(INSTANCE, [JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  let output = '';
  child.stderr?.on('data', (chunk) => {
    output += chunk;
  });
  const ended = once(child, 'exit').then(() => output);
  const ready = await Promise.race([once(child, 'message'), ended]);
  if (typeof ready === 'string') throw new Error(ready);
  return { child, port: Number(new URL(ready[0].url).port), ended };
}

/** One step of a sequence. A disturbance happens after so many milliseconds, while the step is under way. */
interface Step {
  act: 'push' | 'publish' | 'remove' | 'sweep' | 'pull';
  /** Which objects, snapshot or instance. */
  pick: number;
  disturbance: null | { kind: 'kill' | 'cut' | 'database' | 'sweep' | 'lost answer'; after: number };
}

const disturbances = fc.oneof(
  { weight: 10, arbitrary: fc.constant(null) },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('cut' as const, 'database' as const, 'sweep' as const, 'lost answer' as const),
      after: fc.integer({ min: 0, max: 25 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), after: fc.integer({ min: 0, max: 25 }) }) },
);

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    act: fc.constantFrom('push', 'push', 'publish', 'publish', 'publish', 'remove', 'sweep', 'pull'),
    pick: fc.nat(1000),
    disturbance: disturbances,
  }),
  { minLength: 3, maxLength: 9 },
);

/** What the client knows of a snapshot. */
interface Known {
  manifest: Manifest;
  /** `unsure`: a request got no answer. */
  state: 'published' | 'unsure' | 'removed';
}

describeWithPostgres('two instances of the hub', () => {
  describeWithS3('over one bucket, behind a proxy', () => {
    let hub: TestHub;
    let s3: S3Server;
    let faults: FaultProxy;
    let profile: BucketProfile;
    let proxy: Proxy;
    let options: InstanceOptions;
    const instances: Instance[] = [];
    /** By which the clock of the next sweep is ahead: every object is older than a day for it. */
    let hours = 0;

    beforeAll(async () => {
      [hub, s3] = await Promise.all([startHub(), startS3()]);
      faults = await startFaultProxy(s3.endpoint);
      profile = await s3.bucket();
      await putStorageProfile(hub, 'team', { ...profile, endpoint: faults.endpoint });
      options = { databaseUrl: hub.settings.databaseUrl, key: hub.settings.keys[0]?.bytes.toString('hex') ?? '' };
      instances.push(...(await Promise.all([startInstance(options), startInstance(options)])));
      proxy = await startProxy(() => instances.map(({ port }) => port));
    });

    afterAll(async () => {
      proxy?.close();
      for (const { child } of instances) child.kill('SIGKILL');
      await faults?.stop();
      await hub.stop();
      await s3.stop();
    });

    async function kill(index: number): Promise<void> {
      const { child } = instances[index] as Instance;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      instances[index] = await startInstance(options);
    }

    /** Why it failed: the instance was killed, or lost its connections. */
    async function sweep(index: number): Promise<string | null> {
      hours += 25;
      const { child, ended } = instances[index] as Instance;
      if (!child.connected) return `ended: ${await ended}`;
      const own = hours;
      const answered = new Promise<{ failed?: string }>((resolve) => {
        const listen = (message: { swept?: number; failed?: string }): void => {
          if (message.swept !== own) return;
          child.off('message', listen);
          resolve(message);
        };
        child.on('message', listen);
      });
      child.send({ hours: own }, () => {});
      const answer = await Promise.race([answered, ended]);
      return typeof answer === 'string' ? `ended: ${answer}` : (answer.failed ?? null);
    }

    /** A sweep that failed or that another one was in the way of is tried again, as instances do. */
    async function sweepSurely(index: number): Promise<void> {
      const reasons: string[] = [];
      while (reasons.length < 20) {
        const reason = await sweep(index);
        if (reason === null) return;
        reasons.push(reason);
      }
      throw new Error(reasons.join('; '));
    }

    /** Through the proxy, each on a connection of its own: `null` without an answer. */
    async function send(
      method: string,
      path: string,
      { token = '', body, headers = {} }: Parameters<TestHub['send']>[2] = {},
    ) {
      const response = await fetch(`${proxy.url}/api/v3${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          connection: 'close',
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, body: text ? JSON.parse(text) : null };
    }

    async function disturb({ kind, after }: NonNullable<Step['disturbance']>, pick: number): Promise<void> {
      await wait(after);
      if (kind === 'cut') proxy.cut();
      if (kind === 'kill') await kill(pick % 2);
      if (kind === 'sweep') await sweep(pick % 2);
      if (kind === 'database') {
        await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'tool hub' AND pid <> pg_backend_pid()`.execute(hub.database.db);
      }
    }

    /** Two steps that may happen at the same moment, and one that loses an answer of the bucket. */
    async function perform(world: World, { act, pick, disturbance }: Step): Promise<void> {
      // A sweep whose clock is ahead takes objects from a push that is under way, which none with the right time does.
      const kind = disturbance?.kind === 'sweep' && act === 'push' ? null : disturbance;
      let lost = kind?.kind === 'lost answer' ? 1 : 0;
      faults.fault = ({ method }) => {
        if (lost === 0 || !['PUT', 'DELETE'].includes(method)) return null;
        lost = 0;
        return { kind: 'lost-answer' };
      };
      if (kind?.kind === 'cut') world.cut = true;
      await Promise.all([ACTS[act](world, pick), kind && disturb(kind, pick)]);
      faults.fault = () => null;
    }

    interface World {
      target: HubTarget;
      objects: TestObject[];
      /** Since the last sweep. */
      stored: Set<TestObject>;
      known: Map<string, Known>;
      /** Whether connections have been cut. */
      cut: boolean;
    }

    /** How often what happened: a test in which nothing does would be green. */
    const seen = new Map<string, number>();
    const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);

    async function answered(sent: Promise<Received>): Promise<Received | null> {
      const answer = await sent.catch(() => null);
      count(String(answer?.body?.code ?? answer?.status ?? 'no answer'));
      return answer;
    }

    const ACTS: Record<Step['act'], (world: World, pick: number) => Promise<unknown>> = {
      async push({ target, objects, stored }, pick) {
        const some = chosen(objects, pick);
        const answers = await target.send(some).catch(() => ['no answer']);
        for (const [index, answer] of answers.entries()) {
          count(answer);
          if (answer === 'stored') stored.add(some[index] as TestObject);
        }
      },

      async publish({ target, objects, stored, known }, pick) {
        const unsure = [...known.values()].filter(({ state }) => state === 'unsure');
        const [again] = unsure.slice(pick % (unsure.length + 1));
        const manifest = again?.manifest ?? target.manifestOf(chosen(stored.size > 0 ? [...stored] : objects, pick));
        const answer = await answered(target.publish(manifest));
        if (answer?.status === 201 || answer?.status === 200) known.set(manifest.id, { manifest, state: 'published' });
        else if (answer?.body?.code === 'objects_missing' && !again) return;
        else if (answer?.status === 409 && again) known.set(manifest.id, { manifest, state: 'removed' });
        else known.set(manifest.id, { manifest, state: 'unsure' });
      },

      async remove({ target, known }, pick) {
        const published = [...known.values()].filter(({ state }) => state !== 'removed');
        const one = published[pick % Math.max(published.length, 1)];
        if (!one) return;
        const answer = await answered(target.remove(one.manifest.id));
        if (answer?.status === 204) one.state = 'removed';
        // One that was unsure may still be imported.
        else if (answer?.status === 404 && one.state === 'published') throw new Error(`${one.manifest.id} is lost`);
        else one.state = 'unsure';
      },

      async sweep({ stored }, pick) {
        stored.clear();
        await sweep(pick % 2);
      },

      async pull(world, pick) {
        const published = [...world.known.values()].filter(({ state }) => state === 'published');
        const one = published[pick % Math.max(published.length, 1)];
        if (!one) return;
        const before = one.state;
        const read = await readSnapshot(world, one.manifest).catch(() => null);
        if (read !== null && before === 'published') expect(read).toBe(true);
      },
    };

    /** Every object. */
    const ALL = 0b11111;

    function chosen(objects: TestObject[], pick: number): TestObject[] {
      const some = objects.filter((_, index) => (pick >> index) % 2 === 1);
      return some.length > 0 ? some : objects.slice(0, 1);
    }

    /** Whether a reader gets the manifest and every object, as they were sent. */
    async function readSnapshot({ target, objects }: World, manifest: Manifest): Promise<boolean> {
      const path = `/targets/${target.name}/snapshots/${manifest.id}`;
      const { status, body } = await send('GET', path, { token: target.builder });
      if (status !== 200) throw new Error(String(status));
      const text = await (await fetch(body.manifest.href)).text();
      if (text !== manifestText(manifest) || hash(text) !== body.manifest.sha256) return false;
      const sha256s = manifest.files.map(({ sha256 }) => sha256);
      const answer = await send('POST', `${path}/downloads`, { token: target.builder, body: { objects: sha256s } });
      if (answer.status !== 200) throw new Error(String(answer.status));
      for (const { sha256, href } of answer.body.objects) {
        const got = Buffer.from(await (await fetch(href)).arrayBuffer());
        const sent = objects.find((object) => object.sha256 === sha256);
        if (!sent || !got.equals(sent.content)) return false;
      }
      return true;
    }

    async function newWorld(): Promise<World> {
      await hub.database.db
        .updateTable('sweeps')
        .set({ swept_at: new Date('2900-01-01') })
        .execute();
      const { name, id, builder } = await createHubTarget(hub, profile, 'team');
      const through = { send, ownerToken: hub.ownerToken, service: hub.service };
      const target = await openHubTarget(through, { name, id, builder, profile });
      return {
        target,
        objects: Array.from({ length: 5 }, () => objectOf()),
        stored: new Set(),
        known: new Map(),
        cut: false,
      };
    }

    /** What every sequence ends in, whatever has happened. */
    async function check(world: World): Promise<void> {
      const { target, known } = world;
      // The first imports publications that were cut off, and removes; the second one removes the rows, too.
      // A request whose client has gone may still be under way in the first sweep, whose clock is ahead of its objects.
      for (const index of world.cut ? [0, 1, 0, 1] : [0, 1]) await sweepSurely(index);
      const listed = await target.listed();
      const states = (state: Known['state']) =>
        [...known.values()].filter((one) => one.state === state).map(({ manifest: { id } }) => id);
      expect(listed).toEqual(expect.arrayContaining(states('published')));
      expect(listed.filter((id) => states('removed').includes(id))).toEqual([]);
      expect(listed.filter((id) => !known.has(id))).toEqual([]);
      for (const id of listed) if (known.get(id)?.state === 'unsure') count('unsure and listed');
      const manifests = listed.map((id) => (known.get(id) as Known).manifest);
      for (const manifest of manifests) expect(await readSnapshot(world, manifest), manifest.id).toBe(true);
      const referenced = new Set(manifests.flatMap(({ files }) => files.map(objectPath)));
      const keys = async (prefix: string) => (await target.store.list(prefix)).map(({ key }) => key);
      expect(new Set(await keys('objects'))).toEqual(referenced);
      expect(new Set(await keys('snapshots'))).toEqual(new Set(manifests.map(manifestKey)));
      const { db } = hub.database;
      const rows = await db
        .selectFrom('objects')
        .select(['sha256', 'state'])
        .where('target_id', '=', target.id)
        .execute();
      expect(new Set(rows.map(({ sha256 }) => objectPath({ sha256 })))).toEqual(referenced);
      expect(rows.filter(({ state }) => state !== 'stored')).toEqual([]);
    }

    test('published snapshots stay complete and readable, and unreferenced objects are removed within two sweeps', {
      timeout: Math.max(60_000, SEQUENCES * 5000),
    }, async () => {
      const sequence = fc.asyncProperty(steps, async (sequence_) => {
        const world = await newWorld();
        await ACTS.push(world, ALL);
        for (const step of sequence_) await perform(world, step);
        await check(world);
      });
      await fc.assert(sequence, { numRuns: SEQUENCES, endOnFailure: true });
    });
  });
});
