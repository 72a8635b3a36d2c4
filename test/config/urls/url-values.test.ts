import { expect, test } from 'vitest';
import { applyRules } from '../../../src/config/rules/rules.ts';
import { check } from '../../../src/operations/configuration/check/check.ts';
import { EXIT } from '../../../src/runtime/errors.ts';
import { configFolder, summary, withKey } from '../../helpers/terminal/config-folder.ts';

const profile = (values: string) => `storage_profiles:\n  team: {bucket: b, access_key: a, secret_key: s, ${values}}\n`;

const LABEL = 'must be letters, digits and hyphens only, as in a host name';

test.for([
  ['region', profile('provider: s3, region: "us east 1"'), LABEL],
  ['region', profile('provider: s3, region: "eu/../x"'), LABEL],
  ['region', profile('provider: minio, endpoint: "http://h", region: "-eu"'), LABEL],
  ['account_id', profile('provider: r2, account_id: "a b"'), LABEL],
  ['region', profile('provider: s3, region: ""'), 'must not be empty'],
  [
    'endpoint',
    profile('provider: minio, endpoint: "https://my host"'),
    'must be a URL that begins with http:// or https://',
  ],
] as const)('%s of %s is a problem with its place', async ([key, text, says]) => {
  const folder = await configFolder({ 'tool.yml': withKey(text) });
  const { problems, configuration } = await folder.inspect();
  expect(problems.filter(({ severity }) => severity === 'error')).toMatchObject([
    {
      code: 'wrong_value',
      key: `storage_profiles.team.${key}`,
      line: 3,
      message: `storage_profiles.team.${key} ${says}`,
    },
  ]);
  expect(configuration?.settings.storage_profiles).toEqual({});
});

test('a bucket is a name, neither an address nor a path', async () => {
  const codes = async (bucket: string) => {
    const text = `storage_profiles: {team: {provider: minio, endpoint: "http://h", bucket: "${bucket}", access_key: a, secret_key: s}}`;
    const { problems } = await (await configFolder({ 'tool.yml': withKey(text) })).inspect();
    return problems.filter(({ severity }) => severity === 'error').map(({ code, key }) => `${code} ${key}`);
  };
  for (const bucket of ['a b', 'a/b', 'https://h/b', 'a?b', 'a#b']) {
    expect({ bucket, problems: await codes(bucket) }).toEqual({
      bucket,
      problems: ['wrong_value storage_profiles.team.bucket'],
    });
  }
  for (const bucket of ['b', 'My.old_bucket-1', 'arn:aws:s3:eu-central-1:1:accesspoint/b'])
    expect(await codes(bucket)).toEqual([]);
});

test('an invalid region of ~/.aws/config is a problem of the profile that names it', async () => {
  const text = 'storage_profiles: {team: {provider: s3, bucket: b, cli_profile: work}}';
  const folder = await configFolder({
    'tool.yml': withKey(text),
    '.aws/config': '[profile work]\nregion = us east 1\n',
  });
  expect(summary((await folder.inspect()).problems)).toEqual([
    `2:65 cli_profile_invalid storage profile 'team' uses the cli_profile 'work', whose region "us east 1" is not valid`,
  ]);
  await folder.write('.aws/config', '[profile work]\nregion = eu-central-1\nendpoint_url = "not a url"\n');
  expect((await folder.inspect()).problems.map(({ code }) => code)).toEqual(['cli_profile_invalid']);
});

test('a value that breaks an address hides no other problem, in the check neither', async () => {
  const text = `env: prod\n${profile('provider: s3, region: "us east 1"')}targets:\n  app:\n    storage_profile: x\n    snapshot: {src_url: "postgres://h/d"}\n`;
  const folder = await configFolder({ 'tool.yml': withKey(text) });
  const { report } = await check({
    cwd: folder.path,
    environment: { TOOL_TRUST: 'true', HOME: folder.path, PATH: folder.path },
    offline: false,
    report: () => {},
    signal: new AbortController().signal,
    clock: () => new Date(0),
  });
  expect(report.problems.filter(({ severity }) => severity === 'error').map(({ key }) => key)).toEqual([
    'env',
    'storage_profiles.team.region',
    'targets.app.storage_profile',
  ]);
  expect(report.storage_profiles).toMatchObject([{ name: 'team', complete: false, ok: null }]);
  await expect(folder.load()).rejects.toMatchObject({ code: 'configuration_invalid', exit: EXIT.configuration });
});

test('a rule that fails is a problem, and the other rules are applied', () => {
  const breaks = (): never => {
    throw new TypeError('Invalid URL');
  };
  const found = { path: ['env'], code: 'wrong_value', message: 'is wrong' };
  const surroundings = { isWritten: () => false, environment: {}, awsProfiles: new Map() };
  expect(applyRules([() => [found], breaks, () => [found]], {}, surroundings)).toMatchObject([
    found,
    { code: 'check_failed', message: 'the check breaks failed: Invalid URL' },
    found,
  ]);
});
