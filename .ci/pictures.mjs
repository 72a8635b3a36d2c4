import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from './build.mjs';
import { HERE } from './package/platforms.mjs';
import { makePackages } from './package.mjs';
import { drawScreens } from './pictures/draw-screens.mjs';
import { drawPages, startSampleHub } from './pictures/pages.mjs';
import { asciicast, createRecording } from './pictures/recording.mjs';
import { animatedSvg } from './pictures/svg.mjs';
import { openWorld } from './pictures/world.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'docs', 'pictures');
/** `npm run pictures -- screens`: one part alone. */
const PARTS = ['screens', 'pages', 'recording'];
/** Nobody waits for the end of a longer one. */
const LONGEST_SECONDS = 20;
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

/** The installation, two URLs, a loaded database, steps after a load, a migration that breaks it, and the way back. */
async function firstMinute() {
  const { port } = new URL(world.server);
  const name = `shop-127.0.0.1-${port}`;
  const target = `{ src_url: "{server}/shop", dst_url: "{server}/shop_dev", after_load: [{ query_file: migrate.sql }] }`;
  world.folder('shop', {
    'tool.yml': `targets:\n  ${name}:\n    snapshot: ${target}\n`,
    'migrate.sql': 'ALTER TABLE product ADD discount numeric;\n',
    'broken.sql': 'UPDATE product SET discount = 0; DELETE FROM review;\n',
  });
  const packages = join(home, 'packages');
  const kinds = ['tarball', 'installer'];
  const { installer } = await makePackages({ kinds, platform: HERE, node: process.execPath, packages });
  copyFileSync(installer, join(home, 'install.sh'));
  const bin = join(home, '.local/bin');
  const environment = {
    ...{ PS1: '$ ', NODE_OPTIONS: '', PATH: `${bin}:${process.env.PATH}`, TOOL_INSTALL_URL: packages },
    ...{ TOOL_INSTALL_DIR: bin, PROD: `${world.server}/shop`, DEV: `${world.server}/shop_dev` },
  };
  const shell = world.open({ command: ['bash', '--norc', '--noprofile'], columns: 136, rows: 30, environment });
  const { frames, shown, typed } = createRecording(shell, [
    [`127.0.0.1:${port}`, '127.0.0.1:5432'],
    [name, 'shop-127.0.0.1-5432'],
    [home, '/home/ada'],
  ]);
  const run = async (line, wanted, seconds) => {
    await typed(/^\$$/m, line);
    shell.press('enter');
    await shown(wanted, seconds);
  };
  try {
    await run('sh install.sh', /0\.1\.0[\s\S]*^\$$/m, 0.8);
    await run('tool load --from $PROD --to $DEV', /\[y\/N\]/, 1.8);
    shell.press('y', 'enter');
    await shown(/Loaded snapshot[\s\S]*^\$$/m, 1.5);
    await run(`cd shop; tool load ${name} --yes`, /after_load after[\s\S]*^\$$/m, 1.8);
    await run('psql -q $DEV -f broken.sql', /broken\.sql\s*^\$$/m, 0.4);
    await run(`tool changes ${name}`, /review [\s\S]*^\$$/m, 1.8);
    await run(`tool back ${name} load --yes`, /The previous shop_dev is kept[\s\S]*^\$$/m, 2);
  } finally {
    shell.press('\x04');
    await shell.exited;
    shell.close();
  }
  const seconds = frames.reduce((sum, frame) => sum + frame.seconds, 0);
  if (seconds > LONGEST_SECONDS) throw new Error(`the recording takes ${seconds.toFixed(1)} s`);
  const title = 'tool: installed, two URLs, a loaded database, a migration that breaks it, and the way back';
  writeFileSync(join(folder, 'first-minute.svg'), animatedSvg(frames, title));
  writeFileSync(join(folder, 'first-minute.cast'), asciicast(frames, title));
  console.log(`docs/pictures/first-minute.svg, .cast: ${seconds.toFixed(1)} s`);
}
