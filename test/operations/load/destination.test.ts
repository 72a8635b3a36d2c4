import { expect, test } from 'vitest';
import type { CloudTarget } from '../../../src/cloud/contract/resources.ts';
import type { Settings } from '../../../src/config/schema/settings.ts';
import { configuredDestination, subsetDestination } from '../../../src/operations/load/configured-destination.ts';
import { chooseDestination } from '../../../src/operations/load/destination.ts';
import { testContext } from '../../helpers/postgres/postgres-server.ts';
import { configFolder, withKey } from '../../helpers/terminal/config-folder.ts';

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

test('a subset goes to its own destination, else to the one of all targets, and a template is filled in everywhere', async () => {
  const subset = { subset: { src_url: OWN } };
  const folder = await configFolder({
    'tool.yml': withKey(`override: {dst_db_url: "postgres://h/{{\`NAME\` | env}}"}
targets:
  own: {subset: {src_url: 'postgres://s/db', dst_url: 'postgres://own/db'}}
  other: {subset: {src_url: 'postgres://s/db'}}
`),
  });
  const filled = await folder.load({ environment: { NAME: 'small' } });
  expect(subsetDestination(filled, 'own')).toEqual({ text: OWN, chosenBy: 'targets.own.subset.dst_url' });
  expect(subsetDestination(filled, 'other')).toEqual({ text: 'postgres://h/small', chosenBy: 'override.dst_db_url' });
  expect(configuredDestination(filled, 'other')?.text).toBe('postgres://h/small');
  const unfilled = await folder.load();
  expect(() => subsetDestination(unfilled, 'other')).toThrow('NAME is not set');
  expect(subsetDestination(testContext({ settings: { targets: { app: subset } } }).configuration, 'app')).toBeNull();
});

test('the hint for a cloud target names the key that does not hide it', () => {
  const context = testContext({ settings: { targets: { app: {} } } });
  const cloud = new Map([['app', {} as CloudTarget]]);
  const configuration = { ...context.configuration, cloud };
  expect(() => chooseDestination({ ...context, configuration }, { target: 'app' })).toThrow(
    expect.objectContaining({ hint: expect.stringContaining('defaults.shared_target_dst_db_url') }),
  );
});

test('a destination named with the flag does without the configured one, whose variable is not set', async () => {
  const folder = await configFolder({
    'tool.yml': withKey('targets: {app: {snapshot: {dst_url: "{{`NOT_SET` | env}}"}}}'),
  });
  const context = { ...testContext({ settings: {} }), configuration: await folder.load() };
  expect(chooseDestination(context, { target: 'app', destdb: OWN }).text).toBe(OWN);
  expect(() => chooseDestination(context, { target: 'app' })).toThrow('NOT_SET is not set');
});
