import { expect, test } from 'vitest';
import { changeText } from '../../../src/config/edit/change-text.ts';
import { fixFor } from '../../../src/config/keys/fixes.ts';
import { settingsSchema } from '../../../src/config/schema/settings.ts';
import { shapeOf } from '../../../src/config/schema/shape.ts';
import { parseYaml } from '../../../src/config/yaml/yaml-source.ts';
import { configFolder, SECRET_KEY, withKey } from '../../helpers/terminal/config-folder.ts';

const TEAM = 'storage_profiles:\n  team: { provider: s3, bucket: b, region: r, cli_profile: work } # ours\n';

/** What the fix of the first problem makes of the lines, and what it says of itself. */
async function mended(text: string, environment: NodeJS.ProcessEnv = {}) {
  const folder = await configFolder({ 'tool.yml': text, '.aws/config': '[profile work]\nrole_arn = r\n' });
  const { problems } = await folder.inspect({ environment });
  const problem = problems.find(({ severity }) => severity === 'error') ?? problems[0];
  if (!problem) throw new Error('nothing is wrong');
  const written = parseYaml(text).tree;
  const fix = fixFor(problem, { written, shape: shapeOf(settingsSchema), cliProfiles: ['work'] });
  if (!fix) return { code: problem.code, does: null, text: null };
  const after = fix.changes.reduce(changeText, text);
  await folder.write('tool.yml', after);
  const { problems: left } = await folder.inspect({ environment });
  expect(left.map(({ code, key }) => `${code} ${key}`)).not.toContain(`${problem.code} ${problem.key}`);
  return { code: problem.code, does: fix.does, text: after.replace(withKey(''), '') };
}

test.for([
  [
    'a misspelt key is renamed where it stands',
    'targets:\n  app: # the shop\n    snapshoot: # old\n      src_url: postgres://h/a\n',
    'Rename snapshoot to snapshot',
    'targets:\n  app: # the shop\n    snapshot: # old\n      src_url: postgres://h/a\n',
  ],
  [
    'a key that has one other place goes there',
    'san_query: SELECT 1 # all\noverride: # ours\n  dst_db_url: postgres://h/b\n',
    'Move san_query to override.san_query',
    'override: # ours\n  dst_db_url: postgres://h/b\n  san_query: "SELECT 1"\n',
  ],
  [
    'one value becomes the only item of a list',
    'targets:\n  app:\n    snapshot:\n      src_url: postgres://h/a\n      include_schemas: sales\n',
    'Move include_schemas to schema_config.include_schemas',
    'targets:\n  app:\n    snapshot:\n      src_url: postgres://h/a\n      schema_config:\n        include_schemas: [sales]\n',
  ],
  [
    'a key of DBSnapper is renamed',
    'storage_profiles:\n  team: { provider: s3, bucket: b, region: r, awscli_profile: work }\n',
    'Rename awscli_profile to cli_profile',
    'storage_profiles:\n  team: { provider: s3, bucket: b, region: r, cli_profile: work }\n',
  ],
  [
    'the kind of a storage profile is its provider',
    'storage_profiles:\n  team:\n    type: s3 # kind\n    bucket: b\n    region: r\n    cli_profile: work\n',
    'Rename type to provider',
    'storage_profiles:\n  team:\n    provider: s3 # kind\n    bucket: b\n    region: r\n    cli_profile: work\n',
  ],
  [
    'the profile of a share target has a name of its own',
    `${TEAM}targets:\n  app:\n    share:\n      storage_profile: team\n`,
    'Rename storage_profile to storage_profile_name',
    `${TEAM}targets:\n  app:\n    share:\n      storage_profile_name: team\n`,
  ],
  [
    'a storage profile of snapshots goes beside them',
    `${TEAM}targets:\n  app:\n    snapshot:\n      src_url: postgres://h/a\n      storage_profile: team\n`,
    'Move storage_profile to app.storage_profile',
    `${TEAM}targets:\n  app:\n    snapshot:\n      src_url: postgres://h/a\n    storage_profile: team\n`,
  ],
  [
    'a source of the target goes into its snapshot',
    'targets:\n  app:\n    src_url: postgres://h/a\n    snapshot:\n      dst_url: postgres://h/b\n',
    'Move src_url to snapshot.src_url',
    'targets:\n  app:\n    snapshot:\n      dst_url: postgres://h/b\n      src_url: postgres://h/a\n',
  ],
  ['a truth value is written as one', 'debug: yes # loud\n', 'Write true for debug', 'debug: true # loud\n'],
  ['a number loses its quotes', 'defaults:\n  cpus: "4"\n', 'Write 4 for cpus', 'defaults:\n  cpus: 4\n'],
  ['a choice is written out', 'env: prod\n', 'Write production for env', 'env: production\n'],
  [
    'an unknown profile becomes the nearest',
    `${TEAM}targets:\n  app:\n    snapshot: { src_url: "postgres://h/a" }\n    storage_profile: teem # which\n`,
    'Write team for storage_profile',
    `${TEAM}targets:\n  app:\n    snapshot: { src_url: "postgres://h/a" }\n    storage_profile: team # which\n`,
  ],
  [
    'an unknown profile of the command-line client becomes the nearest',
    TEAM.replace('work', 'werk'),
    'Write work for cli_profile',
    TEAM,
  ],
  [
    'a schema of both lists is included, as it would be anyhow',
    'targets:\n  app:\n    snapshot:\n      src_url: postgres://h/a\n      schema_config:\n        include_schemas: [a, b]\n        exclude_schemas: [c, b]\n',
    'Take b out of exclude_schemas',
    'targets:\n  app:\n    snapshot:\n      src_url: postgres://h/a\n      schema_config:\n        include_schemas: [a, b]\n        exclude_schemas: [c]\n',
  ],
  [
    'what MySQL ignores is taken out',
    'targets:\n  app:\n    snapshot:\n      src_url: mysql://h/a\n      schema_config: { use_default_schema: true }\n',
    'Take schema_config out',
    'targets:\n  app:\n    snapshot:\n      src_url: mysql://h/a\n',
  ],
] as const)('%s', async ([, text, does, after]) => {
  expect(await mended(withKey(text))).toMatchObject({ does, text: after });
});

test.each([
  ['a key that is like none', 'surprise: 1\n', 'unknown_key'],
  ['a key whose right name is there too', 'debug: true\ndebugg: false\n', 'unknown_key'],
  ['a key that has several other places', 'dst_url: postgres://h/a\n', 'unknown_key'],
  [
    'a number where text is wanted: nobody knows how it was written',
    'targets:\n  app:\n    name: 0123\n',
    'wrong_type',
  ],
  [
    'a name that is like no profile',
    `${TEAM}targets: { a: { storage_profile: elsewhere } }\n`.replace(
      ' team:',
      ' team: { provider: s3, bucket: c, region: r, cli_profile: work }\n  other:',
    ),
    'storage_profile_not_found',
  ],
])('only a person can mend %s', async (_, text, code) => {
  expect(await mended(withKey(text))).toEqual({ code, does: null, text: null });
});

test('a value from a variable has no fix in the file', async () => {
  const said = await mended(withKey('debug: false\n'), { TOOL_ENV: 'prod' });
  expect(said).toEqual({ code: 'wrong_value', does: null, text: null });
  expect(SECRET_KEY).toHaveLength(32);
});
