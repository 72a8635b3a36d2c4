import { expect, test } from 'vitest';
import { configFolder, withKey } from '../helpers/terminal/config-folder.ts';

const profile = (keys: string) => withKey(`storage_profiles:\n  team: {bucket: b, ${keys}}\n`);
const R2 = profile('provider: r2, cli_profile: work');
const S3 = profile('provider: s3, region: eu');

interface Case {
  title: string;
  config: string;
  codes: string[];
  files?: Record<string, string>;
  environment?: NodeJS.ProcessEnv;
}

const CASES: Case[] = [
  {
    title: 'an endpoint in the cli_profile is enough for r2',
    config: R2,
    files: { '.aws/config': '[profile work]\nendpoint_url = https://x.r2.cloudflarestorage.com\n' },
    codes: [],
  },
  {
    title: 'so is one of a section of services that the profile names, for S3 alone',
    config: R2,
    files: { '.aws/config': '[services r]\ns3 =\n  endpoint_url = https://x\n[profile work]\nservices = r\n' },
    codes: [],
  },
  {
    title: 'one for another service is not',
    config: R2,
    files: { '.aws/config': '[services r]\nsqs =\n  endpoint_url = https://x\n[profile work]\nservices = r\n' },
    codes: ['storage_profile_incomplete'],
  },
  {
    title: 'a profile may be in the file of credentials alone, with a comment behind its name',
    config: profile('provider: r2, account_id: a, cli_profile: work'),
    files: { '.aws/credentials': '[work] # mine\naws_access_key_id = a\n' },
    codes: [],
  },
  {
    title: 'what AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name is read instead',
    config: profile('provider: s3, cli_profile: elsewhere'),
    files: { 'aws.ini': '[profile elsewhere]\nregion = eu\n', '.aws/config': '[profile work]\n' },
    environment: { AWS_CONFIG_FILE: 'aws.ini' },
    codes: [],
  },
  {
    title: 'a section that is no profile is none',
    config: profile('provider: s3, region: eu, cli_profile: work'),
    files: { '.aws/config': '[sso-session work]\nsso_region = eu\n[work]\nregion = eu\n' },
    codes: ['cli_profile_not_found'],
  },
  {
    title: 'a profile without settings is none, as for the S3 client',
    config: profile('provider: s3, region: eu, cli_profile: work'),
    files: { '.aws/config': '[profile work]\n' },
    codes: ['cli_profile_not_found'],
  },
  { title: 'no credentials anywhere are a warning', config: S3, codes: ['credentials_not_found'] },
  {
    title: 'a default profile without credentials has none',
    config: S3,
    files: { '.aws/config': '[default]\nregion = eu\n' },
    codes: ['credentials_not_found'],
  },
  {
    title: 'a default profile with a role has some',
    config: S3,
    files: { '.aws/config': '[default]\nrole_arn = arn:aws:iam::1:role/r\n' },
    codes: [],
  },
  ...['AWS_ACCESS_KEY_ID', 'AWS_PROFILE', 'AWS_WEB_IDENTITY_TOKEN_FILE', 'AWS_CONTAINER_CREDENTIALS_FULL_URI'].map(
    (name): Case => ({ title: `${name} counts`, config: S3, environment: { [name]: 'x' }, codes: [] }),
  ),
];

test.for(CASES)('$title', async ({ config, files = {}, environment = {}, codes }) => {
  const folder = await configFolder({ 'tool.yml': config, ...files });
  const absolute = Object.entries(environment).map(([name, value]) => [
    name,
    name === 'AWS_CONFIG_FILE' ? `${folder.path}/${value}` : value,
  ]);
  const { problems } = await folder.inspect({ environment: Object.fromEntries(absolute) });
  expect(problems.map(({ code }) => code)).toEqual(codes);
});

test('advice about credentials is not repeated by every command', async () => {
  const heard: string[] = [];
  const folder = await configFolder({ 'tool.yml': S3 });
  const { loadConfiguration } = await import('../../src/config/load.ts');
  await loadConfiguration({
    cwd: folder.path,
    environment: { TOOL_TRUST: 'true', HOME: folder.path },
    report: (event) => heard.push(event.event),
  });
  expect(heard).toEqual([]);
});
