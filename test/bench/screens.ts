/** `npm run bench -- screens`: what a key, doing nothing and work in progress cost; over fake operations, on Linux. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { bundleScreens } from '../e2e/screens-program.ts';

const KEYS = 200;
/** After a key nothing more is written for so long. */
const REST_MS = 60;
const WATCHED_MS = 5000;
/** What the kernel counts the time of processes in. */
const TICK_MS = 10;

const folder = mkdtempSync(join(tmpdir(), 'tool-screens-'));
const { CI: _ci, NODE_EXTRA_CA_CERTS: _certificates, ...inherited } = process.env;
const env = { ...inherited, TOOL_TRUST: 'true', XDG_CACHE_HOME: folder, TERM: 'xterm-256color', LANG: 'C.UTF-8' };

try {
  const program = await bundleScreens(folder);
  await withScreens([program, 'long'], async (terminal) => {
    await terminal.waitFor('activity');
    terminal.press('\r');
    await terminal.waitFor('10,000');
    await pause(1000);
    const moves = [];
    for (let key = 0; key < KEYS; key++) moves.push(await terminal.cost(key % 40 < 20 ? 'j' : '\x1b[6~'));
    const times = moves.map(({ ms }) => ms).sort((a, b) => a - b);
    show('a key among 10,000 snapshots, median', times[KEYS / 2] ?? Number.NaN, { unit: 'ms', reach: 8 });
    show('a key among 10,000 snapshots, p95', times[Math.floor(KEYS * 0.95)] ?? Number.NaN, { unit: 'ms', reach: 14 });
    // The later ones scroll the list.
    const single = moves.slice(0, 20).map(({ bytes }) => bytes);
    show('a cursor move at 120×40, at most', Math.max(...single), { unit: 'bytes', reach: 2000 });
    await pause(1000);
    show('doing nothing', await terminal.load(), { unit: '% of a core', reach: 1 });
  });
  await withScreens([program, 'busy'], async (terminal) => {
    await terminal.waitFor('activity');
    terminal.press('b');
    await terminal.waitFor('Dump a very large table');
    const before = terminal.frames();
    const load = await terminal.load();
    show('work in progress', load, { unit: '% of a core' });
    show('redraws of work in progress', ((terminal.frames() - before) / WATCHED_MS) * 1000, { unit: '/s', reach: 15 });
  });
} finally {
  rmSync(folder, { recursive: true });
}

interface Watched {
  press(key: string): void;
  waitFor(text: string): Promise<void>;
  /** From a key to the last byte that it brings about. */
  cost(key: string): Promise<{ ms: number; bytes: number }>;
  /** Share of a core that the program takes, over some seconds. */
  load(): Promise<number>;
  frames(): number;
}

async function withScreens(words: string[], measure: (terminal: Watched) => Promise<void>): Promise<void> {
  const child = spawn(process.execPath, words, { cols: 120, rows: 40, env });
  // Only cells that change are written: text is looked for on the screen.
  const screen = new xterm.Terminal({ cols: 120, rows: 40, allowProposedApi: true });
  const lineAt = (row: number) => screen.buffer.active.getLine(row)?.translateToString() ?? '';
  let output = '';
  let last = 0;
  child.onData((data) => {
    output += data;
    screen.write(data);
    last = performance.now();
  });
  const ended = Promise.withResolvers<void>();
  child.onExit(() => ended.resolve());
  try {
    await measure({
      press: (key) => child.write(key),
      async waitFor(text) {
        while (!Array.from({ length: screen.rows }, (_, row) => lineAt(row)).some((line) => line.includes(text)))
          await pause(20);
      },
      async cost(key) {
        const before = output.length;
        const pressed = performance.now();
        child.write(key);
        while (last < pressed || performance.now() - last < REST_MS) await pause(5);
        return { ms: last - pressed, bytes: Buffer.byteLength(output.slice(before)) };
      },
      async load() {
        const before = ticks(child.pid);
        await pause(WATCHED_MS);
        return (((ticks(child.pid) - before) * TICK_MS) / WATCHED_MS) * 100;
      },
      frames: () => output.split('\x1b[?2026h').length - 1,
    });
  } finally {
    child.kill('SIGKILL');
    await ended.promise;
  }
}

/** User and system time of a process: proc(5). */
function ticks(pid: number): number {
  const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '');
  const [user, system] = afterName.split(' ').slice(11, 13);
  return Number(user) + Number(system);
}

function show(name: string, value: number, { unit, reach }: { unit: string; reach?: number }): void {
  const verdict = reach === undefined ? '' : `  to reach: ≤ ${reach}${value <= reach ? '' : '  MISSED'}`;
  console.log(`${name.padEnd(42)}${value.toFixed(1)} ${unit}${verdict}`);
  if (reach !== undefined && value > reach) process.exitCode = 1;
}
