import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  applyConfigurationFix,
  type CheckWithFixes,
  checkWithFixes,
  type Fix,
  type FixPlan,
  planConfigurationFix,
} from '../../../src/operations/configuration/fix.ts';
import { asData } from '../../helpers/fakes/as-data.ts';
import { type ConfigFolder, configFolder, withKey } from '../../helpers/terminal/config-folder.ts';

const FILE = withKey(`# ours
working_directory: work # here
base_url: https://h
authtoken: &t hunter2 # plain
targets:
  app:
    snapshot: { src_url: "postgres://app:hunter3@h/a" } # main
`);

function fileRequest({ path }: ConfigFolder) {
  return { cwd: path, environment: { TOOL_TRUST: 'true', HOME: path, PATH: path } };
}

function diagnosed(folder: ConfigFolder): Promise<CheckWithFixes> {
  return checkWithFixes({
    ...fileRequest(folder),
    offline: true,
    report: () => {},
    signal: new AbortController().signal,
    clock: () => new Date(0),
  });
}

function planned(folder: ConfigFolder, fix: Fix | null | undefined): Promise<FixPlan> {
  if (!fix) throw new Error('there is no fix');
  return planConfigurationFix(fileRequest(folder), fix);
}

/** A plan is data: a copy of it does the same. */
function apply(folder: ConfigFolder, plan: FixPlan): Promise<void> {
  return applyConfigurationFix(fileRequest(folder), asData(plan));
}

test('secrets in plain are encrypted where they stand, and the check finds none after it', async () => {
  const folder = await configFolder({ 'tool.yml': FILE });
  const { report, encrypt } = await diagnosed(folder);
  expect(report.plain_secrets).toEqual(['authtoken', 'targets.app.snapshot.src_url']);
  const plan = await planned(folder, encrypt);
  expect(await readFile(join(folder.path, 'tool.yml'), 'utf8')).toBe(FILE);
  expect(plan.change).toMatchObject({ kind: 'text', base: FILE });
  await apply(folder, plan);
  const text = await readFile(join(folder.path, 'tool.yml'), 'utf8');
  expect(text).not.toMatch(/hunter/);
  expect(text).toMatch(/^authtoken: &t \S*\$aes\$[0-9a-f]+\S* # plain$/m);
  expect(await diagnosed(folder)).toMatchObject({ report: { ok: true, plain_secrets: [] }, encrypt: null });
});

test('the working directory is made for its owner alone; where it is there nothing is to be done', async () => {
  const folder = await configFolder({ 'tool.yml': FILE });
  const { report, makeFolder } = await diagnosed(folder);
  const path = join(folder.path, 'work');
  expect(report.working_directory).toEqual({ path, ok: null, error: null });
  await apply(folder, await planned(folder, makeFolder));
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  expect(await diagnosed(folder)).toMatchObject({ report: { working_directory: { ok: true } }, makeFolder: null });
});

test('a working directory that is a file is wrong, and nothing is made of it', async () => {
  const folder = await configFolder({ 'tool.yml': FILE, work: 'a file' });
  expect(await diagnosed(folder)).toMatchObject({
    report: { working_directory: { ok: false, error: 'is not a folder' } },
    makeFolder: null,
  });
});

test('a file that others may read becomes its owner’s alone', async () => {
  const folder = await configFolder({ 'tool.yml': FILE });
  const file = join(folder.path, 'tool.yml');
  await chmod(file, 0o644);
  const { report, fixes } = await diagnosed(folder);
  expect(report.problems.map(({ code }) => code)).toEqual(['file_readable_by_others']);
  const plan = await planned(folder, fixes[0]);
  expect(plan.change).toEqual({ kind: 'said', lines: [`chmod 600 ${file}`], act: { kind: 'protect', file } });
  await apply(folder, plan);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await diagnosed(folder)).report.problems).toEqual([]);
});

test('a fix does not overwrite changes that others saved since it was shown', async () => {
  const folder = await configFolder({ 'tool.yml': withKey('debugg: true # why\n') });
  const file = join(folder.path, 'tool.yml');
  const plan = await planned(folder, (await diagnosed(folder)).fixes[0]);
  await writeFile(file, withKey('debugg: false\n'));
  await expect(apply(folder, plan)).rejects.toMatchObject({ code: 'configuration_changed' });
  expect(await readFile(file, 'utf8')).toBe(withKey('debugg: false\n'));
});

test('a file that is no YAML has its problem, and nothing that mends it', async () => {
  const folder = await configFolder({ 'tool.yml': 'targets: [\n' });
  const { report, fixes, encrypt, makeFolder } = await diagnosed(folder);
  expect(report).toMatchObject({ ok: false, plain_secrets: [], working_directory: null });
  expect([...fixes, encrypt, makeFolder]).toEqual([null, null, null]);
});
