import { expect, test } from 'vitest';
import { isAllowedDestination } from '../../src/config/allowed-destinations.ts';
import { parsePostgresUrl } from '../../src/engines/postgres/connection/url.ts';
import { assertNotASource } from '../../src/operations/load/guard/guard.ts';
import type { RunEvent } from '../../src/results/events.ts';
import { testContext } from '../helpers/postgres/postgres-server.ts';
import { configFolder, withKey } from '../helpers/terminal/config-folder.ts';

const DB = 'postgres://app@127.0.0.1:1';
const CHAIN = {
  production: { snapshot: { src_url: `${DB}/live`, dst_url: `${DB}/staging` } },
  staging: { snapshot: { src_url: `${DB}/staging`, dst_url: `${DB}/dev` }, allow_destination_of: ['production'] },
  other: { snapshot: { src_url: `${DB}/else` } },
};

test.for([
  [{ loaded: 'production', owner: 'staging' }, true],
  // The other way round the live database would be replaced.
  [{ loaded: 'staging', owner: 'production' }, false],
  [{ loaded: 'other', owner: 'staging' }, false],
  [{ loaded: 'staging', owner: 'staging' }, false],
  [{ loaded: 'production', owner: 'constructor' }, false],
  [{ loaded: 'production', owner: 'unknown' }, false],
] as const)('%o', ([pair, allowed]) => {
  expect(isAllowedDestination({ targets: CHAIN }, pair)).toBe(allowed);
});

test('a target never allows itself, even when it is written so', () => {
  const targets = { app: { allow_destination_of: ['app'] } };
  expect(isAllowedDestination({ targets }, { loaded: 'app', owner: 'app' })).toBe(false);
});

test('the guard lets the allowed pair pass with a warning, and nothing else', async () => {
  const events: RunEvent[] = [];
  const context = testContext({ settings: { targets: CHAIN }, events });
  // Nothing answers there; what is refused is refused by its address alone.
  const allowed = assertNotASource(context, parsePostgresUrl(`${DB}/staging`), { target: 'production' });
  await expect(allowed).rejects.toMatchObject({ code: 'unreachable' });
  expect(events).toContainEqual(expect.objectContaining({ event: 'warning', code: 'destination_allowed' }));
  const refused = (database: string, target?: string) =>
    expect(assertNotASource(context, parsePostgresUrl(`${DB}/${database}`), target === undefined ? {} : { target }))
      .rejects;
  await refused('staging', 'other').toMatchObject({
    code: 'destination_is_source',
    exit: 5,
    hint: expect.stringContaining('targets.staging.allow_destination_of: [other]'),
  });
  await refused('staging', 'staging').toMatchObject({ hint: expect.not.stringContaining('allow_destination_of') });
  await refused('live', 'staging').toMatchObject({ code: 'destination_is_source' });
  await refused('staging').toMatchObject({ code: 'destination_is_source' });
});

const written = (allowed: string) =>
  withKey(
    [
      'targets:',
      `  production: {snapshot: {src_url: "${DB}/live", dst_url: "${DB}/staging"}}`,
      '  staging:',
      `    snapshot: {src_url: "${DB}/staging"}`,
      `    allow_destination_of: ${allowed}`,
      '',
    ].join('\n'),
  );

test('a destination that its owner allows is not a warning; otherwise the hint shows how to allow it', async () => {
  const problems = async (allowed: string) =>
    (await (await configFolder({ 'tool.yml': written(allowed) })).inspect()).problems;
  expect(await problems('[production]')).toEqual([]);
  expect(await problems('[]')).toMatchObject([
    {
      severity: 'warning',
      code: 'destination_is_source',
      hint: expect.stringContaining('set targets.staging.allow_destination_of: [production]'),
    },
  ]);
});

test('an allowed target must be another target', async () => {
  const folder = await configFolder({ 'tool.yml': written('[production, prodution, staging]') });
  expect((await folder.inspect()).problems).toMatchObject([
    {
      severity: 'error',
      code: 'wrong_value',
      key: 'targets.staging.allow_destination_of[1]',
      hint: 'Did you mean production?',
    },
    { severity: 'error', code: 'wrong_value', key: 'targets.staging.allow_destination_of[2]' },
  ]);
});
