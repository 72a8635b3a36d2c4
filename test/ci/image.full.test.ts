import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { insertSession } from '../../hub/database/callers/tokens.ts';
import { saveUser } from '../../hub/database/callers/users.ts';
import { openDatabase } from '../../hub/database/database.ts';
import { describeWithDocker, startDocker, type TestDocker } from '../helpers/docker/docker-daemon.ts';
import { commandsOf } from '../helpers/documents/documented.ts';
import { canHaveSid, debianTree } from '../helpers/postgres/debian-tree.ts';
import {
  describeWithPostgres,
  eventually,
  startPostgres,
  type TestPostgres,
} from '../helpers/postgres/postgres-server.ts';
import { freePort } from '../helpers/proxies/free-port.ts';
import { describeWithS3, startS3 } from '../helpers/storage/s3-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { SECRET_KEY } from '../helpers/terminal/config-folder.ts';

const run = promisify(execFile);
const IMAGE = 'tool';
const LIMIT = 350_000_000;
const ROOT = process.cwd();

/** As Debian's image: without documentation, translations and what apt has fetched. */
const EXCLUDED = [
  'var/cache',
  'var/lib/apt/lists',
  'usr/share/doc',
  'usr/share/locale',
  'usr/share/man',
  'usr/share/info',
];

describeWithDocker('the image', () => {
  describeWithPostgres('with a database', () => {
    let docker: TestDocker;
    let postgres: TestPostgres;
    let folder: string;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'tool-image-'));
      await chmod(folder, 0o755);
      [docker, postgres] = await Promise.all([startDocker(), startPostgres()]);
      const { root } = await debianTree('trixie', ['ca-certificates']);
      const flags = EXCLUDED.map((path) => `--exclude=./${path}/*`).join(' ');
      await run('sh', ['-c', `tar -C '${root}' ${flags} -c . | docker import - debian:trixie-slim`], {
        env: docker.environment,
      });
      // The daemon of the tests has no network but that of the machine, which reaches Debian's repository only.
      const commands = commandsOf('install.md', 'Container image').split('docker run --rm --volume')[0] ?? '';
      const script = commands
        .replace('docker build', 'docker build --build-arg POSTGRESQL=debian')
        .replaceAll(/docker (build|run)/g, 'docker $1 --network=host');
      const { stdout } = await run('bash', ['-ec', script], { env: docker.environment, maxBuffer: 1e8 });
      expect(stdout).toMatch(/^0\.1\.0$/m);
    }, 900_000);

    afterAll(async () => {
      for (const name of (await docker?.containers()) ?? []) await docker.docker('rm', '--force', name);
      await docker?.stop();
      await postgres?.stop();
      await rm(folder, { recursive: true, force: true });
    });

    /** `docker run` as it should be: nothing but what the program needs. */
    function started(
      words: string[],
      { env = {}, flags = [] }: { env?: object; flags?: string[] } = {},
    ): Promise<string> {
      const variables = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
      const limits = ['--read-only', '--tmpfs=/tmp', '--cap-drop=ALL', '--security-opt=no-new-privileges:true'];
      return docker.docker('run', '--network=host', ...limits, ...variables, ...flags, IMAGE, ...words);
    }

    test('is at most 350 MB, runs as a user without rights, and has the client programs', async () => {
      const [image] = JSON.parse(await docker.docker('image', 'inspect', IMAGE));
      console.log(`The image has ${(image.Size / 1e6).toFixed(0)} MB`);
      expect(image.Size).toBeLessThanOrEqual(LIMIT);
      expect(await started(['--version'], { flags: ['--rm'] })).toBe('0.1.0\n');
      const look =
        'id -u; psql --version; pg_dump --version; mariadb --version; mariadb-dump --version; ls /var/lib/apt/lists';
      const printed = await docker.docker('run', '--rm', '--entrypoint=sh', IMAGE, '-ec', look);
      expect(printed.replaceAll(/\d+(\.\d+)+.*/g, 'N').split('\n')).toEqual([
        ...['1000', 'psql (PostgreSQL) N', 'pg_dump (PostgreSQL) N'],
        ...[expect.stringMatching(/^mariadb from N/), expect.stringMatching(/^mariadb-dump from N/), ''],
      ]);
    });

    test('builds and loads a PostgreSQL database into a mounted folder', async () => {
      await postgres.createDatabase('shop');
      await postgres.psql('shop', { sql: 'CREATE TABLE t AS SELECT generate_series(1, 1000) AS id' });
      await writeConfiguration('local.yml', {
        targets: { shop: { snapshot: { src_url: postgres.url('shop'), dst_url: postgres.url('shop_dev') } } },
      });
      const flags = ['--rm', `--volume=${folder}:/data`];
      const env = { TOOL_TRUST: 'true', TOOL_NO_CONFIRM: 'true' };
      await started(['build', 'shop', '--config', '/data/local.yml'], { env, flags });
      await started(['load', 'shop', '--config', '/data/local.yml'], { env, flags });
      expect(await postgres.psql('shop_dev', { sql: 'SELECT count(*) FROM t' })).toContain('1000');
    });

    test('its health check concerns the hub only', async () => {
      const name = (await docker.docker('run', '--detach', '--entrypoint=sleep', IMAGE, '600')).trim();
      await docker.docker('exec', name, 'bash', '/usr/lib/tool/healthcheck');
      await docker.docker('rm', '--force', name);
    });

    describeWithS3('and a bucket', () => {
      const s3 = suiteResource(() => startS3());

      test('serves the hub of the Compose file until it is healthy, and builds a target of it', async () => {
        const port = await freePort();
        await postgres.createDatabase('hub');
        await postgres.psql('hub', { sql: "CREATE ROLE hub LOGIN PASSWORD 'hub-password'" });
        const { services } = parse(await readFile('deploy/compose/compose.yaml', 'utf8'), { merge: true });
        const given: Record<string, string> = {
          HUB_HOST: 'hub.example.com',
          PROVIDER_URL: 'https://login.example.com',
          OWNER_GROUPS: 'owners',
        };
        const secrets: Record<string, string> = {
          'owner-url': postgres.url('hub'),
          'hub-url': postgres.url('hub').replace(/\/\/[^@]*@/, '//hub:hub-password@'),
          keys: randomBytes(32).toString('hex'),
        };
        for (const [name, text] of Object.entries(secrets)) {
          await writeFile(join(folder, name), text, { mode: 0o644 });
        }
        const environmentOf = (service: string): Record<string, string> =>
          Object.fromEntries(
            Object.entries<string>(services[service].environment).map(([name, value]) => [
              name,
              value.replaceAll(/\$\{(\w+)(?::[?-]([^}]*))?\}/g, (_, key, other) => given[key] ?? other),
            ]),
          );
        const flags = [`--volume=${folder}:/run/secrets:ro`];
        await started(services.migrate.command, { env: environmentOf('migrate'), flags: [...flags, '--rm'] });
        const env = { ...environmentOf('hub'), TOOL_HUB_LISTEN: `0.0.0.0:${port}` };
        const hub = (await started([], { env, flags: [...flags, '--detach'] })).trim();
        const health = async (): Promise<string> =>
          (await docker.docker('inspect', '--format', '{{.State.Health.Status}}', hub)).trim();
        await eventually(async () => (await health()) === 'healthy', { deadline: 60_000 }).catch(async (error) => {
          throw new Error(`${error.message}: ${await docker.docker('inspect', '--format', '{{json .State}}', hub)}`);
        });
        const broken = docker.docker(
          'exec',
          '--env=TOOL_HUB_LISTEN=127.0.0.1:1',
          hub,
          'bash',
          '/usr/lib/tool/healthcheck',
        );
        await expect(broken).rejects.toThrow();

        const url = `http://127.0.0.1:${port}`;
        const token = await ownerToken(postgres.url('hub'));
        const put = async (path: string, body: object): Promise<void> => {
          const headers = {
            authorization: `Bearer ${token}`,
            'content-type': 'application/json',
            'if-none-match': '*',
          };
          const answer = await fetch(`${url}/api/v3${path}`, { method: 'PUT', headers, body: JSON.stringify(body) });
          expect(answer.status, await answer.text()).toBe(201);
        };
        await put('/storage_profiles/team', { settings: { ...(await s3.bucket()), prefix: 'team' } });
        await postgres.createDatabase('orders', 'postgres');
        await postgres.psql('orders', {
          sql: "CREATE ROLE app LOGIN SUPERUSER PASSWORD 'app'; CREATE TABLE t AS SELECT generate_series(1, 1000) AS id",
        });
        const src_url = postgres.url('orders').replace(/\/\/[^@]*@/, '//app:app@');
        const settings = { storage_profile: 'team', snapshot: { src_url }, sso_groups: ['owners'] };
        await put('/targets/orders', { settings, original_groups: ['owners'] });
        await writeConfiguration('cloud.yml', { env: 'development', dev_api_url: url, authtoken: token });
        const inside = {
          env: { TOOL_TRUST: 'true', TOOL_NO_CONFIRM: 'true' },
          flags: ['--rm', `--volume=${folder}:/data`],
        };
        const printed = await started(['build', 'orders', '--json', '--config', '/data/cloud.yml'], inside);
        expect(JSON.parse(printed.trim().split('\n').at(-1) ?? '')).toMatchObject({ event: 'done', command: 'build' });
        const listed = await started(['target', 'orders', '--json', '--config', '/data/cloud.yml'], inside);
        expect(JSON.parse(listed).snapshots).toHaveLength(1);
        await docker.docker('stop', '--time=45', hub);
        const [{ State }] = JSON.parse(await docker.docker('inspect', hub));
        expect(State.ExitCode).toBe(0);
      });
    });

    /** In the mounted folder, for the user of the image. */
    async function writeConfiguration(name: string, settings: object): Promise<void> {
      const file = join(folder, name);
      await writeFile(file, stringify({ secret_key: SECRET_KEY, working_directory: '/data/work', ...settings }));
      await run('sh', ['-c', `mkdir -p '${folder}/work' && chown -R 1000:1000 '${folder}' && chmod 600 '${file}'`]);
    }

    async function ownerToken(databaseUrl: string): Promise<string> {
      const database = openDatabase(databaseUrl);
      try {
        const identity = { issuer: 'https://login.example.com', subject: 'ann', name: 'ann', groups: ['owners'] };
        const user = await saveUser(database.db, identity);
        const expiresAt = new Date(Date.now() + 3_600_000);
        return (await insertSession(database.db, { userId: user.id, expiresAt, page: false })).token;
      } finally {
        await database[Symbol.asyncDispose]();
      }
    }
  });
});

describe.skipIf(!canHaveSid)(`the Compose file${canHaveSid ? '' : ' (needs root and debootstrap)'}`, () => {
  test('is valid for docker compose, and names a setting that is missing', async () => {
    const tree = await debianTree('trixie', ['docker-compose']);
    const command = `PATH=/usr/bin:/bin docker-compose --file ${ROOT}/deploy/compose/compose.yaml config`;
    const given = 'HUB_HOST=hub.example.com OWNER_GROUPS=a';
    const { exit, output } = await tree.shell(`env ${given} PROVIDER_URL=https://login.example.com ${command}`);
    expect(exit, output).toBe(0);
    expect(Object.keys(parse(output).services).sort()).toEqual(['database', 'hub', 'migrate', 'proxy']);
    const without = await tree.shell(`env ${given} ${command}`);
    expect(without.exit).not.toBe(0);
    expect(without.output).toContain('PROVIDER_URL');
  }, 300_000);
});
