import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Resvg } from '@resvg/resvg-js';
import { openTerminal } from '../test/e2e/terminal.ts';
import { build } from './build.mjs';
import { svg } from './pictures/svg.mjs';

/** Making the sample takes some ten seconds, more where the machine is busy. */
const PATIENCE = 60_000;
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'docs', 'pictures');
const font = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSansMono.ttf');
const fontFiles = [font, font.replace('.ttf', '-Bold.ttf')];

await build();
const home = mkdtempSync(join(tmpdir(), 'pictures-'));
const terminal = openTerminal({
  command: [process.execPath, join(root, 'dist', 'tool.js'), 'demo'],
  columns: 100,
  rows: 28,
  environment: { HOME: home, TMPDIR: home, XDG_CACHE_HOME: home },
});
try {
  mkdirSync(folder, { recursive: true });
  await walk();
  terminal.press('q');
  await terminal.exited;
} finally {
  terminal.close();
  rmSync(home, { recursive: true, force: true });
}

/** Through the demo as a person would, with a picture wherever there is something to see. */
async function walk() {
  await terminal.waitFor((screen) => screen.includes('✗ unreachable') && screen.split('✓ up').length === 3, PATIENCE);
  await take('targets');
  terminal.press('b');
  await terminal.waitFor((s)=>!s.includes('tool ❯ targets'));
  await take('b1');
  await new Promise(r=>setTimeout(r,3000));
  await take('b2');
  terminal.press('down','enter');
  await new Promise(r=>setTimeout(r,15000));
  await take('b3');
  terminal.press('enter');
  await new Promise(r=>setTimeout(r,3000));
  await take('b4');
}

function take(name) {
  const drawn = svg(terminal.cells());
  writeFileSync(join(folder, `${name}.svg`), drawn);
  const font = { loadSystemFonts: false, fontFiles, defaultFontFamily: 'DejaVu Sans Mono' };
  const image = new Resvg(drawn, { font, fitTo: { mode: 'zoom', value: 2 } }).render();
  writeFileSync(join(folder, `${name}.png`), image.asPng());
  console.log(`docs/pictures/${name}.svg, .png`);
}
