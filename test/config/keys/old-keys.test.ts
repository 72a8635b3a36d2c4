import { expect, test } from 'vitest';
import { configFolder, withKey } from '../../helpers/terminal/config-folder.ts';

/** A former key with where it stood, and where it stands now. */
const CASES: [string, string][] = [
  ['cpus', 'defaults.cpus'],
  ['dst_db_url', 'override.dst_db_url'],
  ['shared_target_dst_db_url', 'defaults.shared_target_dst_db_url'],
  ['targets.app.threads', 'targets.app.cpus'],
  ['targets.app.schemas', 'targets.app.snapshot.schema_config.include_schemas'],
  ['targets.app.snapshot.pg_schemas', 'targets.app.snapshot.schema_config.include_schemas'],
  ['targets.app.subset.dst_db_url', 'targets.app.subset.dst_url'],
  ['storage_profiles.team.awscli_profile', 'storage_profiles.team.cli_profile'],
  ['storage_profiles.team.type', 'storage_profiles.team.provider'],
  ['storage_profiles.team.secret_access_key', 'storage_profiles.team.secret_key'],
  ['targets.app.src_url', 'targets.app.snapshot.src_url'],
  ['targets.app.dst_url', 'targets.app.snapshot.dst_url'],
  ['targets.a.b.share.storage_profile', 'targets.a.b.share.storage_profile_name'],
];

test.for(CASES)('%s is told as a former key, with %s to write instead', async ([key, instead]) => {
  const path = key.includes('a.b') ? ['targets', 'a.b', ...key.split('.').slice(3)] : key.split('.');
  const folder = await configFolder({ 'tool.yml': withKey(nested(path, 'x')) });
  const { problems } = await folder.inspect();
  expect(problems.find(({ code }) => code === 'old_key')).toMatchObject({
    severity: 'error',
    key,
    message: `${key} is a key of a former version`,
    hint: `Write ${instead}.`,
  });
});

test('the replacement of a former key is a key', async () => {
  for (const [key, instead] of CASES) {
    const path = key.includes('a.b') ? ['targets', 'a.b', ...instead.split('.').slice(3)] : instead.split('.');
    const folder = await configFolder({ 'tool.yml': withKey(nested(path, 'x')) });
    const codes = (await folder.inspect()).problems.map(({ code }) => code);
    expect({ instead, codes }).not.toMatchObject({ codes: expect.arrayContaining(['unknown_key']) });
  }
});

function nested(path: string[], value: string): string {
  return path
    .map((key, depth) => `${'  '.repeat(depth)}${key}:${depth === path.length - 1 ? ` ${value}` : ''}\n`)
    .join('');
}
