import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { knownTargets } from '../../../screens/app/known-targets.ts';
import { fakeTarget } from '../../helpers/fakes/fake-world.ts';

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'known-'));
});
afterEach(() => rmSync(cache, { recursive: true, force: true }));

test('what was found from one place is known there, and nowhere else', () => {
  const found = [{ row: fakeTarget({ name: 'app' }), checkedAt: 1000 }];
  at('/one').write(found);
  at('/two').write([]);
  expect(at('/one').read()).toEqual(found);
  expect(at('/two').read()).toEqual([]);
  expect(at('/one', 'other.yml').read()).toEqual([]);
  expect(statSync(join(cache, 'tool', 'targets.json')).mode & 0o777).toBe(0o600);
});

test('a damaged cache is no cache', () => {
  at('/one').write([{ row: fakeTarget({ name: 'app' }), checkedAt: 1000 }]);
  writeFileSync(join(cache, 'tool', 'targets.json'), '{"format":1,');
  expect(at('/one').read()).toEqual([]);
});

test('a home that cannot be written to is no error', () => {
  const file = join(cache, 'file');
  writeFileSync(file, '');
  expect(() => knownTargets({ environment: { XDG_CACHE_HOME: file }, cwd: '/' }).write([])).not.toThrow();
});

function at(cwd: string, config?: string) {
  return knownTargets({ environment: { XDG_CACHE_HOME: cache }, cwd, config });
}
