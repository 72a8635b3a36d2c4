import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { eventually } from '../postgres/postgres-server.ts';
import { processesNaming } from './processes.ts';

/** Kills a script while a program with these words works in its temporary folder; resolves when nothing is left. */
export async function killWhileRunning(
  script: string,
  { folder, words }: { folder: string; words: string },
): Promise<void> {
  const child = spawn(process.execPath, [script], {
    stdio: 'ignore',
    env: { ...process.env, TMPDIR: folder },
  });
  const running = async () => (await processesNaming(`${folder}/`)).filter((one) => one.words.includes(words));
  await eventually(async () => (await running()).length > 0 && (await readdir(folder)).length > 0);
  child.kill('SIGKILL');
  await eventually(async () => (await readdir(folder)).length === 0);
  await eventually(async () => (await processesNaming(`${folder}/`)).length === 0);
}
