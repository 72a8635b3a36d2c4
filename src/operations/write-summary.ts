import { randomBytes } from 'node:crypto';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { redactOwn } from '../process/redact.ts';
import { EXIT, UserError } from '../runtime/errors.ts';

/** The file, links followed; refuses one that cannot be written before the work that it is about. */
export async function checkSummaryFile(given: string): Promise<string> {
  const path = await realpath(given).catch(() => given);
  const unfinished = unfinishedOf(path);
  try {
    if ((await stat(path).catch(() => null))?.isFile() === false) throw new Error('it is no file');
    await (await open(unfinished, 'wx', 0o600)).close();
    return path;
  } catch (error) {
    throw notWritten(path, error, EXIT.usage);
  } finally {
    await rm(unfinished, { force: true }).catch(() => {});
  }
}

/** Writes the whole file, or leaves the former one. */
export async function writeSummary(path: string, text: string): Promise<void> {
  const unfinished = unfinishedOf(path);
  try {
    const handle = await open(unfinished, 'wx', 0o644);
    try {
      await handle.writeFile(redactOwn(text));
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {});
    throw notWritten(path, error, EXIT.failed);
  }
}

function unfinishedOf(path: string): string {
  return `${path}.tool-${randomBytes(4).toString('hex')}`;
}

function notWritten(path: string, cause: unknown, exit: typeof EXIT.usage | typeof EXIT.failed): UserError {
  // Without the call and the path that Node adds.
  const reason = (cause as Error).message.replace(/, \w+( '.*')?$/, '');
  const isBefore = exit === EXIT.usage;
  return new UserError('summary_not_written', `Cannot write the summary ${path}: ${reason}`, {
    exit,
    hint: isBefore
      ? `Choose a file in a folder that can be written: ${dirname(path)}`
      : 'The work itself is done. tool target TARGET lists the snapshot.',
    cause,
  });
}
