import { expect, test } from 'vitest';
import { configFolder, withKey } from '../../helpers/terminal/config-folder.ts';

/** A key of DBSnapper, and its place here. */
const CASES: [string, string][] = [
  ['storage_profiles.team.awscli_profile', 'storage_profiles.team.cli_profile'],
  ['storage_profiles.team.type', 'storage_profiles.team.provider'],
  ['targets.app.src_url', 'targets.app.snapshot.src_url'],
  ['targets.app.dst_url', 'targets.app.snapshot.dst_url'],
  ['targets.a.b.snapshot.storage_profile', 'targets.a.b.storage_profile'],
];

test.for(CASES)('%s is reported with its place here, %s', async ([key, instead]) => {
  const folder = await configFolder({ 'tool.yml': withKey(nested(pathOf(key), 'x')) });
  const { problems } = await folder.inspect();
  const last = instead.split('.').at(-1);
  const hint = key.includes('awscli') ? `Did you mean ${last}?` : `Write ${instead}.`;
  expect(problems.find(({ code }) => code === 'unknown_key')).toMatchObject({ severity: 'error', key, hint });
});

test('the place of a key of DBSnapper is a key', async () => {
  for (const [, instead] of CASES) {
    const folder = await configFolder({ 'tool.yml': withKey(nested(pathOf(instead), 'x')) });
    const codes = (await folder.inspect()).problems.map(({ code }) => code);
    expect({ instead, codes }).not.toMatchObject({ codes: expect.arrayContaining(['unknown_key']) });
  }
});

function pathOf(key: string): string[] {
  return key.startsWith('targets.a.b.') ? ['targets', 'a.b', ...key.split('.').slice(3)] : key.split('.');
}

function nested(path: string[], value: string): string {
  return path
    .map((key, depth) => `${'  '.repeat(depth)}${key}:${depth === path.length - 1 ? ` ${value}` : ''}\n`)
    .join('');
}
