import { expect, test } from 'vitest';
import { engineOfUrl } from '../../src/config/urls/url-scheme.ts';
import { ENGINE_IDS, ENGINE_PROFILES } from '../../src/engines/list.ts';
import { engineForUrl, engines } from '../../src/engines/registry.ts';

test('every engine of the list has its code in the registry', () => {
  expect(engines.map(({ id }) => id)).toEqual(ENGINE_IDS);
});

test.each(ENGINE_PROFILES)('every scheme of $id selects it, in any case', ({ id, schemes }) => {
  for (const scheme of schemes.flatMap((name) => [name, name.toUpperCase()])) {
    expect(engineForUrl(`${scheme}://user@host/database`).id).toBe(id);
    expect(engineOfUrl(`${scheme}://user@host/database`)).toBe(id);
  }
});
