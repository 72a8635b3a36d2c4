import { afterEach, expect, test } from 'vitest';
import { noSnapshot } from '../../../screens/app/why-not.ts';
import { setKeysInEffect } from '../../../src/config/keys/keys-in-effect.ts';

afterEach(() => setKeysInEffect({}));

test('a reason names the key in effect', () => {
  setKeysInEffect({ build: 'Z' });
  expect(noSnapshot({ snapshot: null })).toBe('There is no snapshot yet: press Z to build one');
});
