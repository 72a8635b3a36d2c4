import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { expect, onTestFinished, test } from 'vitest';
import { targetBodySchema } from '../../src/cloud/contract/resources.ts';
import { encrypt } from '../../src/config/secrets/cipher.ts';
import { storedEffect } from '../../src/config/trust/stored-effect.ts';
import { trustRequestOf } from '../../src/config/trust/trust-request.ts';
import { parseYaml } from '../../src/config/yaml/yaml-source.ts';
import { cloudSettings } from '../../src/operations/cloud/target-settings.ts';
import { plannedAfterLoad } from '../../src/operations/load/after-load.ts';
import { trustLines } from '../../src/operations/trust/trust-text.ts';
import { temporaryFolder, testContext } from '../helpers/postgres/postgres-server.ts';

const STEP = { command: ['touch', 'ran'] };

test('a hub cannot send a step: neither is it accepted there, nor taken from its answer', () => {
  const settings = { snapshot: { src_url: 'postgres://h/d', after_load: [STEP] } };
  expect(v.safeParse(targetBodySchema, { settings }).success).toBe(false);
  const target = {
    ...{ name: 'app', settings, permissions: ['read_source'] },
  } as unknown as Parameters<typeof cloudSettings>[0][number];
  const { targets } = cloudSettings([target], {});
  expect(targets).toEqual({ app: { snapshot: { src_url: 'postgres://h/d' } } });
  // Not even where the configuration in effect had it.
  const { configuration } = testContext({
    settings: { targets: { app: { snapshot: { after_load: [{ ...STEP, timeout: 1 }] } } } },
  });
  const cloud = new Map([['app', target]]);
  expect(plannedAfterLoad(configuration, { target: 'app' })).toHaveLength(1);
  expect(plannedAfterLoad({ ...configuration, cloud }, { target: 'app' })).toBeUndefined();
});

test('an encrypted word of a step is stored as a digest of the answer', async () => {
  const secret_key = '0123456789abcdef0123456789abcdef';
  const command = ['deploy', encrypt('hidden-word', secret_key)];
  const text = JSON.stringify({ secret_key, targets: { app: { snapshot: { after_load: [{ command }] } } } });
  const { effects } = await trustRequestOf({ path: '/nowhere/tool.yml', source: parseYaml(text) }, {});
  expect(effects.map(({ effect }) => effect)).toContain('runs_command');
  expect(JSON.stringify(effects)).toContain('hidden-word');
  expect(JSON.stringify(effects.map(storedEffect))).not.toContain('hidden-word');
});

test('the question of trust shows each step, and a changed step or SQL file asks again', async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  await mkdir(join(folder.path, 'sql'));
  await writeFile(join(folder.path, 'sql/after.sql'), 'SELECT 1;\n');
  const requestOf = (steps: object[]) => {
    const text = JSON.stringify({ targets: { app: { snapshot: { after_load: steps } } } });
    return trustRequestOf({ path: join(folder.path, 'tool.yml'), source: parseYaml(text) }, {});
  };
  const steps = [{ command: ['npm', 'run', 'migrate it'] }, { command: 'make db' }, { query_file: './sql/after.sql' }];
  const before = await requestOf(steps);
  expect(trustLines({ ...before, answered: null }).map((line) => line.replaceAll(/ +/g, ' '))).toEqual([
    'Runs commands make db (app)',
    "Runs commands npm run 'migrate it' (app)",
    expect.stringMatching(/^Runs SQL file .\/sql\/after.sql \(SHA-256 \w+\) \(app\)$/),
  ]);
  const others = [
    [{ command: ['npm', 'run', 'migrate', 'it'] }, ...steps.slice(1)],
    [steps[1], steps[0], steps[2]],
    [...steps, { command: 'true' }],
    [{ ...steps[0], timeout: 7 }, ...steps.slice(1)],
  ];
  for (const other of others) {
    const { digest } = await requestOf(other.filter((step) => step !== undefined));
    expect(digest).not.toBe(before.digest);
  }
  await writeFile(join(folder.path, 'sql/after.sql'), 'DROP TABLE person;\n');
  expect((await requestOf(steps)).digest).not.toBe(before.digest);
});
