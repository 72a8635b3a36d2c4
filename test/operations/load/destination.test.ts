import { expect, test } from 'vitest';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { chooseDestination } from '../../../src/operations/load/destination.ts';
import { configFolder, withKey } from '../../helpers/config-folder.ts';
import { testContext } from '../../helpers/postgres-server.ts';

const OWN = 'postgres://own/db';
const OVERRIDE = 'postgres://override/db';
const SHARED = 'postgres://shared/db';

function choose(settings: Partial<Settings>, destdb?: string) {
  return chooseDestination(testContext({ settings }), { target: 'app', destdb });
}

const both = { override: { dst_db_url: OVERRIDE }, defaults: { shared_target_dst_db_url: SHARED } };
const own = { targets: { app: { snapshot: { dst_url: OWN } } } };
const bare = { targets: { app: { snapshot: { src_url: OWN } } } };
const share = { targets: { app: { share: { storage_profile_name: 'team' } } } };

test('the flag wins over the target, the target over the override, and that over the default of share targets', () => {
  expect(choose({ ...both, ...own }, 'postgres://flag/db')).toEqual({
    text: 'postgres://flag/db',
    chosenBy: '--destdb',
  });
  expect(choose({ ...both, ...own })).toEqual({ text: OWN, chosenBy: 'targets.app.snapshot.dst_url' });
  expect(choose({ ...both, ...bare })).toEqual({ text: OVERRIDE, chosenBy: 'override.dst_db_url' });
  expect(choose({ ...both, ...share })).toEqual({ text: OVERRIDE, chosenBy: 'override.dst_db_url' });
  expect(choose({ defaults: both.defaults, ...share })).toEqual({
    text: SHARED,
    chosenBy: 'defaults.shared_target_dst_db_url',
  });
});

test('the default of share targets is not for others, and nothing at all is an error', () => {
  expect(() => choose({ defaults: both.defaults, ...bare })).toThrow('has no destination');
  expect(() => choose(share)).toThrow('has no destination');
});

test('a destination named with the flag does without the configured one, whose variable is not set', async () => {
  const folder = await configFolder({
    'tool.yml': withKey('targets: {app: {snapshot: {dst_url: "{{`NOT_SET` | env}}"}}}'),
  });
  const context = { ...testContext({ settings: {} }), configuration: await folder.load() };
  expect(chooseDestination(context, { target: 'app', destdb: OWN }).text).toBe(OWN);
  expect(() => chooseDestination(context, { target: 'app' })).toThrow('NOT_SET is not set');
});
