/**
 * `npm run bench -- images [MEGABYTES] [up|shared|start|days|equal] [NAME]`: data directories as images (docs/images.md), of 100 MB
 * by default. The time from an image to the first query; what the image of the next day, and of the same rows, adds to a
 * store; of one engine or change; `tool up`, and images in a bucket, in the temporary folder. Needs root, and room for five images in /var/tmp.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measureDays, measureEqual } from '../helpers/images/image-days.ts';
import { mariadbEngine } from '../helpers/images/image-mariadb.ts';
import { imagePrograms, postgresEngine } from '../helpers/images/image-postgres.ts';
import { measureShared } from '../helpers/images/image-shared.ts';
import { measureStarts } from '../helpers/images/image-start.ts';
import { measureUp } from '../helpers/images/image-up.ts';
import { makeOwned } from '../helpers/images/make-owned.ts';
import { printTable } from '../helpers/terminal/measured-run.ts';

const [size, only, name] = process.argv.slice(2);
const megabytes = Number(size ?? 100);
const programs = await imagePrograms();
const engines = [postgresEngine(programs), await mariadbEngine()];
if (only === 'up' || only === 'shared') {
  const folder = mkdtempSync(join(tmpdir(), 'tool-images-'));
  try {
    printTable(await (only === 'up' ? measureUp(folder, megabytes) : measureShared(folder, megabytes, name)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  process.exit();
}
const named = engines.filter((engine) => engine.name === name);
for (const engine of named.length > 0 ? named : engines) {
  const folder = makeOwned(engine.user, mkdtempSync('/var/tmp/tool-images-'));
  try {
    if (only === undefined || only === 'start') printTable(await measureStarts(engine, folder, megabytes));
    if (only === undefined || only === 'equal') printTable(await measureEqual(engine, folder, megabytes));
    if (engine.name === 'PostgreSQL' && (only === undefined || only === 'days')) {
      printTable(await measureDays(programs, folder, { megabytes, name }));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
