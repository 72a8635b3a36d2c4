import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { drawScreens } from './pictures/draw-screens.mjs';
import { drawPages, startSampleHub } from './pictures/pages.mjs';
import { asciicast, createRecording } from './pictures/recording.mjs';
import { animatedSvg } from './pictures/svg.mjs';
import { openWorld } from './pictures/world.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'docs', 'pictures');
/** `npm run pictures -- screens`: one part alone. */
const PARTS = ['screens', 'pages', 'recording'];
const chosen = process.argv.slice(2);
const unknown = chosen.filter((part) => !PARTS.includes(part));
if (unknown.length > 0) throw new Error(`unknown part ${unknown.join(', ')}: ${PARTS.join(', ')}`);
const isWanted = (part) => chosen.length === 0 || chosen.includes(part);

await build();
mkdirSync(folder, { recursive: true });
const home = mkdtempSync(join(tmpdir(), 'pictures-'));
const hub = await startSampleHub();
let world;
try {
  if (isWanted('pages')) await drawPages(hub, folder);
  world = await openWorld({ root, home, hub });
  if (isWanted('screens')) {
    const all = join(tmpdir(), 'tool-pictures');
    const drawn = (picture) => console.log(join(all, picture));
    await drawScreens({ world, folder: all, documented: join(folder, 'screens'), home, drawn });
  }
  if (isWanted('recording')) await firstRun();
} finally {
  await world?.close();
  await hub.end();
  rmSync(home, { recursive: true, force: true });
}

/** A first run in an empty folder, from the first question to a load and its undo: as a recording. */
async function firstRun() {
  const tool = world.open({
    cwd: world.folder('first-run', {}),
    columns: 100,
    rows: 28,
    environment: { NODE_OPTIONS: '' },
  });
  const recording = createRecording(tool, [
    [join(home, 'first-run'), '/home/ada/shop'],
    [home, '/home/ada'],
    [root, '/usr/lib/tool/'],
  ]);
  const { shown, typed } = recording;
  try {
    await shown('❯ ./tool.yml', 2.5);
    tool.press('enter');
    await typed('Name: app', '\x15', 'shop');
    tool.press('enter');
    await shown('❯ Type or paste');
    tool.press('enter');
    await typed('Source:', `${world.server}/shop`);
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
    await shown('Built snapshot', 2.5);
    tool.press('esc');
    await shown('1 target', 2);
    const loadOnce = async (seconds) => {
      tool.press('l');
      await shown('❯ Cancel', seconds);
      tool.press('down', 'enter');
      await shown('Loaded snapshot', seconds);
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
    await shown('Restored the previous', 4);
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
