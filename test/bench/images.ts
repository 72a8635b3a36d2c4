/**
 * `npm run bench -- images [MEGABYTES] [days|start]`: data directories as images (docs/images.md). What the image of the
 * next day adds to a store, and the time from an image to the first query.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { imagePrograms, makeOwned } from '../helpers/images/image-postgres.ts';
import { measureDays } from '../helpers/images/image-days.ts';
import { measureStarts } from '../helpers/images/image-start.ts';
import { printTable } from '../helpers/terminal/measured-run.ts';
import { realpathSync } from 'node:fs';

const [words, what] = process.argv.slice(2);
const megabytes = Number(words ?? 100);
const programs = await imagePrograms(dirname(realpathSync('/usr/local/bin/postgres')));
const folder = makeOwned(programs, mkdtempSync('/var/tmp/tool-images-'));
try {
  if (what !== 'days') printTable(await measureStarts(programs, folder, megabytes));
  if (what !== 'start') printTable(await measureDays(programs, folder, megabytes));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
