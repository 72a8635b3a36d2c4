/**
 * `npm run bench -- images [MEGABYTES] [start|days|equal]`: data directories as images (docs/images.md), at 100 MB. The time
 * from an image to the first query; what the image of the next day, and of the same rows, adds to a store. Needs root.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { measureDays, measureEqual } from '../helpers/images/image-days.ts';
import { mariadbEngine } from '../helpers/images/image-mariadb.ts';
import { imagePrograms, postgresEngine } from '../helpers/images/image-postgres.ts';
import { measureStarts } from '../helpers/images/image-start.ts';
import { makeOwned } from '../helpers/images/make-owned.ts';
import { printTable } from '../helpers/terminal/measured-run.ts';

const [size, only] = process.argv.slice(2);
const megabytes = Number(size ?? 100);
const programs = await imagePrograms();
for (const engine of [postgresEngine(programs), await mariadbEngine()]) {
  if (process.env.ONLY && engine.name !== process.env.ONLY) continue;
  const folder = makeOwned(engine.user, mkdtempSync('/var/tmp/tool-images-'));
  try {
    if (only === undefined || only === 'start') printTable(await measureStarts(engine, folder, megabytes));
    if (only === undefined || only === 'equal') printTable(await measureEqual(engine, folder, megabytes));
    if (engine.name === 'PostgreSQL' && (only === undefined || only === 'days')) {
      printTable(await measureDays(programs, folder, megabytes));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
