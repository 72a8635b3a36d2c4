import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../helpers/postgres/postgres-server.ts';
import { PROGRAM } from '../helpers/program.ts';
import { SECRET_KEY } from '../helpers/terminal/config-folder.ts';
import { openTerminal } from './terminal.ts';

it('the screens ask before a tool.yml of the current folder is used, remember it, and name the file', async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  await mkdir(join(folder.path, 'home'));
  const text = `secret_key: "${SECRET_KEY}"\ntargets:\n  app:\n    snapshot:\n      src_url: "postgres://{{env \\"PW\\"}}@127.0.0.1:1/app"\n`;
  await writeFile(join(folder.path, 'tool.yml'), text, { mode: 0o600 });
  const open = () => {
    const terminal = openTerminal({
      command: [process.execPath, PROGRAM],
      cwd: folder.path,
      environment: { HOME: join(folder.path, 'home'), TOOL_TRUST: '', PW: 'secret', TERM: 'xterm-256color' },
    });
    onTestFinished(() => terminal.close());
    return terminal;
  };
  const first = open();
  await first.waitFor('You have not trusted this configuration yet');
  expect(first.screen()).toMatch(/Reads +postgres:\/\/\$PW@127\.0\.0\.1:1\/app \(app\)/);
  expect(first.screen()).toMatch(/Reads variables +PW/);
  first.press('esc');
  await first.waitFor('is not trusted');
  first.press('r');
  await first.waitFor('You have not trusted this configuration yet');
  first.press('T');
  await first.waitFor(/❯ app/);
  expect(first.screen()).toContain('./tool.yml');
  first.press('q');
  expect((await first.exited()).exitCode).toBe(0);

  const second = open();
  await second.waitFor(/\.\/tool\.yml/);
  await second.waitFor(/❯ app/);
  expect(second.screen()).not.toContain('not trusted');
});
