import { expect, test } from 'vitest';
import { connectionOf, parsePostgresUrl } from '../../src/engines/postgres/connection/url.ts';
import type { RunEvent } from '../../src/events.ts';
import { chooseDestination } from '../../src/operations/load/destination.ts';
import { configFolder, withKey } from '../helpers/config-folder.ts';
import { testContext } from '../helpers/postgres-server.ts';

function warnings(text: string): Promise<string[]> {
  return configFolder({ 'tool.yml': withKey(text) })
    .then((folder) => folder.inspect({ environment: { AWS_ACCESS_KEY_ID: 'x' } }))
    .then(({ problems }) =>
      problems.filter(({ severity }) => severity === 'warning').map(({ code, key }) => `${code} ${key}`),
    );
}

const target = (url: string) => `targets: { app: { snapshot: { src_url: "${url}" } } }\n`;
const KEY = 'targets.app.snapshot.src_url';

test.each([
  ['postgres://evil.example.com/app?service=prod', [`service_elsewhere ${KEY}`]],
  ['postgres://app@/app?service=prod&host=evil.example.com', [`service_elsewhere ${KEY}`]],
  ['postgres:///app?%73ervice=prod&hostaddr=192.0.2.1', [`service_elsewhere ${KEY}`]],
  ['postgres:///app?service=prod', []],
  ['postgres://app:own@db.example.com/app?service=prod', []],
])('the password of a service goes to no other host without a warning: %s', async (url, expected) => {
  expect(await warnings(target(url))).toEqual(expected);
});

test('--destdb with a service and another host is a warning before anything is connected to', () => {
  const events: RunEvent[] = [];
  const context = testContext({ settings: { targets: { app: { snapshot: { src_url: 'postgres://db/app' } } } } });
  const destdb = 'postgres://evil.example.com/app?service=prod';
  chooseDestination({ ...context, report: (event) => events.push(event) }, { target: 'app', destdb });
  expect(events).toMatchObject([{ event: 'warning', code: 'service_elsewhere' }]);
});

test('a container sees the files that a URL names for them, and no folder and nothing of another parameter', () => {
  const names = ['sslcert', 'sslkey', 'sslrootcert', 'sslcrl', 'passfile', 'servicefile'];
  const files = names.map((name) => `${name}=/etc/${name}`).join('&');
  const url = parsePostgresUrl(`postgres://db/app?${files}&application_name=/root&sslcrldir=/home&options=/etc`);
  expect(connectionOf(url).mounts).toEqual(names.map((name) => ({ path: `/etc/${name}`, fileOnly: true })));
});

const profiles = (prefix: string) => `storage_profiles:
  private: { provider: s3, bucket: one, region: eu-central-1 }
  team: { provider: s3, bucket: two, region: eu-central-1 }
  same: { provider: s3, bucket: one, region: eu-central-1, prefix: "${prefix}" }
`;
const sharing = ({
  push,
  share,
  prefix = '',
}: {
  push: string;
  share: string;
  prefix?: string;
}) => `${profiles(prefix)}targets:
  app: { snapshot: { src_url: "postgres://db/app" }, storage_profile: ${push} }
  team: { share: { storage_profile_name: ${share} } }
`;

test.each([
  { push: 'team', share: 'team', codes: ['originals_shared targets.app.storage_profile'] },
  { push: 'private', share: 'same', codes: ['originals_shared targets.app.storage_profile'] },
  { push: 'private', share: 'same', prefix: 'a', codes: [] },
  { push: 'private', share: 'team', codes: [] },
])(
  'originals pushed to $push where a share target reads $share are a warning: $codes',
  async ({ codes, ...places }) => {
    expect(await warnings(sharing(places))).toEqual(codes);
  },
);
