import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { build } from '../../.ci/build.mjs';
import { type AnyServer, startAnyServer } from '../helpers/databases/any-server.ts';
import { describeWithPostgres, temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { startTcpProxy, type TcpProxy } from '../helpers/proxies/tcp-proxy.ts';
import { type Round, trials } from '../helpers/trials.ts';
import { openTerminal, type TestTerminal } from './terminal.ts';

const part = trials('terminal/random-keys');
const STEPS = 100;
/** Between two keys: faster than a person, slow enough that not all of them are one paste. */
const PACE_MS = 25;
/** Ends of the program that are none of a crash: quit, Ctrl-C, SIGTERM. */
const ENDS = [0, 130, 143];
const AS_BEFORE = { alternateScreen: false, cursorHidden: false, autowrap: true, bracketedPaste: false };
/** After a resize the terminal has the frame of the earlier width until the program has drawn again. */
const REDRAWN_MS = 10_000;

const KEYS = [
  ...['enter', 'enter', 'enter', 'esc', 'esc', 'up', 'down', 'down', 'left', 'right', 'tab', 'backspace'],
  ...['pageup', 'pagedown', 'home', 'end', ...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'],
  ...[...'/:?.,;!"$%&()=+-*#_<>|~^{}[]\\\' '],
  ...[
    '\x01',
    '\x02',
    '\x05',
    '\x06',
    '\x0b',
    '\x15',
    '\x17',
    '\x1b[1;5C',
    '\x1b[3~',
    '\x1b[15~',
    '\x1bO',
    '\x1b[',
    '\x9b',
  ],
];
const PASTES = [
  'public.person',
  'postgres://u:p@h/d',
  'a\nb\nc',
  '\x1b[2J\x1b[31m',
  '🐘 表 é \u202e',
  'x'.repeat(3000),
  '{{ `X` | env }}',
  '\0\x07',
];

describeWithPostgres('the screens under random keys', () => {
  let server: AnyServer;
  let proxy: TcpProxy;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeAll(async () => {
    await build();
    [server, folder] = await Promise.all([startAnyServer('postgres'), temporaryFolder()]);
    await server.create('shop');
    await server.run('shop', [
      'CREATE TABLE person (id integer PRIMARY KEY, email text)',
      `INSERT INTO person SELECT i, 'p' || i || '@example.org' FROM generate_series(1, 500) i`,
      'CREATE TABLE "ünï 表 🐘" (id integer REFERENCES person)',
    ]);
    proxy = await startTcpProxy(Number(new URL(server.url('shop')).port));
  }, 120_000);

  afterAll(async () => {
    await proxy?.stop();
    await server?.stop();
    await folder?.[Symbol.asyncDispose]();
  });

  async function open(work: string, { random }: Round): Promise<TestTerminal> {
    const through = (database: string): string => {
      const url = new URL(server.url(database));
      url.port = String(proxy.port);
      return url.href;
    };
    const snapshot = { src_url: through('shop'), dst_url: through('copy') };
    const targets = {
      shop: { snapshot, sanitize: { override_query: "UPDATE person SET email = 'x' || id" } },
      'long-name-of-a-target-that-is-wider-than-a-small-window': { snapshot },
      small: {
        subset: {
          src_url: through('shop'),
          dst_url: through('small'),
          subset_tables: [{ table: 'public.person', percent: 10 }],
        },
      },
      away: { snapshot: { src_url: 'postgres://nobody@127.0.0.1:1/away' } },
    };
    const settings = { secret_key: '0123456789abcdef'.repeat(2), working_directory: join(work, 'work'), targets };
    await writeFile(join(work, 'tool.yml'), JSON.stringify(settings), { mode: 0o600 });
    return openTerminal({
      command: [process.execPath, PROGRAM],
      cwd: work,
      columns: 60 + Math.floor(random() * 100),
      rows: 15 + Math.floor(random() * 40),
      // Nothing leaves this machine, and what is opened ends at once.
      environment: {
        TOOL_TRUST: 'true',
        HOME: work,
        XDG_CACHE_HOME: join(work, 'cache'),
        EDITOR: 'true',
        VISUAL: 'true',
        BROWSER: 'true',
      },
      measured: true,
    });
  }

  it(part.title('survive, fit into the window, and leave the terminal as it was'), { timeout: part.timeout }, () =>
    part.each(async (round) => {
      const { random, oneOf } = round;
      await using work = await temporaryFolder();
      proxy.set('up');
      let terminal = await open(work.path, round);
      let end: number | null = null;
      const watch = (): void => {
        end = null;
        void terminal.exited(part.timeout).then(({ exitCode }) => {
          end = exitCode;
        });
      };
      watch();
      const done: string[] = [];
      const told = (): string => `after ${JSON.stringify(done.slice(-30))}\n${terminal.screen()}`;
      async function expectRestored(): Promise<void> {
        const { exitCode } = await terminal.exited();
        expect(ENDS, told()).toContain(exitCode);
        await expect.poll(() => terminal.modes(), { message: told() }).toEqual(AS_BEFORE);
      }
      await terminal.waitFor(/targets|Set up|configuration/);
      try {
        for (let step = 0; step < STEPS; step += 1) {
          const kind = random();
          if (kind < 0.82) {
            const key = oneOf(KEYS);
            done.push(key);
            terminal.press(key);
          } else if (kind < 0.87) {
            const text = oneOf(PASTES);
            done.push(`paste ${text.slice(0, 20)}`);
            terminal.press(`\x1b[200~${text}\x1b[201~`);
          } else if (kind < 0.92) {
            const [columns, rows] = [20 + Math.floor(random() * 180), 5 + Math.floor(random() * 55)];
            done.push(`${columns}×${rows}`);
            terminal.resize(columns, rows);
          } else if (kind < 0.96) {
            const [button, x, y] = [
              oneOf([0, 0, 2, 64, 65]),
              1 + Math.floor(random() * 80),
              1 + Math.floor(random() * 24),
            ];
            done.push(`mouse ${button} ${x},${y}`);
            terminal.press(`\x1b[<${button};${x};${y}M\x1b[<${button};${x};${y}m`);
          } else {
            const state = oneOf(['up', 'down'] as const);
            done.push(`server ${state}`);
            proxy.set(state);
          }
          await setTimeout(PACE_MS);
          if (end !== null) {
            await expectRestored();
            terminal.close();
            terminal = await open(work.path, round);
            watch();
            done.push('opened again');
            await terminal.waitFor(/targets|Set up|configuration/);
          }
          expect(terminal.screen(), told()).not.toMatch(/^\s+at .*\.[jt]sx?:\d+:\d+/m);
          await expect
            .poll(() => terminal.widest(), { timeout: REDRAWN_MS, message: `wider than the window ${told()}` })
            .toBeLessThanOrEqual(terminal.columns());
        }
        proxy.set('up');
        if (end === null) terminal.signal('SIGTERM');
        await expectRestored();
        const logs = await readdir(join(work.path, 'work', 'logs')).catch(() => []);
        expect(
          logs.filter((name) => name.includes('crash')),
          told(),
        ).toEqual([]);
      } finally {
        terminal.close();
      }
      await server.quiet();
    }),
  );
});
