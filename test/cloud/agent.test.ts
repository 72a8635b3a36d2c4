import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../hub/database/database.ts';
import { leaseLost } from '../../src/operations/agent/build-claimed.ts';
import { interrupted, UserError } from '../../src/runtime/errors.ts';
import { startForgingHub } from '../helpers/hub/forging-hub.ts';
import { putStorageProfile, putTarget, startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, eventually } from '../helpers/postgres/postgres-server.ts';
import { freePort } from '../helpers/proxies/free-port.ts';
import { describeWithS3, type S3Server, startS3 } from '../helpers/storage/s3-server.ts';
import { Sink } from '../helpers/terminal/cli-host.ts';
import { type ConfiguredCli, configuredCli } from '../helpers/terminal/configured-cli.ts';

const QUERY = "UPDATE person SET email = 'p' || id || '@example.com'";

test.each([
  ['cloud_token_refused' as const, /^The hub refuses the agent/, /valid token/],
  ['not_permitted' as const, /^The hub refuses the agent/, /valid token/],
  ['cloud_unknown' as const, /was removed from the hub/, /^$/],
  ['cloud_conflict' as const, /to another agent, or ended it$/, /Heartbeats did not reach/],
])('a heartbeat that is answered with %s stops the build with its own message', (code, message, hint) => {
  const error = leaseLost('orders', new UserError(code, 'The token is revoked'));
  expect(error).toMatchObject({ code: 'build_lease_lost', message: expect.stringMatching(message) });
  expect(error.hint ?? '').toMatch(hint);
});

describeWithPostgres('tool agent', () => {
  describeWithS3('over a real bucket', () => {
    let hub: TestHub;
    let s3: S3Server;
    let source: string;

    beforeAll(async () => {
      [hub, s3] = await Promise.all([startHub(), startS3()]);
      await putStorageProfile(hub, 'team', await s3.bucket());
      await hub.postgres.createDatabase('source');
      await hub.postgres.psql('source', {
        sql: `CREATE ROLE app LOGIN PASSWORD 'password-of-app' SUPERUSER;
          CREATE TABLE person (id integer PRIMARY KEY, email text);
          INSERT INTO person SELECT i, 'secret-' || i || '@real.example.org' FROM generate_series(1, 50) i`,
      });
      source = hub.postgres.url('source').replace(/\/\/[^@]*@/, '//app:password-of-app@');
    });

    afterAll(async () => {
      await hub.stop();
      await s3.stop();
    });

    /** A target of the hub, whose source there leads nowhere, and a token of its builder. */
    async function newTarget(change: object = {}) {
      const name = `orders-${randomBytes(4).toString('hex')}`;
      const settings = { storage_profile: 'team', snapshot: { src_url: 'postgres://of-the-hub.invalid/orders' } };
      const id = await putTarget(hub, name, { settings: { ...settings, ...change } });
      return { name, id, token: (await hub.service('agent', 'builder', [id])).token };
    }

    interface Machine {
      token: string;
      targets: Record<string, string>;
      url?: string;
    }

    /** A machine with these targets, by name with their settings. */
    const machine = ({ token, targets, url = hub.url }: Machine): Promise<ConfiguredCli> => {
      const lines = Object.entries(targets).map(([name, settings]) => `  ${name}: ${settings}\n`);
      return configuredCli(
        `env: development\ndev_api_url: ${url}\nauthtoken: ${token}\nworking_directory: ./work\ntargets:\n${lines.join('')}`,
      );
    };
    const ofSource = (more = '') => `{snapshot: {src_url: "${source}"}${more}}`;

    const request = async (name: string): Promise<string> =>
      (await hub.send('POST', `/targets/${name}/builds`, { token: hub.ownerToken, body: {} })).body.id;
    const buildOf = async (id: string) => (await hub.send('GET', `/builds/${id}`, { token: hub.ownerToken })).body;
    const snapshotsOf = async (name: string) =>
      (await hub.send('GET', `/targets/${name}/snapshots`, { token: hub.ownerToken })).body.items;

    /** Held until it is disposed: a dump of the source waits for it. */
    async function lockSource(): Promise<AsyncDisposable & { waits: () => Promise<boolean> }> {
      const { db, [Symbol.asyncDispose]: close } = openDatabase(hub.postgres.url('source'));
      const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const held = db.transaction().execute(async (transaction) => {
        await sql`LOCK TABLE person IN ACCESS EXCLUSIVE MODE`.execute(transaction);
        locked.resolve();
        await released.promise;
      });
      await Promise.race([locked.promise, held]);
      return {
        async waits() {
          const { rows } = await sql`SELECT FROM pg_locks WHERE NOT granted`.execute(db);
          return rows.length > 0;
        },
        async [Symbol.asyncDispose]() {
          released.resolve();
          await held;
          await close();
        },
      };
    }

    test('--once builds what is due from its own source, sanitizes and publishes it, and ends', async () => {
      const { name, token } = await newTarget({ sanitize: { override_query: 'SELECT 1' } });
      const cli = await machine({ token, targets: { [name]: ofSource(`, sanitize: {override_query: "${QUERY}"}`) } });
      const idle = await cli.tool(['agent', '--once']);
      expect(idle).toMatchObject({ exit: 0, stdout: 'No build is due in pool default\n' });
      const id = await request(name);
      const { exit, last } = await cli.json(['agent', '--once', '--verify-restore']);
      expect(exit, JSON.stringify(last)).toBe(0);
      const [built] = last.builds as { snapshot: string }[];
      expect(last).toMatchObject({ event: 'done', command: 'agent', pool: 'default' });
      expect(last.builds).toMatchObject([{ target: name, build: id, outcome: 'done', exit: 0, code: null }]);
      expect(await buildOf(id)).toMatchObject({ state: 'done', agent: 'agent', snapshot: built?.snapshot });
      expect(await snapshotsOf(name)).toMatchObject([{ sanitized: true, id: built?.snapshot, rows: 50 }, { rows: 50 }]);
      const audit = await hub.send('GET', `/audit_events?target=${name}`, { token: hub.ownerToken });
      const actions = audit.body.items.map(({ action }: { action: string }) => action);
      expect(actions).toEqual([
        ...[
          'build.done',
          'snapshot.prove_restore',
          'snapshot.publish',
          'snapshot.publish',
          'build.claim',
          'build.request',
          'target.create',
        ],
      ]);
    });

    test('a hub that is away for nine attempts of each request loses no build', async () => {
      const { name, token } = await newTarget();
      const proxy = await startForgingHub(hub.url);
      onTestFinished(proxy.stop);
      const cli = await machine({ token, url: proxy.url, targets: { [name]: ofSource() } });
      const id = await request(name);
      const left = new Map<string, number>();
      proxy.isAway = ({ method, path }) => {
        if (path === '/builds/claim') return false;
        const key = `${method} ${path}`;
        left.set(key, (left.get(key) ?? 10) - 1);
        return (left.get(key) ?? 0) > 0;
      };
      const { exit, last } = await cli.json(['agent', '--once']);
      expect(exit, JSON.stringify(last)).toBe(0);
      const [built] = last.builds as { snapshot: string }[];
      expect(await buildOf(id)).toMatchObject({ state: 'done', snapshot: built?.snapshot });
    });

    test('a failed build ends --once with its exit code, and is reported to the hub without secrets', async () => {
      const { name, token } = await newTarget();
      const missing = `{snapshot: {src_url: "${source.replace('/source', '/nowhere')}"}}`;
      const cli = await machine({ token, targets: { [name]: missing, other: ofSource() } });
      const id = await request(name);
      const { exit, stdout, stderr } = await cli.tool(['agent', '--once']);
      expect(exit).toBe(4);
      expect(stdout).toBe('Built 0 targets, 1 failed\n');
      expect(stderr).toContain('The hub offers no builds of target "other"');
      const told = await buildOf(id);
      expect(told).toMatchObject({ state: 'failed', error: { message: expect.stringContaining('nowhere') } });
      expect(JSON.stringify(told)).not.toContain('password-of-app');
    });

    test('a target that the file lacks is never built; nor is one of a forged answer', async () => {
      const [own, other] = [await newTarget(), await newTarget()];
      const { token } = await hub.service('both', 'builder', [own.id, other.id]);
      const proxy = await startForgingHub(hub.url);
      onTestFinished(proxy.stop);
      const cli = await machine({ token, url: proxy.url, targets: { [own.name]: ofSource() } });
      const id = await request(other.name);
      expect((await cli.json(['agent', '--once'])).last.builds).toEqual([]);
      expect(await buildOf(id)).toMatchObject({ state: 'queued' });
      const uuid = '00000000-0000-4000-8000-000000000000';
      for (const [build, expected] of [
        [
          { id: uuid, lease: uuid, target: other.name },
          { exit: 5, code: 'agent_build_refused' },
        ],
        [
          { id: uuid, lease: uuid, target: '../../etc' },
          { exit: 4, code: 'cloud_answer_invalid' },
        ],
        [
          { id: uuid, lease: uuid, target: `${own.name}\u001b[2J` },
          { exit: 4, code: 'cloud_answer_invalid' },
        ],
        [
          { id: uuid, lease: uuid, target: '__proto__' },
          { exit: 4, code: 'cloud_answer_invalid' },
        ],
        [
          { id: '../me', lease: uuid, target: own.name },
          { exit: 4, code: 'cloud_answer_invalid' },
        ],
      ] as const) {
        proxy.forge = ({ path }, body) => (path === '/builds/claim' ? { build, refused: [] } : body);
        const { exit, last } = await cli.json(['agent', '--once']);
        expect({ exit, code: last.code }, JSON.stringify(build).slice(0, 200)).toEqual(expected);
      }
      const nothing = { build: null, refused: ['strange'] };
      const huge = { ...nothing, padding: 'x'.repeat(2_000_000) };
      proxy.forge = ({ path }, body) => (path === '/builds/claim' ? huge : body);
      const tooLarge = { exit: 4, last: { code: 'cloud_answer_invalid' } };
      expect(await cli.json(['agent', '--once'])).toMatchObject(tooLarge);
      proxy.forge = ({ path }, body) => (path === '/builds/claim' ? nothing : body);
      const { exit, stderr } = await cli.tool(['agent', '--once']);
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
      expect(proxy.requests.filter(({ path }) => !path.startsWith('/builds/claim'))).toEqual([]);
    });

    test('an unreachable hub is waited for; Ctrl-C in a build gives it back, and another agent builds it', async () => {
      const { name, token } = await newTarget();
      const port = await freePort();
      const cli = await machine({ token, url: `http://127.0.0.1:${port}`, targets: { [name]: ofSource() } });
      const ending = new AbortController();
      const stderr = new Sink();
      const running = cli.tool(['agent'], { signal: ending.signal, stderr });
      await eventually(async () => stderr.text.includes('cannot be reached'));
      const proxy = await startForgingHub(hub.url, port);
      onTestFinished(proxy.stop);
      const id = await request(name);
      {
        await using lock = await lockSource();
        await eventually(lock.waits, { deadline: 20_000 });
        expect(await buildOf(id)).toMatchObject({ state: 'running' });
        ending.abort(interrupted(143));
        expect((await running).exit).toBe(143);
      }
      expect(stderr.text.match(/cannot be reached/g)).toHaveLength(1);
      expect(stderr.text).toContain('The hub answers again');
      expect(await buildOf(id)).toMatchObject({ state: 'queued' });
      expect(await snapshotsOf(name)).toEqual([]);
      const other = await machine({ token, targets: { [name]: ofSource() } });
      expect((await other.json(['agent', '--once'])).last.builds).toMatchObject([{ build: id, outcome: 'done' }]);
    });

    test('a target is needed, and a name of a pool', async () => {
      const { token } = await newTarget();
      const cli = await machine({ token, targets: { shared: '{share: {}}' } });
      expect(await cli.json(['agent', '--once'])).toMatchObject({ exit: 3, last: { code: 'agent_targets_invalid' } });
      expect(await cli.json(['agent', '--pool', 'No Pool'])).toMatchObject({ exit: 2, last: { code: 'usage' } });
    });
  });
});
