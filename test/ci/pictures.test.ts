import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { documentedFile } from '../../.ci/pictures/draw-screens.mjs';
import { DOCUMENTED, PICTURES } from '../../.ci/pictures/screens.mjs';

const screens = readdirSync('screens', { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !['app', 'commands'].includes(entry.name))
  .map(({ name }) => name);

test.for(screens)('the screen %s has a picture', (screen) => {
  expect(PICTURES.map((each) => each.screen)).toContain(screen);
});

test('each picture of the table names a screen', () => {
  const known = [...screens, null];
  expect(PICTURES.filter(({ screen }) => !known.includes(screen))).toEqual([]);
});

test('the documented pictures, and no others, are in docs', () => {
  const drawn = new Set(PICTURES.map(({ picture }) => picture));
  expect(DOCUMENTED.filter((picture) => !drawn.has(picture))).toEqual([]);
  expect(readdirSync('docs/pictures/screens').toSorted()).toEqual(DOCUMENTED.map(documentedFile).toSorted());
});
