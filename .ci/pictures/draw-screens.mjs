import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { DOCUMENTED, FILES, SCENES } from './screens.mjs';
import { createSteady } from './steady.mjs';
import { svg } from './svg.mjs';
import { PATIENCE } from './world.mjs';

/** @type {[number, number][]} */
export const SIZES = [
  [80, 24],
  [120, 40],
];
export const SCHEMES = ['dark', 'light'];
/** What a terminal answers to the question for its background; it may do so again when that changes. */
const BACKGROUND = { dark: '\x1b]11;rgb:1616/1818/1d1d\x1b\\', light: '\x1b]11;rgb:fbfb/fbfb/fcfc\x1b\\' };

export function pictureFile(name, [columns, rows], scheme) {
  return `${name}-${columns}x${rows}-${scheme}.svg`;
}

/** @param {string} picture */
export function documentedFile(picture) {
  return pictureFile(picture, SIZES[0], SCHEMES[0]);
}

/**
 * Walks through all scenes, and draws each picture at each size, dark and light, into `folder`; copies those of the
 * documentation to `documented`. Calls `drawn` with their names.
 */
export async function drawScreens({ world, folder, documented, home, drawn }) {
  for (const each of [folder, documented]) {
    rmSync(each, { recursive: true, force: true });
    mkdirSync(each, { recursive: true });
  }
  const names = new Set();
  let holding;
  for (const { folder: name, words, steps, environment } of SCENES) {
    const cwd = world.folder(name, FILES[name] ?? {});
    const [columns, rows] = SIZES[0];
    const terminal = world.open({ words, cwd, columns, rows, environment });
    const steady = createSteady([
      [cwd, `/home/ada/${name}`],
      [home, '/home/ada'],
      [world.root, '/usr/lib/tool/'],
    ]);
    for (const { clock, sql, database = 'shop', hold, free, keys = [], shows, picture, title } of steps) {
      if (clock) world.setClock(clock);
      if (sql) runSql(`${world.server}/${database}`, sql);
      if (hold) holding = await holdLock(`${world.server}/shop`, hold);
      if (free) holding.kill();
      terminal.press(...keys.map((key) => key.replaceAll('{server}', world.server)));
      await terminal.waitFor(shows, PATIENCE);
      if (!picture) continue;
      if (names.has(picture)) throw new Error(`two pictures are called ${picture}`);
      names.add(picture);
      for (const [size, scheme, cells] of await views(terminal, steady)) {
        const text = svg(cells, title ?? picture, { light: scheme === 'light' });
        writeFileSync(join(folder, pictureFile(picture, size, scheme)), text);
      }
      drawn(picture);
    }
    terminal.signal('SIGTERM');
    await terminal.exited();
  }
  for (const file of DOCUMENTED.map(documentedFile)) copyFileSync(join(folder, file), join(documented, file));
}

async function views(terminal, steady) {
  const all = [];
  await resized(terminal, SIZES[0]);
  for (const size of SIZES) {
    await resized(terminal, size);
    for (const scheme of SCHEMES) {
      terminal.press(BACKGROUND[scheme]);
      all.push([size, scheme, steady(await quiet(terminal))]);
    }
    terminal.press(BACKGROUND.dark);
    await quiet(terminal);
  }
  await resized(terminal, SIZES[0]);
  return all;
}

async function resized(terminal, [columns, rows]) {
  if (terminal.columns() !== columns) terminal.resize(columns, rows);
  await quiet(terminal);
}

/** The screen when nothing is drawn any more: a picture shows the state at the end, whatever leads to it. */
async function quiet(terminal) {
  let last = '';
  let since = 0;
  for (let round = 0; round < 200; round += 1) {
    await wait(70);
    const text = JSON.stringify(terminal.cells());
    since = text === last ? since + 1 : 0;
    last = text;
    if (since === 4) return terminal.cells();
  }
  throw new Error(`the screen is never quiet:\n${terminal.screen()}`);
}

function runSql(url, sql) {
  const { status, stderr } = spawnSync('psql', [url, '-qX', '-v', 'ON_ERROR_STOP=1', '-c', sql], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`psql: ${stderr}`);
}

/** Holds the lock until the process is killed. */
async function holdLock(url, sql) {
  const child = spawn('psql', [url, '-qXAt', '-v', 'ON_ERROR_STOP=1'], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.write(`BEGIN; ${sql}; SELECT 'held';\n`);
  await once(child.stdout, 'data');
  return child;
}
