import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from '../../../src/commands/registry.ts';
import { encrypt } from '../../../src/config/secrets/cipher.ts';
import type { ExplainedValue } from '../../../src/results/configuration/configuration-results.ts';
import { EXIT } from '../../../src/runtime/errors.ts';
import { ATTENDED, runWith } from '../../helpers/terminal/cli-host.ts';
import { type ConfigFolder, configFolder, SECRET_KEY, withKey } from '../../helpers/terminal/config-folder.ts';

function run({ path }: ConfigFolder, words: string[], environment: NodeJS.ProcessEnv = {}) {
  return runWith(['config', 'show', ...words], COMMANDS, {
    cwd: path,
    environment: { TOOL_TRUST: 'true', HOME: path, ...environment },
  });
}

const FILE = withKey(`authtoken: cloud-token
defaults:
  cpus: 4
storage_profiles:
  team: {provider: minio, bucket: b, endpoint: "https://who:endpoint-pw@minio", access_key: AKX, secret_key: SKX}
targets:
  app:
    snapshot:
      src_url: "postgres://app:{{\`PW\` | env}}@db:5432/app?sslmode=require"
      dst_url: postgres://me:written-pw@localhost/app_copy
    subset:
      copy_tables: [public.c, public.d]
      subset_tables:
        - table: public.a
          percent: 5
      src_url: postgres://db/app
      dst_url: postgres://db/small
  my.other:
`);

test('config show has every value in force with its line, its variable, or "default"; no secret is in it', async () => {
  const folder = await configFolder({ 'tool.yml': FILE });
  const { exit, stdout, stderr } = await run(folder, [], { PW: 'filled-pw', TOOL_DEFAULTS__CPUS: '8' });
  expect({ exit, stderr }).toEqual({ exit: EXIT.done, stderr: '' });
  const [table, advice, problems, end] = stdout.split('\n\n');
  const plain = (text = ''): string => text.replaceAll(/ +/g, ' ');
  expect(plain(table)).toBe(
    plain(`KEY                                          VALUE                             FROM
secret_key                                   ***                               tool.yml:1
authtoken                                    ***                               tool.yml:2
working_directory                            ${`${folder.path}/.tool`.padEnd(32)}  default
env                                          production                        default
dev_api_url                                  http://localhost:3000             default
debug                                        false                             default
trace                                        false                             default
theme                                        auto                              default
notify                                       true                              default
saves.keep                                   20                                default
saves.max_duration                           10            default
branches.follow                                tree                              default
defaults.cpus                                8                                 TOOL_DEFAULTS__CPUS
storage_profiles.team.provider               minio                             tool.yml:6
storage_profiles.team.bucket                 b                                 tool.yml:6
storage_profiles.team.endpoint               https://who:***@minio             tool.yml:6
storage_profiles.team.access_key             ***                               tool.yml:6
storage_profiles.team.secret_key             ***                               tool.yml:6
targets.app.snapshot.src_url                 postgres://app@db:5432/app        tool.yml:10
targets.app.snapshot.dst_url                 postgres://me@localhost/app_copy  tool.yml:11
targets.app.subset.src_url                   postgres://db/app                 tool.yml:17
targets.app.subset.dst_url                   postgres://db/small               tool.yml:18
targets.app.subset.subset_tables[0].table    public.a                          tool.yml:15
targets.app.subset.subset_tables[0].percent  5                                 tool.yml:16
targets.app.subset.copy_tables               public.c, public.d                tool.yml:13
targets.my.other                             {}                                tool.yml:19`),
  );
  expect(advice).toContain("warning: storage profile 'team' contains its credentials");
  expect(problems).toContain('warning: targets.my.other is an empty target');
  expect(end).toBe(`From ${folder.path}/tool.yml, cloud mode\n`);
});

test('values are nested as in the file on a terminal, and no line exceeds its width', async () => {
  const folder = await configFolder({
    'tool.yml': withKey(
      `override: {san_query: "${'DELETE FROM a; '.repeat(20)}"}\ntargets: {app: {cpus: 2, share: {}}}\n`,
    ),
  });
  const { stdout } = await runWith(['config', 'show'], COMMANDS, {
    cwd: folder.path,
    environment: { TOOL_TRUST: 'true', HOME: folder.path },
    terminal: ATTENDED,
  });
  const lines = stdout.split('\n');
  expect(Math.max(...lines.slice(0, lines.indexOf('')).map((line) => line.length))).toBe(80);
  expect(stdout).toMatch(/\ntargets\n {2}app\n {4}cpus +2 +tool\.yml:3\n {4}share +\{\} +tool\.yml:3\n/);
});

test('config show --json is one document; values of variables have no line', async () => {
  const folder = await configFolder({ 'tool.yml': 'targets: {app: {sso_groups: [a, b], snapshot: {}}}' });
  const { stdout } = await run(folder, ['--json'], { TOOL_SECRET_KEY: SECRET_KEY, TOOL_TARGETS__APP__CPUS: '3' });
  const document = JSON.parse(stdout);
  expect(document).toMatchObject({ file: join(folder.path, 'tool.yml'), mode: 'local', problems: [] });
  const values = new Map(document.values.map((value: ExplainedValue) => [value.key, value]));
  expect(values.get('targets.app.cpus')).toEqual({
    key: 'targets.app.cpus',
    path: ['targets', 'app', 'cpus'],
    value: 3,
    origin: { kind: 'variable', file: null, line: null, variable: 'TOOL_TARGETS__APP__CPUS' },
  });
  expect(values.get('targets.app.sso_groups')).toMatchObject({
    value: ['a', 'b'],
    origin: { kind: 'file', file: join(folder.path, 'tool.yml'), line: 1, variable: null },
  });
  expect(values.get('env')).toMatchObject({ value: 'production', origin: { kind: 'default', line: null } });
  expect(values.get('secret_key')).toMatchObject({ value: '***', origin: { variable: 'TOOL_SECRET_KEY' } });
});

test('no secret is in the document: literal, encrypted, from a variable, or brought by a template', async () => {
  const folder = await configFolder({
    'tool.yml': `${FILE}  third:\n    snapshot: {src_url: "{{\`WHOLE\` | env}}", dst_url: "postgres://u:{{\`NOT_SET\` | env}}c0nst@h/d"}\n    storage_profile: team\n`,
  });
  const { exit, stdout } = await run(folder, ['--json'], {
    PW: 'filled-pw',
    WHOLE: 'postgres://me:whole-pw@h/d?password=param-pw',
    TOOL_TARGETS__APP__SANITIZE__DST_URL: 'postgres://v:variable-pw@h/s',
    TOOL_SSO__IDP: '{provider_url: "https://idp", client_id: c, access_token: at-secret}',
  });
  expect(exit).toBe(EXIT.configuration);
  expect(stdout).not.toMatch(
    /cloud-token|endpoint-pw|AKX|SKX|filled-pw|written-pw|whole-pw|param-pw|variable-pw|at-secret|c0nst|0123456789abcdef/,
  );
  expect(stdout).toContain('"postgres://me@h/d"');
  expect(stdout).toContain('"postgres://v@h/s"');
});

test('a configuration with problems shows valid values, then the problems, and exits with 3', async () => {
  const folder = await configFolder({
    'tool.yml': withKey(
      'debug: 1\nnope: 2\ndefaults: {cpus: four}\ntargets:\n  app:\n    cpus: 2\n    snapshot: {src_url: "postgres://u:{{`NOPE` | env}}@h/d"}\n',
    ),
  });
  const { exit, stdout } = await run(folder, []);
  expect(exit).toBe(EXIT.configuration);
  expect(stdout).toMatch(/^targets\.app\.cpus +2 +tool\.yml:7$/m);
  expect(stdout).toMatch(/^targets\.app\.snapshot\.src_url +postgres:\/\/\*\*\*@h\/d +tool\.yml:8$/m);
  expect(stdout).toMatch(/^env +production +default$/m);
  expect(stdout).not.toMatch(/^(debug|defaults\.cpus|nope) /m);
  for (const message of [
    'debug must be',
    'unknown key nope',
    'defaults.cpus must be',
    'the variable NOPE is not set',
  ]) {
    expect(stdout).toContain(message);
  }
});

test('a missing or unreadable configuration shows only the problem', async () => {
  const nothing = await run(await configFolder({}), []);
  expect(nothing).toMatchObject({
    exit: EXIT.configuration,
    stdout: expect.stringMatching(/^error: no configuration found/),
  });
  const broken = await run(await configFolder({ 'tool.yml': 'a: [' }), ['--json']);
  expect(broken.exit).toBe(EXIT.configuration);
  expect(JSON.parse(broken.stdout)).toMatchObject({ values: [], problems: [{ code: 'yaml_syntax', line: 1 }] });
});

test('config schema prints the JSON Schema that is shipped, with --json too', async () => {
  const shipped = await readFile(new URL('../../../assets/tool.schema.json', import.meta.url), 'utf8');
  for (const flags of [[], ['--json']]) {
    expect(await runWith(['config', 'schema', ...flags], COMMANDS)).toMatchObject({ exit: EXIT.done, stdout: shipped });
  }
  expect(JSON.parse(shipped).properties.targets).toMatchObject({ type: 'object' });
});

test('encrypted values are masked under any key', async () => {
  const folder = await configFolder({
    'tool.yml': withKey(
      `targets:\n  app:\n    name: "${encrypt('n', SECRET_KEY)}"\n    sso_groups: [a, "${encrypt('b', SECRET_KEY)}"]\n    share: {}\n`,
    ),
  });
  const { stdout } = await run(folder, []);
  expect(stdout).toMatch(/^targets\.app\.name +\*\*\* +tool\.yml:4$/m);
  expect(stdout).toMatch(/^targets\.app\.sso_groups +\*\*\* +tool\.yml:5$/m);
});
