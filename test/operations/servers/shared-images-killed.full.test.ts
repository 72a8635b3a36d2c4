import { existsSync, globSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { signingKey } from '../../../src/config/signing-key.ts';
import { publicKeyText } from '../../../src/repository/manifest/signature.ts';
import {
  describeWithPostgres,
  psqlAt,
  startPostgres,
  type TestPostgres,
  temporaryFolder,
} from '../../helpers/postgres/postgres-server.ts';
import { randomFrom } from '../../helpers/random.ts';
import { startTool, type ToolProcess } from '../../helpers/terminal/tool-process.ts';

const ROUNDS = 20;
const ROWS = 5000;

describeWithPostgres('shared images, when their push or pull is killed', () => {
  let server: TestPostgres;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const bucket = (...names: string[]): string => join(folder.path, 'bucket', ...names);
  const work = (machine: string, name: string): string => join(folder.path, machine, 'work', name);

  beforeAll(async () => {
    folder = await temporaryFolder();
    server = await startPostgres();
    await mkdir(bucket());
    await server.createDatabase('shop');
    await server.psql('shop', {
      sql: `CREATE TABLE customer (id integer PRIMARY KEY, name text NOT NULL);
        INSERT INTO customer SELECT i, md5(i::text) FROM generate_series(1, ${ROWS}) i; CREATE INDEX ON customer (name)`,
    });
    const sanitize = { override_query: "UPDATE customer SET name = 'person ' || id" };
    const source = { storage_profile: 'team', image: true, snapshot: { src_url: server.url('shop') }, sanitize };
    await writeMachine('maker', { targets: { shop: source } });
    const key = publicKeyText(await signingKey(environmentOf('maker')));
    await writeMachine('reader', {
      trusted_keys: [key],
      targets: { shop: { share: { storage_profile_name: 'team' } } },
    });
    await done('maker', ['build', 'shop']);
    await done('maker', ['sanitize', 'shop', '--ephemeral']);
  }, 120_000);

  afterAll(async () => {
    if (existsSync(join(folder.path, 'reader', 'tool.yml'))) await run('reader', ['down', '--all']).ended;
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  const environmentOf = (machine: string) => {
    const home = join(folder.path, machine);
    return { HOME: home, XDG_CONFIG_HOME: home };
  };

  async function writeMachine(machine: string, settings: Partial<Settings>): Promise<void> {
    const home = join(folder.path, machine);
    await mkdir(home);
    const storage_profiles = { team: { provider: 'folder', path: bucket() } };
    const content = {
      secret_key: 'ab'.repeat(16),
      working_directory: join(home, 'work'),
      storage_profiles,
      ...settings,
    };
    await writeFile(join(home, 'tool.yml'), JSON.stringify(content), { mode: 0o600 });
  }

  const run = (machine: string, words: string[]): ToolProcess =>
    startTool({ config: join(folder.path, machine, 'tool.yml'), words, environment: environmentOf(machine) });

  async function done(machine: string, words: string[]): Promise<string> {
    const { code, output } = await run(machine, words).ended;
    expect(code, output).toBe(0);
    return output;
  }

  const imagesInBucket = (): string[] => globSync(bucket('snapshots', 'image+*', '*.json'));
  const within = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);

  /** What each machine begins without, and the command that is killed. */
  const COMMANDS = [
    { machine: 'maker', words: ['push', 'shop'], without: () => [work('maker', 'images'), ...imagesInBucket()] },
    { machine: 'maker', words: ['push', 'shop'], without: imagesInBucket },
    { machine: 'reader', words: ['up', 'shop', '--detach'], without: () => [work('reader', 'images')] },
  ];

  it(
    `leave nothing in the way of the next command, ${ROUNDS} times each`,
    async () => {
      const random = randomFrom(Date.now() % 2 ** 31);
      const longest = new Map<(typeof COMMANDS)[number], number>();
      for (let round = 0; round < ROUNDS; round++) {
        for (const command of COMMANDS) {
          const { machine, words, without } = command;
          const at = `round ${round}: ${machine} ${words.join(' ')}`;
          for (const path of without()) rmSync(path, { recursive: true, force: true });
          const started = run(machine, words);
          await started.begun;
          const from = performance.now();
          const most = longest.get(command);
          await Promise.race([started.ended, ...(most === undefined ? [] : [setTimeout(random() * most)])]);
          if (most === undefined) longest.set(command, performance.now() - from);
          started.killGroup();
          await started.ended;
          await done('maker', ['push', 'shop']);
          const output = await done('reader', ['up', 'shop', '--detach']);
          const event = output.split('\n').find((line) => line.includes('"event":"server"')) ?? '{}';
          const { url = '', password } = JSON.parse(event);
          const rows = await psqlAt(url.replace('@', `:${password}@`), {
            sql: 'SELECT count(*), max(name) FROM customer',
          });
          expect(rows, at).toBe(`${ROWS}|person 999\n`);
          await done('reader', ['down', '--all']);
          expect(imagesInBucket(), at).toHaveLength(1);
          // It has no snapshot: the image was pulled.
          expect(existsSync(work('reader', 'objects')), at).toBe(false);
          for (const one of ['maker', 'reader']) {
            expect(within(work(one, 'images')), at).toHaveLength(1);
            expect(within(work(one, 'servers')), at).toEqual([]);
          }
        }
      }
    },
    ROUNDS * 120_000,
  );
});
