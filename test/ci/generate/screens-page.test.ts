import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { screensReference } from '../../../.ci/generate/screens-page.ts';
import { DOCUMENTED } from '../../../.ci/pictures/screens.mjs';
import { EVERYWHERE, keysOf } from '../../../screens/app/keys.ts';
import type { ScreenModule } from '../../../screens/app/model.ts';
import { SCREENS } from '../../../screens/app/screens.ts';

test('docs/screens.md lists the keys of every screen', async () => {
  expect(await readFile('docs/screens.md', 'utf8')).toBe(screensReference(DOCUMENTED));
});

test('no two keys of a screen mean the same at one time', () => {
  for (const [id, { keys }] of Object.entries<ScreenModule>(SCREENS)) {
    const unconditional = keys.filter(({ when }) => when === undefined).flatMap((binding) => keysOf(binding));
    expect(new Set(unconditional).size, id).toBe(unconditional.length);
  }
});

test('the keys that work everywhere are bound to nothing else', () => {
  const everywhere = new Set(EVERYWHERE.map(({ keys }) => keys));
  const bound = Object.values<ScreenModule>(SCREENS).flatMap((screen) =>
    screen.keys.flatMap((binding) => keysOf(binding)),
  );
  expect(bound.filter((key) => everywhere.has(key))).toEqual([]);
});
