import { afterEach, expect, test } from 'vitest';
import { noSnapshot, notReadable } from '../../../screens/app/why-not.ts';
import { BRANCHES } from '../../../screens/commands/branches.ts';
import { setKeysInEffect } from '../../../src/config/keys/keys-in-effect.ts';
import { fakeTarget, fakeWorld } from '../../helpers/fakes/fake-world.ts';
import { newModel } from '../../helpers/terminal/driven-model.ts';

afterEach(() => setKeysInEffect({}));

test('a reason names the key in effect', () => {
  const model = newModel(fakeWorld());
  setKeysInEffect({ build: 'Z' });
  expect(noSnapshot({ snapshot: null, target: null, model })).toBe('There is no snapshot yet: press Z to build one');
});

test('a command that reads the destination is disabled without one, in a read-only session too', () => {
  const model = newModel(fakeWorld(), { readOnly: true });
  const entry = (dst_url: string | null) => ({
    row: fakeTarget({ name: 'app', dst_url }),
    checking: false,
    checkedAt: null,
  });
  const context = { model, run: null, snapshot: null, route: model.navigation.top() };
  expect(notReadable({ target: entry(null) })).toBe('app has no destination (snapshot.dst_url)');
  expect(notReadable({ target: entry('postgres://localhost/app') })).toBeNull();
  expect(BRANCHES.whyNot?.({ ...context, target: entry(null) })).toBe('app has no destination (snapshot.dst_url)');
  expect(BRANCHES.whyNot?.({ ...context, target: entry('postgres://localhost/app') })).toBeNull();
});
