import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PROGRAM } from '../../helpers/program.ts';
import { configFolder } from '../../helpers/terminal/config-folder.ts';

const run = promisify(execFile);

const missing = ['dbus-run-session', 'gnome-keyring-daemon'].filter(
  (program) => !existsSync(join('/usr/bin', program)),
);
const lacking = missing.length > 0 ? ` (needs ${missing.join(' and ')})` : '';

const FILE = '.config/tool/tool.yml';

/** A shell in a D-Bus session of its own, with an unlocked keychain when there is to be one. */
async function inSession(
  home: string,
  script: string,
  { keychain = true } = {},
): Promise<{ stdout: string; stderr: string }> {
  const unlock = 'printf pass | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1; ';
  const env = {
    PATH: process.env.PATH,
    TOOL_TRUST: 'true',
    HOME: home,
    XDG_RUNTIME_DIR: home,
    XDG_DATA_HOME: join(home, 'data'),
  };
  const tool = `tool() { ${process.execPath} ${PROGRAM} "$@"; }; `;
  return run('dbus-run-session', ['--', 'bash', '-c', `${keychain ? unlock : ''}${tool}cd ${home}; ${script}`], {
    env,
  });
}

describe.skipIf(lacking)(`the secret_key in the system's keychain${lacking}`, () => {
  it('is stored there by init, and decrypts values', async () => {
    const { path } = await configFolder({});
    const { stdout } = await inSession(
      path,
      `tool config init --keychain && sed -i '$a authtoken: sesame' ${FILE} && tool config encrypt && cat ${FILE} &&
       echo "= $(tool config decrypt authtoken)" && tool config show | grep secret_key &&
       ln -s ${FILE} link.yml && echo "by a link $(tool --config link.yml config decrypt authtoken)"`,
    );
    expect(stdout).toContain('by a link sesame');
    expect(stdout).toContain("# The system's keychain holds it");
    expect(stdout).toContain('The secret_key is stored in the system keychain');
    expect(stdout).toMatch(/^secret_key: "?keychain"?$/m);
    expect(stdout).toMatch(/^authtoken: \$aes\$[0-9a-f]+$/m);
    expect(stdout).toContain('= sesame');
    expect(stdout).toMatch(/^secret_key +\*\*\*/m);
  }, 60_000);

  it('stays where it is for a file that init --force replaces', async () => {
    const { path } = await configFolder({});
    const { stdout } = await inSession(
      path,
      `tool config init --keychain && sed -i '$a authtoken: sesame' ${FILE} && tool config encrypt &&
       tool config init --keychain --force && tool --config ${FILE}.replaced config decrypt authtoken &&
       sed -i '$a authtoken: poppy' ${FILE} && tool config encrypt &&
       tool config init --force && tool --config ${FILE}.replaced config decrypt authtoken`,
    );
    expect(stdout.match(/^(sesame|poppy)$/gm)).toEqual(['sesame', 'poppy']);
  }, 60_000);
});

describe.skipIf(lacking)(`a keychain that is there and keeps nothing${lacking}`, () => {
  it('is not used: init warns, and the key is in the file', async () => {
    const { path } = await configFolder({});
    const { stdout, stderr } = await inSession(path, `tool config init --keychain --json; cat ${FILE}`, {
      keychain: false,
    });
    expect(stderr).toContain('warning: The keychain cannot store the key: ');
    expect(stdout).toContain('"secret_key_in":"file"');
    expect(stdout).toMatch(/^secret_key: "[0-9a-f]{32}"$/m);
  }, 60_000);
});

it('init warns without a keychain, and writes the key to the file, readable by its owner only', async () => {
  const { path } = await configFolder({});
  const { stderr } = await run(process.execPath, [PROGRAM, 'config', 'init', '--keychain', '--no-tui'], {
    env: { PATH: process.env.PATH, TOOL_TRUST: 'true', HOME: path },
    cwd: path,
  });
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringMatching(
      /^warning: The keychain cannot store the key: .+ The secret_key is in the file, which only you can read$/,
    ),
  ]);
  expect(await readFile(join(path, FILE), 'utf8')).toMatch(/^secret_key: "[0-9a-f]{32}"$/m);
});

it('a configuration with a missing keychain is refused with a hint', async () => {
  const { path } = await configFolder({ 'tool.yml': 'secret_key: keychain\n' });
  const env = { PATH: process.env.PATH, TOOL_TRUST: 'true', HOME: path };
  await expect(run(process.execPath, [PROGRAM, 'targets'], { env, cwd: path })).rejects.toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/cannot read secret_key from the keychain: .*TOOL_SECRET_KEY/s),
  });
  await expect(run(process.execPath, [PROGRAM, 'targets', '--json'], { env, cwd: path })).rejects.toMatchObject({
    stdout: expect.stringContaining('"code":"keychain_unavailable"'),
  });
  const { stdout } = await run(process.execPath, [PROGRAM, 'targets'], {
    env: { ...env, TOOL_SECRET_KEY: 'ab'.repeat(16) },
    cwd: path,
  });
  expect(stdout).toContain('Local mode');
});
