import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { eventually, temporaryFolder } from '../helpers/postgres/postgres-server.ts';

const MODULE = new URL('../../.ci/without-services.mjs', import.meta.url).pathname;

let folder: string;
let policy: string;

beforeEach(async () => {
  const made = await temporaryFolder();
  onTestFinished(() => made[Symbol.asyncDispose]());
  folder = made.path;
  policy = join(folder, 'policy-rc.d');
});

/** A process that installs for as long as a file is there. */
async function installing(): Promise<{ child: ChildProcess; end: () => Promise<void> }> {
  const goOn = join(folder, 'go-on');
  await writeFile(goOn, '');
  const command = ['sh', '-c', `while [ -e '${goOn}' ]; do sleep 0.05; done; touch '${folder}/installed'`];
  const program = `
    import { runWithoutServices } from ${JSON.stringify(MODULE)};
    runWithoutServices(${JSON.stringify(command)}, { policy: ${JSON.stringify(policy)} });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' });
  await eventually(async () => existsSync(policy) && (await asked()) === 101);
  return { child, end: () => rm(goOn) };
}

async function asked(): Promise<number | null> {
  const child = spawn('sh', [policy], { stdio: 'ignore' });
  return (await once(child, 'close'))[0];
}

test.each(['SIGTERM', 'SIGINT', 'SIGKILL'] as const)(
  'an installation whose npm script is killed by %s leaves no policy-rc.d behind',
  async (signal) => {
    const { child, end } = await installing();
    child.kill(signal);
    await once(child, 'close');
    await end();
    await eventually(async () => !existsSync(policy));
    expect(existsSync(join(folder, 'installed'))).toBe(true);
  },
);

test('a policy-rc.d whose owner was killed as well allows services again, and goes', async () => {
  const { child, end } = await installing();
  const [, owner] = /of the process (\d+)/.exec(await readFile(policy, 'utf8')) ?? [];
  process.kill(Number(owner), 'SIGKILL');
  await end();
  if (child.exitCode === null) await once(child, 'close');
  expect(await asked()).toBe(0);
  expect(existsSync(policy)).toBe(false);
});

test('a foreign policy-rc.d is not changed', async () => {
  const { runWithoutServices } = await import(MODULE);
  await writeFile(policy, '#!/bin/sh\nexit 104\n', { mode: 0o755 });
  expect(runWithoutServices(['true'], { policy }).status).toBe(0);
  expect(await readFile(policy, 'utf8')).toContain('exit 104');
});
