import { chmod, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { build } from '../../.ci/build.mjs';
import { PROGRAM } from '../helpers/program.ts';
import { configFolder, withKey } from '../helpers/terminal/config-folder.ts';
import { openTerminal } from './terminal.ts';

const BROKEN = withKey(`# ours
working_directory: work # here
debug: no # quiet
storage_profiles:
  team: { provider: minio, bucket: b, endpoint: "http://127.0.0.1:1", access_key: a, secret_key: b }
targets:
  app: # the shop
    snapshoot: # misspelt
      src_url: "postgres://app:hunter2@127.0.0.1:1/app"
    storage_profile: teem # which
# the end
`);

beforeAll(() => build());

it('a broken configuration is fixed by keys alone: each fix is shown, applied, and checked again', async () => {
  const folder = await configFolder({ 'tool.yml': BROKEN });
  const file = join(folder.path, 'tool.yml');
  await chmod(file, 0o644);
  const terminal = openTerminal({
    command: [process.execPath, PROGRAM],
    cwd: folder.path,
    environment: { TOOL_TRUST: 'true', HOME: folder.path, XDG_CACHE_HOME: folder.path },
  });
  onTestFinished(() => terminal.close());
  const text = () => readFile(file, 'utf8');
  /** The finding that is selected, what would mend it, and that it is gone after Enter. */
  const mend = async (finding: RegExp, shown: string | RegExp, done: string) => {
    await terminal.waitFor(finding);
    terminal.press('f');
    await terminal.waitFor(shown);
    await terminal.waitFor('Enter apply');
    terminal.press('enter');
    await terminal.waitFor(`Done: ${done}`);
    await terminal.waitFor((screen) => !screen.includes('checking again'));
  };

  await terminal.waitFor('The configuration has 3 problems');
  terminal.press('Y');
  await terminal.waitFor('3 errors');
  await mend(/❯ ✗ +debug/, /\+ debug: false # quiet/, 'Write false for debug');
  await mend(/❯ ✗ +targets\.app\.snapshoot/, /- +snapshoot: .*\n.*\+ +snapshot: /, 'Rename snapshoot to snapshot');
  await mend(/❯ ✗ +targets\.app\.storage_profile/, /\+ +storage_profile: team # which/, 'Write team for');
  await terminal.waitFor('ready');
  expect((await stat(file)).mode & 0o777).toBe(0o644);
  await mend(/❯ ! +configuration +the file contains secrets/, `chmod 600 ${file}`, 'Restrict the file to its owner');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  // Credentials in the file are advice, and nobody knows where they belong.
  await terminal.waitFor(/❯ ! +storage_profiles\.team\.access_key/);
  terminal.press('f');
  await terminal.waitFor('No automatic fix');
  terminal.press('down');
  await mend(/❯ – +secrets +3 secrets in plain text/, /\+ .*\*\*\*/, 'Encrypt them in place');
  await mend(/❯ – +working directory +does not exist yet/, `mkdir -p ${folder.path}/work`, 'Create the folder');
  expect((await stat(join(folder.path, 'work'))).isDirectory()).toBe(true);

  const mended = await text();
  expect(mended).not.toMatch(/hunter2|secret_key: b /);
  expect(mended.replaceAll(/\$aes\$[0-9a-f]+/g, '…')).toBe(
    BROKEN.replace('debug: no', 'debug: false')
      .replace('snapshoot', 'snapshot')
      .replace('teem', 'team')
      .replace('app:hunter2', 'app:…')
      .replace('access_key: a, secret_key: b', 'access_key: …, secret_key: …'),
  );
  terminal.press('esc');
  await terminal.waitFor('unreachable');
  terminal.press('q');
  expect(await terminal.exited()).toMatchObject({ exitCode: 0 });
});
