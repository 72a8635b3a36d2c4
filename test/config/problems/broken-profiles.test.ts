import { expect, test } from 'vitest';
import { profileNamed } from '../../../src/operations/snapshots/remote-repositories.ts';
import { configFolder, withKey } from '../../helpers/terminal/config-folder.ts';

const SOUND = 'sound: {provider: minio, bucket: b, endpoint: "http://localhost:1", access_key: a, secret_key: s}';

test.for([
  ['an invalid value', 'provider: nowhere, bucket: b', 'wrong_value'],
  ['a wrong type', 'provider: s3, region: eu, bucket: [b]', 'wrong_type'],
  ['a missing key', 'provider: s3, region: eu', 'missing_key'],
  ['a missing address', 'provider: r2, bucket: b, cli_profile: work', 'storage_profile_incomplete'],
  ['an unknown key', 'provider: s3, region: eu, bucket: b, buket: c', 'unknown_key'],
  [
    'a value of another key',
    'provider: s3, region: eu, bucket: b, access_key: a, secret_key: "$aes$00"',
    'secret_not_opened',
  ],
] as const)('a storage profile with %s stops only what uses it', async ([, keys, code]) => {
  const folder = await configFolder({
    'tool.yml': withKey(`storage_profiles:
  ${SOUND}
  broken: {${keys}}
targets:
  app: {storage_profile: broken, snapshot: {src_url: 'postgres://h/app'}}
  other: {storage_profile: sound, snapshot: {src_url: 'postgres://h/other'}}
`),
  });
  const configuration = await folder.load();
  expect(Object.keys(configuration.settings.targets)).toEqual(['app', 'other']);
  expect(profileNamed(configuration, 'sound').bucket).toBe('b');
  expect(() => profileNamed(configuration, 'broken')).toThrow(expect.objectContaining({ code, exit: 3 }));
});

test('a problem elsewhere stops every command, and a missing profile is named', async () => {
  const broken = 'storage_profiles: {broken: {provider: nowhere, bucket: b}}\n';
  const folder = await configFolder({ 'tool.yml': withKey(`${broken}defaults: {cpus: many}\n`) });
  await expect(folder.load()).rejects.toMatchObject({ code: 'configuration_invalid' });
  const sound = await configFolder({ 'tool.yml': withKey(`storage_profiles: {${SOUND}}\n`) });
  const configuration = await sound.load();
  expect(() => profileNamed(configuration, 'soun')).toThrow("storage profile 'soun' not found");
});
