import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfiguration } from '../../src/config/load.ts';
import { checkDestination, previewSetUp, writeSetUp } from '../../src/operations/set-up.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'set-up-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SOURCE = 'postgres://app:hunter2@db:5432/shop';
const answers = { file: 'tool.yml', target: 'shop', source: SOURCE, destination: 'postgres://localhost/shop_dev' };

test('what is written is in force, with its password encrypted', async () => {
  const surroundings = { environment: { HOME: folder }, cwd: folder };
  const { file } = await writeSetUp(surroundings, answers);
  expect(file).toBe(join(folder, 'tool.yml'));
  expect(readFileSync(file, 'utf8')).not.toContain('hunter2');
  const { settings } = await loadConfiguration(surroundings);
  expect(settings.targets.shop?.snapshot).toMatchObject({ src_url: SOURCE, dst_url: answers.destination });
});

test('a file that is there is not overwritten', async () => {
  const surroundings = { environment: { HOME: folder }, cwd: folder };
  await writeSetUp(surroundings, answers);
  const before = readFileSync(join(folder, 'tool.yml'), 'utf8');
  await expect(writeSetUp(surroundings, { ...answers, target: 'other' })).rejects.toMatchObject({
    code: 'configuration_exists',
  });
  expect(readFileSync(join(folder, 'tool.yml'), 'utf8')).toBe(before);
});

test('the preview shows the target and no password', () => {
  expect(previewSetUp(answers)).toContain('dst_url: postgres://localhost/shop_dev');
  expect(previewSetUp(answers)).not.toContain('hunter2');
});

test('the source is no destination', () => {
  expect(() => checkDestination({ ...answers, destination: SOURCE })).toThrow('would replace it');
});
