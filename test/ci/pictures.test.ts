import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pictureFile, SCHEMES, SIZES } from '../../.ci/pictures/draw-screens.mjs';
import { PICTURES } from '../../.ci/pictures/screens.mjs';

const screens = readdirSync('screens', { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !['app', 'commands'].includes(entry.name))
  .map(({ name }) => name);

test.for(screens)('the screen %s has a picture', (screen) => {
  expect(PICTURES.map((each) => each.screen)).toContain(screen);
});

test('each picture of the table names a screen, and is there at both sizes, dark and light', () => {
  const known = [...screens, null];
  expect(PICTURES.filter(({ screen }) => !known.includes(screen))).toEqual([]);
  const files = PICTURES.flatMap(({ picture }) =>
    SIZES.flatMap((size) => SCHEMES.map((scheme) => pictureFile(picture, size, scheme))),
  );
  expect(files.filter((file) => !existsSync(`docs/pictures/screens/${file}`))).toEqual([]);
  expect(readdirSync('docs/pictures/screens').toSorted()).toEqual(files.toSorted());
});
