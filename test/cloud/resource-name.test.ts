import * as v from 'valibot';
import { expect, test } from 'vitest';
import { resourceName } from '../../src/cloud/contract/values.ts';
import { splitSelector } from '../../src/text/snapshot-selector.ts';

test('every name that a hub accepts is one word of a selector', () => {
  const characters = Array.from({ length: 0x250 }, (_, code) => String.fromCodePoint(code));
  const names = characters.map((character) => `a${character}b`).filter((name) => v.is(resourceName, name));
  expect(names.length).toBeGreaterThan(400);
  expect(names.filter((name) => splitSelector(name).length > 1)).toEqual([]);
});
