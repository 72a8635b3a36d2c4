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
  if (isWanted('recording')) await firstMinute();
} finally {
  await world?.close();
  await hub.end();
  rmSync(home, { recursive: true, force: true });
}

/** Two URLs, a loaded database, a migration that breaks it, and the way back: as a recording. */
async function firstMinute() {
  const cwd = world.folder('shop', {
    'migration.sql': 'ALTER TABLE product ADD discount numeric; DELETE FROM review;\n',
  });
  const bin = world.folder('bin', {});
  writeFileSync(join(bin, 'tool'), `#!/bin/sh\nexec ${process.execPath} ${world.program} "$@"\n`, { mode: 0o755 });
  const environment = {
    ...{ PS1: '$ ', NODE_OPTIONS: '', PATH: `${bin}:${process.env.PATH}`, TOOL_TRUST: '' },
    ...{ PROD: `${world.server}/shop`, DEV: `${world.server}/shop_dev` },
  };
  const shell = world.open({ command: ['bash', '--norc', '--noprofile'], cwd, columns: 136, rows: 30, environment });
  const { port } = new URL(world.server);
  const name = `shop-127.0.0.1-${port}`;
  const { frames, shown, typed } = createRecording(shell, [
    [`127.0.0.1:${port}`, '127.0.0.1:5432'],
    [name, 'shop-127.0.0.1-5432'],
    [cwd, '/home/ada/shop'],
    [home, '/home/ada'],
  ]);
  const PROMPT = /^\$$/m;
  const run = async (line, wanted, seconds) => {
    await typed(PROMPT, line);
    shell.press('enter');
    await shown(wanted, seconds);
  };
  try {
    await run('tool load --from $PROD --to $DEV', /\[y\/N\]/, 3);
    shell.press('y', 'enter');
    await shown(/Loaded snapshot[\s\S]*^\$$/m, 3);
    await run('tool config save-target --from $PROD --to $DEV', /tool\.yml[\s\S]*^\$$/m, 2);
    await run('psql -q $DEV -f migration.sql', /migration\.sql\s*^\$$/m, 1.5);
    await run(`tool changes ${name}`, /review [\s\S]*^\$$/m, 3);
    await run(`tool back ${name} load --yes`, /The previous shop_dev is kept[\s\S]*^\$$/m, 4);
  } finally {
    shell.press('\x04');
    await shell.exited;
    shell.close();
  }
  const title = 'tool: two URLs, a loaded database, and the way back';
  writeFileSync(join(folder, 'first-minute.svg'), animatedSvg(frames, title));
  writeFileSync(join(folder, 'first-minute.cast'), asciicast(frames, title));
  console.log('docs/pictures/first-minute.svg, .cast');
}
