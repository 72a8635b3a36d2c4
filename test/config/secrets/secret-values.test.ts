import { expect, test } from 'vitest';
import { encrypt } from '../../../src/config/secrets/cipher.ts';
import { secretValues } from '../../../src/config/secrets/secret-values.ts';
import { configFolder, SECRET_KEY, withKey } from '../../helpers/terminal/config-folder.ts';

test('the known secrets of a run are those of the configuration in force and of variables', async () => {
  const text = withKey(
    [
      `authtoken: ${encrypt('t0ken-in-plain', SECRET_KEY)}`,
      'storage_profiles: {team: {provider: minio, bucket: bucket-1, endpoint: "http://h", access_key: AKIA1, secret_key: s3cret-key}}',
      "override: {san_query: \"UPDATE t SET url = 'https://a:b' || x || '@c'\"}",
      'targets:',
      '  app1:',
      '    snapshot:',
      '      src_url: "postgres://app:{{`PW` | env}}@h/d"',
      '      dst_url: "postgres://app1:app1@h/d?password=0ther"',
      '',
    ].join('\n'),
  );
  const folder = await configFolder({ 'tool.yml': text });
  const { settings } = await folder.load({ environment: { PW: 'p@ss w0rd' } });
  const environment = { PGPASSWORD: 'fr0m-variable', PATH: '/bin/w0w' };
  const values = secretValues({ settings, environment, urls: ['mysql://u:g1ven@h/d'] });
  const expected = [
    't0ken-in-plain',
    'AKIA1',
    's3cret-key',
    'fr0m-variable',
    'g1ven',
    'p%40ss%20w0rd',
    'p@ss w0rd',
    '0ther',
  ];
  expect([...new Set(values)].sort()).toEqual([SECRET_KEY, ...expected].sort());
});
