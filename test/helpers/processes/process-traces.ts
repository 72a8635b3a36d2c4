import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';

/** Environments are for the eyes of their owner; core files are called by the name. */
export const SHOWN = ['cmdline', 'environ', 'comm'];

/** What the system shows of a process and its children, looked at again and again until it ends. */
export async function processTraces(pid: number | undefined, kinds: string[] = SHOWN): Promise<string[]> {
  const seen = new Set<string>();
  while (await isRunning(pid)) {
    for (const one of await familyOf(String(pid))) {
      for (const what of kinds) seen.add(await shown(`${one}/${what}`));
    }
    await setImmediate();
  }
  return [...seen];
}

/** One that has ended and was not asked about yet shows no command line. */
async function isRunning(pid: number | undefined): Promise<boolean> {
  return (await shown(`${pid}/cmdline`)) !== '';
}

async function familyOf(pid: string): Promise<string[]> {
  const children = (await shown(`${pid}/task/${pid}/children`)).split(' ').filter((child) => child !== '');
  return [pid, ...(await Promise.all(children.map(familyOf))).flat()];
}

function shown(what: string): Promise<string> {
  return readFile(`/proc/${what}`, 'utf8').catch(() => '');
}
