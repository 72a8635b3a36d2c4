import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { beforeAll, expect, it } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { openSession } from '../../../src/engines/mysql/connection/session.ts';
import { parseMysqlUrl } from '../../../src/engines/mysql/connection/url.ts';
import { listServers } from '../../../src/operations/servers/list/list.ts';
import { SERVER_KINDS, type ServerKind, startAnyServer } from '../../helpers/databases/any-server.ts';
import { describeWithKind } from '../../helpers/databases/describe-with-kind.ts';
import { withMysqlServerPrograms } from '../../helpers/mysql/mysql-programs.ts';
import { dumpAt, eventually, psqlAt, temporaryFolder, testContext } from '../../helpers/postgres/postgres-server.ts';
import { randomFrom } from '../../helpers/random.ts';
import { suiteResource } from '../../helpers/suite-resource.ts';
import { startTool, type ToolProcess } from '../../helpers/terminal/tool-process.ts';

const ROUNDS = 200;
/** No round begins after so many milliseconds; KILL_MINUTES sets fewer or more. */
const LONGEST = Number(process.env.KILL_MINUTES ?? 20) * 60_000;

/** The commands that are killed, and whether they find an image. */
const COMMANDS = [
  { words: ['up', 'shop'], image: false },
  { words: ['up', 'shop', '--detach'], image: false },
  { words: ['up', 'shop'], image: true },
  { words: ['up', 'shop', '--detach'], image: true },
  { words: ['down', '--all'], image: true },
];
/** How: the program alone, its group, or all processes that work on its folders. */
const WAYS = ['program', 'group', 'all'] as const;

const ROWS = 20_000;

const STATEMENTS = {
  postgres: [
    'CREATE TABLE customer (id integer PRIMARY KEY, name text NOT NULL)',
    `INSERT INTO customer SELECT i, md5(i::text) FROM generate_series(1, ${ROWS}) i`,
    'CREATE INDEX ON customer (name)',
  ],
  mysql: [
    'CREATE TABLE customer (id integer PRIMARY KEY, name varchar(64) NOT NULL, KEY (name))',
    `INSERT INTO customer WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
       SELECT a.i + 1000 * (b.i - 1), SHA2(a.i + 1000 * b.i, 256) FROM n a, n b WHERE b.i <= ${ROWS / 1000}`,
    'CREATE VIEW named AS SELECT name FROM customer',
  ],
};

const rowsAt = async (url: string, ...statements: string[]): Promise<unknown[]> => {
  await using session = await openSession({ url: parseMysqlUrl(url) });
  const rows: unknown[] = [];
  for (const statement of statements) rows.push(await session.query(statement));
  return rows;
};

const COUNT = 'SELECT count(*) AS count FROM customer';

const READERS: Record<
  'postgres' | 'mysql',
  { count(url: string): Promise<number>; content(url: string): Promise<unknown> }
> = {
  postgres: {
    count: async (url) => Number(await psqlAt(url, { sql: COUNT })),
    content: dumpAt,
  },
  mysql: {
    count: async (url) => Number(JSON.stringify(await rowsAt(url, COUNT)).replaceAll(/\D/g, '')),
    content: (url) =>
      rowsAt(url, 'SHOW CREATE TABLE customer', 'SELECT * FROM customer ORDER BY id', 'SELECT * FROM named'),
  },
};

for (const kind of SERVER_KINDS) {
  describeWithKind(kind, 'servers on images, when their commands are killed', () => killRounds(kind));
}

function killRounds(kind: ServerKind): void {
  const engine = kind === 'postgres' ? kind : 'mysql';
  const { count, content } = READERS[engine];
  const folder = suiteResource(() => temporaryFolder({ mode: 0o755 }));
  const server = suiteResource(() => startAnyServer(kind));
  let settings: Partial<Settings>;
  let environment: Record<string, string> = {};
  let pristine: unknown;
  const longest = new Map<(typeof COMMANDS)[number], number>();

  beforeAll(async () => {
    await server.create('shop');
    await server.run('shop', STATEMENTS[engine]);
    if (kind === 'mysql') {
      const { PATH = '' } = (await withMysqlServerPrograms(testContext({ settings: {} }), folder.path)).environment;
      environment = { PATH };
    }
    settings = {
      secret_key: 'ab'.repeat(16),
      working_directory: join(folder.path, 'work'),
      targets: { shop: { snapshot: { src_url: server.url('shop') } } },
    };
    writeFileSync(join(folder.path, 'tool.yml'), JSON.stringify(settings), { mode: 0o600 });
    await done(['build', 'shop']);
    pristine = await content(server.url('shop'));
  }, 120_000);

  const run = (words: string[]): ToolProcess =>
    startTool({ config: join(folder.path, 'tool.yml'), words, environment });
  const done = async (words: string[]): Promise<string> => {
    const { code, output } = await run(words).ended;
    expect(code, output).toBe(0);
    return output;
  };
  const within = (name: string): string[] => {
    const path = join(folder.path, 'work', name);
    return existsSync(path) ? readdirSync(path) : [];
  };
  const homes = (): string[] =>
    within('servers')
      .filter((name) => name.endsWith('.json'))
      .map((name) => `tool-server-${name.slice(0, -'.json'.length)}`);
  /** Processes with one of the folders among their arguments. */
  const processesOf = (folders: string[]): number[] =>
    readdirSync('/proc').flatMap((pid) => {
      if (!/^\d+$/.test(pid) || !existsSync(`/proc/${pid}/cmdline`)) return [];
      const words = readIfThere(`/proc/${pid}/cmdline`);
      return folders.some((name) => words.includes(name)) ? [Number(pid)] : [];
    });
  const urlIn = (output: string): string | undefined => {
    const line = output.split('\n').find((text) => text.includes('"event":"server"'));
    const { url, password } = line ? JSON.parse(line) : {};
    return url?.replace('@', `:${password}@`);
  };

  async function kill(started: ToolProcess, way: (typeof WAYS)[number]): Promise<void> {
    if (way === 'group') started.killGroup();
    else started.child.kill('SIGKILL');
    await started.ended;
    for (const pid of way === 'all' ? processesOf(homes()) : []) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended with its server.
      }
    }
  }

  it(
    'leave nothing that the next command does not remove, and images that are whole',
    async () => {
      const began = performance.now();
      const random = randomFrom(Date.now() % 2 ** 31);
      const oneOf = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
      let [round, finished] = [0, 0];
      for (; round < ROUNDS && performance.now() - began < LONGEST; round++) {
        const command = oneOf(COMMANDS);
        const way = oneOf(WAYS);
        const at = `round ${round}: ${command.words.join(' ')}, image ${command.image}, ${way}`;
        if (!command.image) rmSync(join(folder.path, 'work', 'images'), { recursive: true, force: true });
        else if (command.words[0] === 'down') await done(['up', 'shop', '--detach']);
        const started = run(command.words);
        await started.begun;
        const from = performance.now();
        const most = longest.get(command);
        const ready =
          command.words.length === 2 && command.words[0] === 'up' ? started.said('"event":"server"') : started.ended;
        await Promise.race([ready, ...(most === undefined ? [] : [setTimeout(random() * most)])]);
        if (most === undefined) longest.set(command, performance.now() - from + 200);
        await kill(started, way);
        const { output } = await started.ended;
        const homesThen = homes();
        const url = urlIn(output);
        const goesOn = url !== undefined && command.words.includes('--detach') && way !== 'all';
        if (goesOn) {
          finished++;
          expect(await count(url), at).toBe(ROWS);
          expect((await listServers(testContext({ settings }))).servers, at).toHaveLength(1);
        }
        await eventually(async () => {
          const { servers } = await listServers(testContext({ settings }));
          // It may be ending.
          if (servers.length > 0) await run(['down', '--all']).ended;
          return within('servers').length === 0 && processesOf(homesThen).length === 0;
        });
        expect(
          readdirSync(tmpdir()).filter((name) => homesThen.includes(name)),
          at,
        ).toEqual([]);
        for (const name of within('images'))
          expect(within(join('images', name)).sort(), at).toEqual(['data', 'image.json']);
        const next = urlIn(await done(['up', 'shop', '--detach'])) ?? '';
        if (round % 10 === 0) expect(await content(next), at).toEqual(pristine);
        else expect(await count(next), at).toBe(ROWS);
        await done(['down', '--all']);
        expect(within('images'), at).toHaveLength(1);
        // A staging folder that has no owner yet, or no longer, is removed after a minute.
        const owned = within('staging').filter((name) => within(join('staging', name)).includes('owner.json'));
        expect([...within('servers'), ...owned], at).toEqual([]);
      }
      console.log(`${round} rounds, of which ${finished} began a server that went on`);
      expect(round).toBeGreaterThan(0);
    },
    LONGEST + 120_000,
  );
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
