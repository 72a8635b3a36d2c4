import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { EVERYWHERE, KEY_TABLE } from '../../screens/app/keys.ts';
import { screensReference } from '../../screens/app/reference.ts';

test('docs/screens.md is what the key table says', async () => {
  expect(await readFile('docs/screens.md', 'utf8')).toBe(screensReference());
});

test('no two keys of a screen mean the same at one time', () => {
  for (const [screen, bindings] of Object.entries(KEY_TABLE)) {
    const unconditional = bindings.filter(({ when }) => when === undefined).flatMap(({ keys }) => keys);
    expect(new Set(unconditional).size, screen).toBe(unconditional.length);
  }
});

test('the keys that work everywhere are bound to nothing else', () => {
  const everywhere = new Set(EVERYWHERE.map(({ keys }) => keys));
  const bound = Object.values(KEY_TABLE).flatMap((bindings) => bindings.flatMap(({ keys }) => keys));
  expect(bound.filter((key) => everywhere.has(key))).toEqual([]);
});
