import { expect, test } from 'vitest';
import { inspectConfiguration, loadConfiguration } from '../../../src/config/load.ts';
import type { RunEvent } from '../../../src/results/events.ts';
import { configFolder } from '../../helpers/terminal/config-folder.ts';

const TARGETS = `
  shop:
    snapshot: { src_url: "postgres://app:s3cret@db/shop" }
  注文データ:
    snapshot: { src_url: "postgres://app@db/orders" }
  हिन्दी:
    snapshot: {}
  ../up:
    snapshot: { src_url: "postgres://app:hunter2@db/up" }
`;

test('a target with an invalid name does not hold up the others, and its source stays known', async () => {
  const { request, loaded, events } = await load(TARGETS);
  expect(Object.keys(loaded.settings.targets)).toEqual(['shop', '注文データ', 'हिन्दी']);
  expect(loaded.misnamed?.['../up']?.snapshot?.src_url).toBe('postgres://app:hunter2@db/up');
  expect(events).toEqual([
    expect.objectContaining({ code: 'invalid_name', message: expect.stringContaining('targets.../up is not a valid') }),
  ]);
  const { problems } = await inspectConfiguration(request);
  expect(problems).toEqual([expect.objectContaining({ severity: 'error', code: 'invalid_name', line: 9 })]);
});

test.each([
  ['a source that is no URL', '../up: { snapshot: { src_url: 5 } }'],
  ['an unknown key', '../up: { snapshoot: { src_url: "postgres://app@db/up" } }'],
  ['a reserved name', '__proto__: { snapshot: { src_url: "postgres://app@db/up" } }'],
])('an invalid name with %s as well is an error for all: its source is not known', async (_, target) => {
  await expect(load(`\n  shop:\n    snapshot: {}\n  ${target}\n`)).rejects.toMatchObject({
    code: 'configuration_invalid',
  });
});

async function load(targets: string) {
  const folder = await configFolder({ 'tool.yml': `secret_key: ${'ab'.repeat(16)}\ntargets:${targets}` });
  const request = { environment: { TOOL_TRUST: 'true', HOME: folder.path }, cwd: folder.path };
  const events: RunEvent[] = [];
  const loaded = await loadConfiguration({ ...request, report: (event) => events.push(event) });
  return { request, loaded, events };
}
