/** `npm run bench -- start-up`: how long the program takes to start, against a bare Node in the same minute. */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn as spawnInTerminal } from '@lydell/node-pty';
import { keepFigure } from '../helpers/keep-figure.ts';

const ROUNDS = 21;
const root = fileURLToPath(new URL('../..', import.meta.url));
const tool = join(root, 'dist/tool.js');
const home = mkdtempSync(join(tmpdir(), 'tool-start-up-'));
// CI stops Ink from drawing, and extra certificates alone cost a Node some 70 ms.
const { CI: _ci, NODE_EXTRA_CA_CERTS: _certificates, ...inherited } = process.env;
const env = {
  ...inherited,
  HOME: home,
  TOOL_TRUST: 'true',
  XDG_CACHE_HOME: join(home, 'cache'),
  TERM: 'xterm-256color',
};

/** Made by `npm run package -- executable`. */
const [executable] = globSync('dist/packages/tool-*', { cwd: root }).filter((file) =>
  file.endsWith(`-${process.platform}-${process.arch}`),
);

const bare = { name: 'node -e 0', run: () => timeProcess(['-e', '0']), times: [] as number[] };
const bareFrame = {
  name: 'node that writes to a terminal',
  run: () => timeFrame(['-e', 'console.log("targets"); setInterval(() => {}, 1000)']),
  times: [] as number[],
};
const version = {
  name: 'tool --version',
  run: () => timeProcess([tool, '--version']),
  against: bare,
  reach: 1.2,
  times: [] as number[],
};
const measured = [
  version,
  { name: 'tool --help', run: () => timeProcess([tool, '--help']), against: bare, reach: null, times: [] as number[] },
  { name: 'first frame', run: () => timeFrame([tool]), against: bareFrame, reach: 3, times: [] as number[] },
  ...(executable
    ? [
        {
          name: 'single executable --version',
          run: () => timeProcess(['--version'], join(root, executable)),
          against: version,
          reach: 1.3,
          times: [] as number[],
        },
      ]
    : []),
];

try {
  await fillCompileCache();
  // In turns, so that what else the machine does falls on all alike.
  for (let round = 0; round < ROUNDS; round++) {
    for (const subject of [bare, bareFrame, ...measured]) subject.times.push(await subject.run());
  }
  for (const { name, times } of [bare, bareFrame]) console.log(`${name.padEnd(32)}${median(times).toFixed(0)} ms`);
  for (const { name, times, against, reach } of measured) {
    const ratio = median(times) / median(against.times);
    const verdict = reach === null ? '' : `  to reach: ≤ ${reach} ×${ratio <= reach ? '' : '  MISSED'}`;
    console.log(`${name.padEnd(32)}${median(times).toFixed(0)} ms  ${ratio.toFixed(2)} ×${verdict}`);
    keepFigure(name, ratio);
    if (reach !== null && ratio > reach) process.exitCode = 1;
  }
} finally {
  rmSync(home, { recursive: true });
}

async function timeProcess(words: string[], program = process.execPath): Promise<number> {
  const started = performance.now();
  spawnSync(program, words, { env });
  return performance.now() - started;
}

/** From the start to the first frame: the word that the screen of targets has in its head. */
async function timeFrame(words: string[]): Promise<number> {
  const started = performance.now();
  const terminal = openTerminal(words);
  const seen = Promise.withResolvers<number>();
  let output = '';
  terminal.onData((data) => {
    output += data;
    if (output.includes('targets')) seen.resolve(performance.now() - started);
  });
  const ended = Promise.withResolvers<void>();
  terminal.onExit(() => {
    seen.reject(new Error(`Ended without a frame:\n${output}`));
    ended.resolve();
  });
  const time = await seen.promise;
  terminal.kill('SIGKILL');
  await ended.promise;
  return time;
}

/** Node writes the cache when a program ends by itself. */
async function fillCompileCache(): Promise<void> {
  await timeProcess([tool, '--help']);
  const terminal = openTerminal([tool]);
  // Twice within two seconds leaves whatever is shown: where there is no configuration, a letter is typed into the wizard.
  const quit = setInterval(() => terminal.write('\x03'), 500);
  const ended = Promise.withResolvers<void>();
  terminal.onExit(() => ended.resolve());
  await ended.promise;
  clearInterval(quit);
}

function openTerminal(words: string[]) {
  return spawnInTerminal(process.execPath, words, { cols: 80, rows: 24, env });
}

function median(times: number[]): number {
  return times.toSorted((a, b) => a - b)[times.length >> 1] ?? Number.NaN;
}
