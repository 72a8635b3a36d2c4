import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Resvg } from '@resvg/resvg-js';
import { openTerminal } from '../test/e2e/terminal.ts';
import { build } from './build.mjs';
import { drawPages } from './pictures/pages.mjs';
import { asciicast, createRecording } from './pictures/recording.mjs';
import { animatedSvg, svg } from './pictures/svg.mjs';

/** Making the sample takes some ten seconds, more where the machine is busy. */
const PATIENCE = 60_000;
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'docs', 'pictures');
const font = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf');
const fontFiles = [font, font.replace('.ttf', '-Bold.ttf')];

/** `npm run pictures -- recording`: the recording alone. */
const isWhole = process.argv[2] !== 'recording';

if (isWhole) await drawPages(folder);
await build();
const home = mkdtempSync(join(tmpdir(), 'pictures-'));
const terminal = open('demo');
try {
  mkdirSync(folder, { recursive: true });
  if (isWhole) {
    await walk();
    await setUp();
  } else await terminal.waitFor('✓ up', PATIENCE);
  await firstRun();
} finally {
  // The demo takes its server down by itself.
  terminal.signal('SIGTERM');
  await terminal.exited;
  terminal.close();
  rmSync(home, { recursive: true, force: true });
}

function open(...words) {
  return openIn(home, ...words);
}

function openIn(cwd, ...words) {
  return openTerminal({
    command: [process.execPath, join(root, 'dist', 'tool.js'), ...words],
    columns: 100,
    rows: 28,
    cwd,
    environment: { HOME: home, TMPDIR: home, XDG_CACHE_HOME: home },
  });
}

/** Through the demo as a person would, with a picture wherever there is something to see. */
async function walk() {
  await terminal.waitFor((screen) => screen.includes('✗ unreachable') && screen.split('✓ up').length === 3, PATIENCE);
  picture('targets');
  terminal.press(':');
  await terminal.waitFor('Enter run');
  terminal.press('s', 'o');
  await terminal.waitFor(': so');
  picture('palette');
  await back('3 targets');
  terminal.press('b');
  await terminal.waitFor('✓ Sanitized snapshot 0 of shop', PATIENCE);
  terminal.press('enter');
  await terminal.waitFor('public.customer');
  picture('coverage');
  await back('✓ Sanitized snapshot 0 of shop');
  await back('3 targets');
  terminal.press('enter');
  await terminal.waitFor('2 snapshots');
  terminal.press('e');
  await terminal.waitFor('Note:');
  terminal.press('before the move to the new tax rates', 'enter');
  await terminal.waitFor(/Note +before the move/);
  picture('snapshots');
  terminal.press('l');
  await terminal.waitFor('❯ Cancel');
  await load();
  await back('2 snapshots');
  terminal.press('l');
  await terminal.waitFor('❯ Cancel');
  picture('plan');
  await load();
  picture('run');
  await back('2 snapshots');
  terminal.press('?');
  await terminal.waitFor('snapshots ❯ help');
  picture('help');
  await back('2 snapshots');
  await back('3 targets');
  terminal.press('x');
  await terminal.waitFor(
    (screen) => /❯ public\.customer +target/.test(screen) && !screen.includes('counting'),
    PATIENCE,
  );
  picture('subset');
  await back('3 targets');
  terminal.press('D');
  await terminal.waitFor('ready', PATIENCE);
  terminal.press('down');
  await terminal.waitFor('❯ –  secrets');
  picture('check');
  await back('3 targets');
  await edit();
}

/** Adds a table to a list of the configuration, by a name that the source has. */
async function edit() {
  terminal.press('E');
  await terminal.waitFor('❯ general');
  terminal.press('G', 'up', 'up', ' ');
  await terminal.waitFor(/❯ +- shop/);
  terminal.press(...Array(9).fill('down'));
  await terminal.waitFor(/❯ +copy_tables/);
  terminal.press('n', 'p', 'u', 'b');
  await terminal.waitFor(/names: ↓ to choose/, PATIENCE);
  terminal.press('down', 'down');
  await terminal.waitFor(/❯ public\.\w+ /);
  picture('editor');
  terminal.press('esc');
  await terminal.waitFor((screen) => !screen.includes('to choose'));
  await back('Tables copied whole');
  await back('3 targets');
}

function demoServer() {
  const [file = ''] = globSync(join(home, 'tool-demo-*', 'tool.yml'));
  const [, server = ''] = /src_url: (\w+:\/\/[^/]+)/.exec(readFileSync(file, 'utf8')) ?? [];
  return server;
}

/** A first run in an empty folder, from the first question to a load and its undo: as a recording. */
async function firstRun() {
  const tool = openIn(mkdtempSync(join(home, 'first-run-')));
  const recording = createRecording(tool);
  const { shown, typed } = recording;
  try {
    await shown('❯ ./tool.yml', 2.5);
    tool.press('enter');
    await typed('Name: app', '\x15', 'shop');
    tool.press('enter');
    await shown('❯ Type or paste');
    tool.press('enter');
    await typed('Source:', `${demoServer()}/shop`);
    tool.press('enter');
    await shown('❯ Continue with all schemas', 2);
    tool.press('enter');
    await shown(/Destination: .*shop_dev/, 2.5);
    tool.press('enter');
    await shown('❯ Encrypted in the file', 2);
    tool.press('enter');
    await shown('❯ On this machine only', 2);
    tool.press('enter');
    await shown('to be written with Enter', 3.5);
    tool.press('enter');
    await shown('❯ Build the first snapshot', 2);
    tool.press('enter');
    await shown('✓ Built', 2.5);
    tool.press('esc');
    await shown('1 target', 2);
    const loadOnce = async (seconds) => {
      tool.press('l');
      await shown('❯ Cancel', seconds);
      tool.press('down', 'enter');
      await shown('✓ Loaded snapshot', seconds);
    };
    // The first load creates the database; the second replaces it, and can be undone.
    await loadOnce(1.5);
    tool.press('esc');
    await shown('1 target');
    await loadOnce(3);
    const [, undo] = /\b([uU]) undo/.exec(tool.screen()) ?? [];
    tool.press(undo);
    await shown('❯ Cancel', 2.5);
    tool.press('down', 'enter');
    await shown('Restored', 4);
  } finally {
    tool.signal('SIGTERM');
    await tool.exited;
    tool.close();
  }
  const title = 'tool: first run, load and undo';
  writeFileSync(join(folder, 'first-run.svg'), animatedSvg(recording.frames, title));
  writeFileSync(join(folder, 'first-run.cast'), asciicast(recording.frames, title));
  console.log('docs/pictures/first-run.svg, .cast');
}

/** The questions for a first configuration, asked about the server of the demo. */
async function setUp() {
  const server = demoServer();
  const asking = open('config', 'init');
  try {
    await asking.waitFor('✓ PostgreSQL');
    asking.press('enter');
    await asking.waitFor('Name: app');
    asking.press('enter');
    await asking.waitFor('❯ Type or paste');
    asking.press('enter');
    await asking.waitFor('Source:');
    asking.press(`${server}/shop`, 'enter');
    await asking.waitFor('❯ Continue with all schemas', PATIENCE);
    picture('set-up', asking);
  } finally {
    asking.close();
  }
}

async function load() {
  terminal.press('down', 'enter');
  await terminal.waitFor('✓ Loaded snapshot 0 of shop', PATIENCE);
}

/** An Esc that another key follows at once would mean Alt: so what comes next is waited for. */
async function back(wanted) {
  terminal.press('esc');
  await terminal.waitFor(wanted);
}

function picture(name, of = terminal) {
  const drawn = svg(of.cells(), `The screens of tool: ${name}`);
  writeFileSync(join(folder, `${name}.svg`), drawn);
  const font = { loadSystemFonts: false, fontFiles, defaultFontFamily: 'DejaVu Sans Mono' };
  const image = new Resvg(drawn, { font, fitTo: { mode: 'zoom', value: 2 } }).render();
  writeFileSync(join(folder, `${name}.png`), image.asPng());
  console.log(`docs/pictures/${name}.svg, .png`);
}
