import { afterEach, expect, test } from 'vitest';
import { noSnapshot } from '../../../screens/app/why-not.ts';
import { setKeysInEffect } from '../../../src/config/keys/keys-in-effect.ts';
import { fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { newModel } from '../../helpers/terminal/driven-model.ts';

afterEach(() => setKeysInEffect({}));

test('a reason names the key in effect', () => {
  const model = newModel(fakeWorld());
  setKeysInEffect({ build: 'Z' });
  expect(noSnapshot({ snapshot: null, target: null, model })).toBe('There is no snapshot yet: press Z to build one');
});
