import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../../src/commands/registry.ts';
import { encrypt } from '../../../src/config/secrets/cipher.ts';
import { EXIT } from '../../../src/runtime/errors.ts';
import { runWith } from '../../helpers/terminal/cli-host.ts';
import { type ConfigFolder, configFolder, SECRET_KEY } from '../../helpers/terminal/config-folder.ts';

const FORMER = '.config/dbsnapper/dbsnapper.yml';
const WRITTEN = '.config/tool/tool.yml';

function importIn({ path }: ConfigFolder, words: string[] = [], variables: NodeJS.ProcessEnv = {}) {
  const environment = { HOME: path, PATH: process.env.PATH, ...variables };
  return runWith(['config', 'import', FORMER, ...words], COMMANDS, { cwd: path, environment });
}

const EVERYTHING = `# ours
authtoken: a-token-of-their-cloud
secret_key: ${SECRET_KEY}
working_directory: ~/.snaps
env: development
debug: true
feature_flags:
  development_utilities: false
database_tools:
  auto_detect: true
override:
  dst_db_url: ""
  nocloud: false
defaults:
  cpus: 2
  shared_target_dst_db_url: ""
sso:
  okta:
    provider_url: https://idp.example.com
    client_id: abc
storage_profiles:
  aws:
    provider: s3
    awscli_profile: work   # the shared one
    region: us-west-2
    bucket: snaps
targets:
  app:
    name: "Production"
    snapshot:
      src_url: postgres://{{\`DB_USER\` | env}}:${encrypt('pässword', SECRET_KEY)}@prod:5432/app
      dst_url: postgres://localhost:5432/app_dev
      storage_profile: aws
    sanitize:
      query_file: sanitize.sql
`;

test('a configuration of DBSnapper is written with the keys of this program, and its own file stays', async () => {
  const folder = await configFolder({
    [FORMER]: EVERYTHING,
    '.snaps/sanitize.sql': 'SELECT 1',
    '.aws/config': '[profile work]\nregion = us-west-2\n',
    '.aws/credentials': '[work]\naws_access_key_id = a\naws_secret_access_key = b\n',
  });
  const { exit, stdout, stderr } = await importIn(folder, [], { DB_USER: 'app', DBSNAPPER_NO_CONFIRM: 'true' });
  expect({ exit, stderr, stdout: stdout.replaceAll(folder.path, '~') }).toEqual({
    exit: EXIT.done,
    stderr: '',
    stdout: `targets.app.sanitize.query_file: write ~/.snaps/sanitize.sql
storage_profiles.aws.awscli_profile: rename awscli_profile to cli_profile
targets.app.snapshot.storage_profile: move storage_profile to app.storage_profile
authtoken: left out: it belongs to DBSnapper Cloud. Sign in to a hub: tool auth login
env: left out: it belongs to DBSnapper Cloud. Sign in to a hub: tool auth login
override.nocloud: left out: it belongs to DBSnapper Cloud. Sign in to a hub: tool auth login
working_directory: left out: snapshots of DBSnapper have another format. They stay there
database_tools: left out: the client programs of PATH are used
feature_flags: left out: there is no such key here
override.dst_db_url: left out: it is empty
defaults.shared_target_dst_db_url: left out: it is empty
Set the variable TOOL_NO_CONFIRM instead of DBSNAPPER_NO_CONFIRM
Wrote ~/.config/tool/tool.yml from ~/${FORMER}
Next: tool config check, then: tool build TARGET
`,
  });
  const text = await readFile(join(folder.path, WRITTEN), 'utf8');
  expect(text).toContain('# ours\n');
  expect(text).toContain('    cli_profile: work   # the shared one\n');
  expect(text).not.toContain('override');
  expect((await stat(join(folder.path, WRITTEN))).mode & 0o777).toBe(0o600);
  expect(await readFile(join(folder.path, FORMER), 'utf8')).toBe(EVERYTHING);
  const { settings } = await folder.load({ environment: { DB_USER: 'app' } });
  expect(settings.targets.app).toMatchObject({
    storage_profile: 'aws',
    snapshot: { src_url: `postgres://app:${encodeURIComponent('pässword')}@prod:5432/app` },
    sanitize: { query_file: join(folder.path, '.snaps/sanitize.sql') },
  });
  expect(settings.working_directory).toBe(join(folder.path, '.tool'));
});

test('an unknown key is left out by name, also between brackets', async () => {
  const folder = await configFolder({
    [FORMER]: `{ secret_key: "${SECRET_KEY}", targets: { app: { snapshot: { src_url: postgres://h/a, zzz: 1 }, qqq: [1] } } }`,
  });
  const { exit, stdout } = await importIn(folder, ['--json']);
  expect(exit).toBe(EXIT.done);
  expect(JSON.parse(stdout)).toMatchObject({
    from: join(folder.path, FORMER),
    file: join(folder.path, WRITTEN),
    changed: [],
    left_out: [
      { key: 'targets.app.snapshot.zzz', reason: 'unknown' },
      { key: 'targets.app.qqq', reason: 'unknown' },
    ],
    problems: [],
  });
});

test('what the import cannot decide stays in the written file, and the exit code says so', async () => {
  const folder = await configFolder({
    [FORMER]: `secret_key: "${SECRET_KEY}"\ntargets:\n  app:\n    storage_profile: gone\n    snapshot:\n      src_url: postgres://h/a\n`,
  });
  const { exit, stdout } = await importIn(folder);
  expect(exit).toBe(EXIT.configuration);
  expect(stdout).toContain('It still has 1 error. Show it: tool config check\n');
  expect((await folder.inspect()).problems).toMatchObject([{ code: 'storage_profile_not_found' }]);
});

test('the key of a variable opens what the file holds, and a variable of this program is not part of it', async () => {
  const folder = await configFolder({
    [FORMER]: `targets:\n  app:\n    snapshot:\n      src_url: postgres://u:${encrypt('x', SECRET_KEY)}@h/a\n`,
  });
  const variables = { DBSNAPPER_SECRET_KEY: SECRET_KEY, TOOL_SECRET_KEY: SECRET_KEY, TOOL_DEFAULTS__CPUS: 'many' };
  const { stdout } = await importIn(folder, ['--json'], variables);
  expect(JSON.parse(stdout)).toMatchObject({
    changed: [],
    left_out: [],
    variables: [{ from: 'DBSNAPPER_SECRET_KEY', to: 'TOOL_SECRET_KEY' }],
  });
  expect(await readFile(join(folder.path, WRITTEN), 'utf8')).not.toContain('cpus');
});

test('an existing configuration is kept, without --force', async () => {
  const folder = await configFolder({ [FORMER]: `secret_key: ${SECRET_KEY}\n`, [WRITTEN]: '# mine\n' });
  const { exit, stderr } = await importIn(folder);
  expect(exit).toBe(EXIT.refused);
  expect(stderr).toContain('already exists');
  expect(await readFile(join(folder.path, WRITTEN), 'utf8')).toBe('# mine\n');
  expect((await importIn(folder, ['--force'])).stdout).toContain(
    `The old file is kept as ${folder.path}/${WRITTEN}.replaced`,
  );
});

test.for([
  ['no file', undefined, 'dbsnapper.yml does not exist'],
  ['no YAML', 'targets: [', 'dbsnapper.yml:'],
  ['text', 'just text', 'dbsnapper.yml:'],
] as const)('%s writes nothing', async ([, content, message]) => {
  const folder = await configFolder(content === undefined ? {} : { [FORMER]: content });
  const { exit, stderr } = await importIn(folder);
  expect(exit).toBe(EXIT.configuration);
  expect(stderr).toContain(message);
  expect(await stat(join(folder.path, WRITTEN)).catch(() => null)).toBeNull();
});
