import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { build } from '../../.ci/build.mjs';
import { HUB_SETTINGS, readHubSettings } from '../../hub/settings/settings.ts';
import { COMMANDS } from '../../src/commands/registry.ts';
import type { BucketProfile } from '../../src/repository/s3/connection.ts';
import {
  type Block,
  blocksOf,
  type DocumentedSession,
  isShell,
  openDocumentedSession,
  TOOL,
} from '../helpers/documents/documented-commands.ts';
import { startHub, type TestHub } from '../helpers/hub/hub.ts';
import { describeWithPostgres, startPostgres, type TestPostgres } from '../helpers/postgres/postgres-server.ts';
import { freePort } from '../helpers/proxies/free-port.ts';
import { startIdentityProvider } from '../helpers/sign-in/identity-provider.ts';
import { noteTakingBrowser } from '../helpers/sign-in/note-taking-browser.ts';
import { describeWithS3, startS3 } from '../helpers/storage/s3-server.ts';
import { suiteResource } from '../helpers/suite-resource.ts';
import { SECRET_KEY } from '../helpers/terminal/config-folder.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FIXTURES = join(ROOT, 'test/e2e/fixtures');

/** Programs that are not run here, with the reason; their files are checked below instead. */
const NOT_RUN: Record<string, string> = {
  docker: 'test/ci/image.full.test.ts builds and runs the image; Compose is no part of the Docker here',
  kubectl: 'there is no cluster',
};

describeWithPostgres('the documentation of the hub', () => {
  let postgres: TestPostgres;

  beforeAll(async () => {
    await build();
    postgres = await startPostgres();
  });

  afterAll(() => postgres.stop());

  /** A session with the files of the deployment; services that it starts are ended with it. */
  async function openSession(substitutes: [string, string][]): Promise<DocumentedSession> {
    const node = JSON.stringify(process.execPath);
    const background = `${node} ${join(FIXTURES, 'background.ts')}`;
    const session = await openDocumentedSession({
      programs: {
        tool: `[ "$1 $2" = "hub serve" ] && exec ${background} ${TOOL.replace('exec ', '')}\n${TOOL}`,
        systemctl: `exec ${node} ${join(FIXTURES, 'systemctl.ts')} "$@"`,
        ...Object.fromEntries(Object.keys(NOT_RUN).map((name) => [name, 'exit 0'])),
      },
      substitutes,
      environment: {
        PGHOST: '127.0.0.1',
        PGPORT: String(postgres.port),
        PGUSER: 'postgres',
        PGPASSWORD: new URL(postgres.url('postgres')).password,
      },
    });
    const at = (...words: string[]): string => join(session.home, ...words);
    for (const name of ['background', 'etc/systemd/system']) await mkdir(at(name), { recursive: true });
    await cp(join(ROOT, 'deploy'), join(session.folder, 'deploy'), { recursive: true });
    onTestFinished(async () => {
      const pids = (await readFile(at('background', 'pids'), 'utf8').catch(() => '')).match(/^\d+ SIG\w+$/gm) ?? [];
      await Promise.all(pids.map((line) => endProcess(line.split(' ') as [string, NodeJS.Signals])));
    });
    const places = { BACKGROUND: at('background'), ETC: at('etc'), UNITS: at('etc/systemd/system') };
    return {
      ...session,
      shell: (block, environment) =>
        session.shell(
          { ...block, text: block.text.replaceAll('/etc/', `${at('etc')}/`) },
          { ...places, ...environment },
        ),
    };
  }

  async function endProcess([pid, signal]: [string, NodeJS.Signals]): Promise<void> {
    const tell = (what: NodeJS.Signals | 0): boolean => {
      try {
        return process.kill(Number(pid), what);
      } catch {
        return false;
      }
    };
    tell(signal);
    await expect.poll(() => tell(0), { timeout: 20_000 }).toBe(false);
  }

  test('every command of docs/hub.md runs', async () => {
    const port = await freePort();
    await postgres.createDatabase('documented');
    const settings = {
      TOOL_HUB_DATABASE_URL: postgres.url('documented'),
      TOOL_HUB_KEYS: randomBytes(32).toString('hex'),
      TOOL_HUB_PUBLIC_URL: 'https://hub.example.com',
      TOOL_HUB_PROVIDER_URL: 'https://login.example.com',
      TOOL_HUB_CLIENT_ID: 'tool',
      TOOL_HUB_OWNER_GROUPS: 'platform',
    };
    /** Of a block: others have the settings of a hub that runs. */
    const environments: Record<string, NodeJS.ProcessEnv> = { 'docs/hub.md: The hub': {} };
    const metrics = await freePort();
    const session = await openSession([
      ['127.0.0.1:3000', `127.0.0.1:${port}`],
      ['127.0.0.1:5432', `127.0.0.1:${postgres.port}`],
    ]);
    const env = join(session.folder, 'deploy/systemd/hub.env');
    const text = (await readFile(env, 'utf8')).replace('127.0.0.1:3000', `127.0.0.1:${port}`);
    await writeFile(env, text.replace('127.0.0.1:9464', `127.0.0.1:${metrics}`));
    const outputs = new Map<string, string>();
    for (const block of (await blocksOf('docs/hub.md')).filter(isShell)) {
      // Each hub of a block has a port of its own; the one of systemd keeps the documented one.
      const listen = { TOOL_HUB_LISTEN: `127.0.0.1:${await freePort()}` };
      const environment = { ...listen, ...(environments[block.title] ?? settings) };
      const before = outputs.get(block.title) ?? '';
      outputs.set(block.title, before + (await session.shell(block, environment)));
    }
    expect(outputs.get('docs/hub.md: One machine with systemd')).toMatch(/Executed|migration[\s\S]*ready/);
    const served = await postgres.psql('hub', { sql: `SELECT has_table_privilege('hub', 'audit_events', 'DELETE')` });
    expect(served.trim()).toBe('f');
  });

  describeWithS3('and of its users', () => {
    const s3 = suiteResource(() => startS3());

    test('every command of docs/cloud.md runs', async () => {
      const provider = await startIdentityProvider({ groups: { ann: ['platform'] } });
      const { provider_url, client_id } = provider.settings;
      await postgres.createDatabase('users');
      const signIn = { provider_url, client_id, redirect_url: null, groups_claim: 'groups' };
      const hub = await startHub({ databaseUrl: postgres.url('users'), signIn, ownerGroups: ['platform'] }, postgres);
      onTestFinished(() => hub.stop());
      await postgres.psql('postgres', { sql: "CREATE ROLE app LOGIN SUPERUSER PASSWORD 'secret'" });
      await postgres.createDatabase('orders', 'app');
      await postgres.psql('orders', { sql: "CREATE TABLE users AS SELECT 1 AS id, 'ann@example.com' AS email" });
      const session = await openSession([]);
      const blocks = await blocksOf('docs/cloud.md');
      const destination = new URL(postgres.url('orders_copy'));
      const files: Record<string, string> = {
        'tool.yml': stringify({
          ...{ secret_key: SECRET_KEY, working_directory: './work', env: 'development', dev_api_url: hub.url },
          defaults: { shared_target_dst_db_url: destination.href },
        }),
        'hub.yml': cloudFile(blocks, await s3.bucket()),
        'agent.yml': agentFile(blocks, hub),
        'sanitize.sql': 'UPDATE users SET email = NULL',
      };
      for (const [name, text] of Object.entries(files)) await writeFile(join(session.folder, name), text);
      const browser = await noteTakingBrowser({ folder: session.folder });
      const signsIn = browser.url().then(async () => provider.signIn(await browser.visited(), 'ann'));
      const environment = { BROWSER: browser.environment.BROWSER, ORDERS_PASSWORD: 'secret' };
      const outputs: string[] = [];
      for (const block of blocks.filter(isShell)) outputs.push(await session.shell(block, environment));
      await signsIn;
      expect(outputs.join('')).toContain('Create target orders');
      const { body } = await hub.send('GET', '/targets/orders', { token: hub.ownerToken });
      expect(body).toMatchObject({ settings: { sso_groups: ['developers'] }, expected_every: '24h' });
    });

    /** The file of the page, with the database and the bucket that there are here. */
    function cloudFile(blocks: Block[], bucket: BucketProfile): string {
      const block = blocks.find(({ language, text }) => language === 'yaml' && text.includes('storage_profiles:'));
      const file = parse(block?.text ?? '');
      const { host } = new URL(postgres.url('orders'));
      file.storage_profiles.team = bucket;
      const { snapshot } = file.targets.orders;
      snapshot.src_url = snapshot.src_url.replace('db.example.com', host);
      file.targets.orders.webhook = { url: 'https://hooks.example.com/T/1', secret: 'a-secret-of-16-characters' };
      return stringify(file);
    }

    /** The file of an agent, with the hub and the database that there are here. */
    function agentFile(blocks: Block[], hub: TestHub): string {
      const block = blocks.find(({ text }) => text.startsWith('# agent.yml'));
      const { base_url: _, ...file } = parse(block?.text ?? '');
      const { snapshot } = file.targets.orders;
      snapshot.src_url = snapshot.src_url.replace('db.example.com', new URL(postgres.url('orders')).host);
      const access = { env: 'development', dev_api_url: hub.url, authtoken: hub.ownerToken, secret_key: SECRET_KEY };
      return stringify({ ...file, ...access });
    }
  });
});

describe('files of the deployment', () => {
  const KINDS = ['ConfigMap', 'Deployment', 'PodDisruptionBudget', 'Service', 'Ingress', 'Job'];
  const files = readdirSync(join(ROOT, 'deploy'), { recursive: true, encoding: 'utf8' })
    .filter((file) => statSync(join(ROOT, 'deploy', file)).isFile())
    .map((file) => `deploy/${file}`);
  const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

  test('every variable in them is a setting of the hub', () => {
    const known = new Set(HUB_SETTINGS.flatMap((name) => [name, `${name}_FILE`]));
    const used = files.flatMap((file) => textOf(file).match(/TOOL_HUB_\w+/g) ?? []);
    expect(used.length).toBeGreaterThan(20);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });

  test('every setting of the hub is in docs/hub.md, and no other', () => {
    const rows = [...textOf('docs/hub.md').matchAll(/^\| `(TOOL_HUB_\w+)`/gm)].map(([, name]) => name);
    expect(rows.sort()).toEqual(HUB_SETTINGS.toSorted());
  });

  test('every command in them is one of tool, and every setting is one of its command', async () => {
    const compose = parse(textOf('deploy/compose/compose.yaml'), { merge: true });
    const manifests = ['hub', 'migrate'].flatMap((name) =>
      parseAllDocuments(textOf(`deploy/kubernetes/${name}.yaml`)).map((document) => document.toJS()),
    );
    expect(manifests.map(({ kind }) => kind).filter((kind) => !KINDS.includes(kind))).toEqual([]);
    const containers = manifests.flatMap(({ spec }) => spec?.template?.spec?.containers ?? []);
    const units = files.filter((file) => file.endsWith('.service')).map(textOf);
    const commands = [
      compose.services.migrate.command,
      ...containers.map(({ args }) => args),
      ...units.map((unit) => (/^ExecStart=\/usr\/bin\/env tool (.*)$/m.exec(unit)?.[1] ?? '').split(' ')),
      JSON.parse(/^CMD (.*)$/m.exec(textOf('deploy/Dockerfile'))?.[1] ?? ''),
    ].map((words: string[]) => words.join(' '));
    expect(commands.length).toBe(7);
    expect(commands.filter((command) => !COMMANDS.some(({ name }) => name === command))).toEqual([]);
    const settings = { ...manifests.find(({ kind }) => kind === 'ConfigMap').data };
    for (const name of Object.keys(settings)) if (name.endsWith('_FILE')) delete settings[name];
    const secrets = { TOOL_HUB_DATABASE_URL: 'postgres://hub@db/hub', TOOL_HUB_KEYS: 'a'.repeat(64) };
    const inUnit = Object.fromEntries(
      textOf('deploy/systemd/hub.env')
        .trim()
        .split('\n')
        .map((line) => line.split(/=(.*)/)),
    );
    const variables: Record<string, string> = {
      HUB_HOST: 'hub.example.com',
      PROVIDER_URL: 'https://idp.example.com',
      OWNER_GROUPS: 'a',
    };
    const inCompose = Object.entries<string>(compose.services.hub.environment)
      .filter(([name]) => !name.endsWith('_FILE'))
      .map(([name, value]) => [
        name,
        value.replace(/\$\{(\w+)(?::[?-]([^}]*))?\}/g, (_, key, other) => variables[key] ?? other),
      ]);
    for (const given of [settings, inUnit, Object.fromEntries(inCompose)]) {
      await expect(readHubSettings({ ...secrets, ...given }, { dev: false })).resolves.toBeDefined();
    }
  });

  test('files that they name exist, and secrets are declared', () => {
    const compose = parse(textOf('deploy/compose/compose.yaml'), { merge: true });
    for (const service of Object.values<{ secrets?: string[]; environment?: Record<string, string> }>(
      compose.services,
    )) {
      for (const secret of service.secrets ?? []) expect(Object.keys(compose.secrets)).toContain(secret);
      const inside = Object.values(service.environment ?? {}).filter((value) => value.startsWith('/run/secrets/'));
      for (const path of inside) expect(service.secrets).toContain(path.slice('/run/secrets/'.length));
    }
    expect(files).toContain('deploy/compose/roles.sh');
    expect(files).toContain(compose.services.hub.build.dockerfile);
    const page = textOf('docs/hub.md');
    for (const { file } of Object.values<{ file: string }>(compose.secrets)) expect(page).toContain(`> ${file}\n`);
    for (const [, file = ''] of page.matchAll(/(?:\.\.\/| )(deploy\/[\w./-]+\w)/g))
      expect(existsSync(join(ROOT, file)), file).toBe(true);
  });

  const analyze = spawnSync('systemd-analyze', ['--version']).status === 0;
  test.skipIf(!analyze)(`units are valid${analyze ? '' : ' (needs systemd-analyze)'}`, () => {
    const units = files.filter((file) => file.endsWith('.service')).map((file) => join(ROOT, file));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', ...units], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test('a program that is not run here has a file that is checked', () => {
    expect(Object.keys(NOT_RUN)).toEqual(['docker', 'kubectl']);
    expect(files).toEqual(expect.arrayContaining(['deploy/Dockerfile', 'deploy/kubernetes/hub.yaml']));
  });
});
