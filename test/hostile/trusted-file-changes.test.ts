import { PassThrough } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../../src/commands/registry.ts';
import { encrypt } from '../../src/config/secrets/cipher.ts';
import { saveTrust } from '../../src/config/trust/trust-store.ts';
import { createContext } from '../../src/runtime/context.ts';
import { chooseQuery } from '../../src/sanitize/query.ts';
import { ATTENDED, PIPED, runWith } from '../helpers/terminal/cli-host.ts';
import { type ConfigFolder, configFolder, SECRET_KEY, withKey } from '../helpers/terminal/config-folder.ts';

const BASE = withKey(`targets:
  app:
    name: Application
    storage_profile: team
    snapshot:
      src_url: postgres://reader@db.example.com:5432/shop
      dst_url: postgres://dev@db.example.com:5432/shop_dev
    sanitize:
      query_file: ./sanitize.sql
  stats:
    snapshot:
      src_url: postgres://reader@db.example.com:5432/stats
      dst_url: postgres://dev@localhost:5432/stats_dev
storage_profiles:
  team: { provider: minio, bucket: snapshots, prefix: team-a, endpoint: https://minio.example.com, encrypt: true, access_key: a, secret_key: b }
sso:
  company: { provider_url: https://idp.example.com, client_id: tool }
base_url: https://hub.example.com
docker: { images: { postgres: 'postgres:17' } }
`);

const QUERY = "UPDATE users SET email = '';\n";

const CHANGES: { title: string; change: (text: string) => string; shown: string }[] = [
  {
    title: 'another database of the same server as destination',
    change: (text) => text.replace('5432/shop_dev', '5432/crm'),
    shown: 'Replaces postgres://dev@db.example.com:5432/crm',
  },
  {
    title: 'source and destination exchanged',
    change: (text) =>
      text
        .replace('reader@db.example.com:5432/shop\n', 'X')
        .replace('dev@db.example.com:5432/shop_dev\n', 'reader@db.example.com:5432/shop\n')
        .replace('X', 'dev@db.example.com:5432/shop_dev\n'),
    shown: 'Replaces postgres://reader@db.example.com:5432/shop',
  },
  {
    title: 'another role',
    change: (text) => text.replace('dev@db.example.com', 'postgres@db.example.com'),
    shown: 'Replaces postgres://postgres@db.example.com:5432/shop_dev',
  },
  {
    title: 'allow_destination_of',
    change: (text) => text.replace('    name: App', '    allow_destination_of: [stats]\n    name: App'),
    shown: 'Allows loads of stats over the source of app',
  },
  {
    title: 'a bucket without encryption',
    change: (text) => text.replace('encrypt: true', 'encrypt: false'),
    shown: 'snapshots/team-a (minio, https://minio.example.com), in clear',
  },
  {
    title: 'another bucket',
    change: (text) => text.replace('bucket: snapshots', 'bucket: others'),
    shown: 'others/team-a (minio, https://minio.example.com), encrypted',
  },
  {
    title: 'another prefix',
    change: (text) => text.replace('prefix: team-a', 'prefix: public'),
    shown: 'snapshots/public (minio',
  },
  {
    title: 'another endpoint',
    change: (text) => text.replace('https://minio.example', 'https://evil.example'),
    shown: 'https://evil.example.com',
  },
  {
    title: 'a destination for all targets',
    change: (text) => `${text}override: { dst_db_url: postgres://dev@db.example.com/crm }\n`,
    shown: 'Replaces postgres://dev@db.example.com/crm',
  },
  {
    title: 'a query for all targets',
    change: (text) => `${text}override: { san_query: SELECT 1 }\n`,
    shown: 'SELECT 1',
  },
  {
    title: 'a variable in a password',
    change: (text) =>
      text.replace('reader@db.example.com:5432/shop', 'reader:{{`HOME` | env}}@db.example.com:5432/shop'),
    shown: 'HOME',
  },
  {
    title: 'another image',
    change: (text) => text.replace('postgres:17', 'postgres:18'),
    shown: 'postgres:18',
  },
  {
    title: 'the client program of the server',
    change: (text) => text.replace('    name: App', '    program: true\n    name: App'),
    shown: 'mysqldump',
  },
  {
    title: 'another identity provider',
    change: (text) => text.replace('https://idp', 'https://evil'),
    shown: 'https://evil.example.com',
  },
  {
    title: 'another hub',
    change: (text) => text.replace('https://hub', 'https://evil'),
    shown: 'https://evil.example.com',
  },
  {
    title: 'a key without an effect of its own',
    change: (text) => text.replace('    name: App', '    cpus: 7\n    name: App'),
    shown: 'targets.app.cpus = 7',
  },
  {
    title: 'a key that the schema does not know',
    change: (text) => `${text}exec: rm\n`,
    shown: 'Sets exec',
  },
];

describe('a trusted tool.yml of the current folder', () => {
  test.each(CHANGES)('prompts again for $title, and shows only that', async ({ change, shown }) => {
    const folder = await trustedFolder();
    await folder.write('tool.yml', change(BASE));
    expect(change(BASE)).not.toBe(BASE);
    const { exit, stderr } = await tool(folder, ['targets', '--no-check']);
    expect(stderr.replaceAll(/ +/g, ' ')).toContain(shown);
    expect(exit).toBe(5);
    expect(stderr).not.toContain('stats_dev');
  });

  test('prompts again when the content of a query file has changed', async () => {
    const folder = await trustedFolder();
    await folder.write('sanitize.sql', 'DROP TABLE users;\n');
    const { exit, stderr } = await tool(folder, ['targets', '--no-check']);
    expect(exit).toBe(5);
    expect(stderr).toContain('sanitize.sql');
  });

  test('prompts again when the content of a query file with an encrypted name has changed', async () => {
    const sealed = encrypt('./sanitize.sql', SECRET_KEY);
    const folder = await trustedFolder(BASE.replace('query_file: ./sanitize.sql', `query_file: ${sealed}`));
    await folder.write('sanitize.sql', 'DROP TABLE users;\n');
    const { exit, stderr } = await tool(folder, ['targets', '--no-check']);
    expect(exit).toBe(5);
    expect(stderr).toContain('sanitize.sql');
  });

  test('keeps its answer when the program writes a query file, and loses it when somebody else does', async () => {
    const folder = await trustedFolder();
    const environment = { HOME: `${folder.path}/home` };
    await saveTrust({ file: `${folder.path}/tool.yml`, environment }, () =>
      folder.write('sanitize.sql', 'UPDATE users SET name = NULL;\n'),
    );
    expect(await tool(folder, ['targets', '--no-check'])).toMatchObject({ exit: 0 });
    await folder.write('sanitize.sql', 'DROP TABLE users;\n');
    expect(await tool(folder, ['targets', '--no-check'])).toMatchObject({ exit: 5 });
    await saveTrust({ file: `${folder.path}/tool.yml`, environment }, () =>
      folder.write('sanitize.sql', 'SELECT 1;\n'),
    );
    expect(await tool(folder, ['targets', '--no-check'])).toMatchObject({ exit: 5 });
  });

  test('does not prompt for a comment, another order, a title, the theme or keys', async () => {
    const folder = await trustedFolder();
    const text = BASE.replace('name: Application', 'name: Shop').replace('base_url: https://hub.example.com\n', '');
    const more =
      '# a comment\ntheme: dark\nnotify: false\nkeys: { build: w, write: b }\nbase_url: https://hub.example.com\n';
    await folder.write('tool.yml', `${text}${more}`);
    expect(await tool(folder, ['targets', '--no-check'])).toMatchObject({ exit: 0 });
  });

  test('shows what the last answer allowed and the file no longer does', async () => {
    const folder = await trustedFolder();
    await folder.write('tool.yml', BASE.replace('    sanitize:\n      query_file: ./sanitize.sql\n', ''));
    const { exit, stderr } = await tool(folder, ['targets', '--no-check']);
    expect(exit).toBe(5);
    expect(stderr).toMatch(/No longer +runs sql file .*sanitize\.sql/);
  });

  test('keeps no secret in the record of answers', async () => {
    const text = BASE.replace(
      'reader@db.example.com:5432/shop\n',
      'reader:hunter22@db.example.com:5432/shop?sslpassword=hunter33\n',
    );
    const [sealed, sealedUrl] = ['hunter66', 'postgres://hunter77@sealed.example.com/x'].map((value) =>
      encrypt(value, SECRET_KEY),
    );
    const folder = await trustedFolder(
      text
        .replace('access_key: a, secret_key: b', 'access_key: hunter44, secret_key: hunter55')
        .replace(
          'src_url: postgres://reader@db.example.com:5432/stats',
          `role: ${sealed}\n      src_url: ${sealedUrl}`,
        ),
    );
    const { readFile } = await import('node:fs/promises');
    const answers = await readFile(`${folder.path}/home/.config/tool/trusted.json`, 'utf8');
    expect(answers).toContain('db.example.com');
    expect(answers).not.toMatch(/hunter|sealed\.example|0123456789abcdef0123456789abcdef/);
  });
});

test('a query file that changes after the question is refused, unless the program or an answer trusts it again', async () => {
  const folder = await trustedFolder();
  const environment = { PATH: process.env.PATH, HOME: `${folder.path}/home` };
  const configuration = await folder.load({ environment: { ...environment, TOOL_TRUST: '' } });
  const choose = () => chooseQuery({ configuration, environment }, 'app');
  expect((await choose())?.text).toBe(QUERY);
  await folder.write('sanitize.sql', 'DROP TABLE users;\n');
  await expect(choose()).rejects.toMatchObject({ code: 'configuration_untrusted', exit: 5 });
  await folder.write('sanitize.sql', QUERY);
  const file = `${folder.path}/tool.yml`;
  await saveTrust({ file, environment }, () => folder.write('sanitize.sql', "UPDATE users SET email = 'x';\n"));
  expect((await choose())?.text).toContain("'x'");
});

async function trustedFolder(text = BASE): Promise<ConfigFolder> {
  const folder = await configFolder({ 'tool.yml': text, 'sanitize.sql': QUERY });
  expect(await tool(folder, ['targets', '--no-check', '--trust'])).toMatchObject({ exit: 0 });
  expect(await tool(folder, ['targets', '--no-check'])).toMatchObject({ exit: 0 });
  return folder;
}

/** With an answer there is a terminal. */
function tool({ path }: ConfigFolder, words: string[], answer?: string) {
  const environment = { PATH: process.env.PATH, HOME: `${path}/home` };
  const stdin = new PassThrough();
  if (answer !== undefined) stdin.end(answer);
  const terminal = answer === undefined ? PIPED : ATTENDED;
  return runWith(words, COMMANDS, { cwd: path, environment, openContext: createContext, stdin, terminal });
}

describe('tool trust', () => {
  test('shows the effects of ./tool.yml, prompts, and trusts it', async () => {
    const folder = await configFolder({ 'tool.yml': BASE, 'sanitize.sql': QUERY });
    const refused = await tool(folder, ['trust']);
    expect(refused).toMatchObject({ exit: 5, stdout: '' });
    expect(refused.stderr).toContain('postgres://dev@db.example.com:5432/shop_dev (app)');
    expect(refused.stderr).toContain('If you trust it, run: tool trust --trust');
    expect(refused.stderr).not.toContain('--yes');
    const confirmed = await tool(folder, ['trust', '--yes']);
    expect(confirmed).toMatchObject({ exit: 5, stdout: '' });
    expect(confirmed.stderr).toMatch(/--yes, TOOL_NO_CONFIRM and CI confirm what .+ run: tool trust --trust/);
    expect((await tool(folder, ['targets', '--yes'])).stderr).toMatch(/--yes, .+ run: tool trust \(or add --trust/);
    const asked = await tool(folder, ['trust'], 'y\n');
    expect(asked.exit).toBe(0);
    expect(asked.stderr).toContain('Trust this configuration? [y/N]');
    expect(asked.stdout).toContain(`This configuration is trusted: ${folder.path}/tool.yml`);
    expect(await tool(folder, ['targets', '--no-check'])).toMatchObject({ exit: 0 });
    await folder.write('tool.yml', BASE.replace('shop_dev', 'crm'));
    const again = await tool(folder, ['trust'], 'n\n');
    expect(again.exit).toBe(5);
    expect(again.stderr).toContain('has changed since you trusted it');
    expect(again.stderr).toMatch(/Replaces +postgres:\/\/dev@db\.example\.com:5432\/crm \(app\)/);
    expect(again.stderr).toMatch(/No longer +replaces postgres:\/\/dev@db\.example\.com:5432\/shop_dev/);
    const { stdout } = await tool(folder, ['trust', '--trust', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      file: `${folder.path}/tool.yml`,
      digest: expect.stringMatching(/^\w{64}$/),
    });
    expect(JSON.parse(stdout).effects).toContainEqual({
      effect: 'stores',
      object: 'team: snapshots/team-a (minio, https://minio.example.com)',
      detail: 'encrypted',
    });
  });

  test('fails with exit code 3 without a tool.yml', async () => {
    const { exit, stderr } = await tool(await configFolder({}), ['trust']);
    expect(exit).toBe(3);
    expect(stderr).toContain('There is no tool.yml in');
  });
});
