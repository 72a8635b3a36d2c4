import { rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { redactOwn } from '../process/redact.ts';
import { resolveInFolder } from '../runtime/contains-path.ts';
import { EXIT, UserError } from '../runtime/errors.ts';
import { ignoreMissing, ownershipOf, replaceFile, writeTemporary } from '../runtime/write-file.ts';

const NEW_MODE = 0o666;

/** Returns the file, links inside its folder followed; refuses one that cannot be written before the work that it is about. */
export async function checkSummaryFile(given: string): Promise<string> {
  try {
    const path = (await resolveInFolder(given).catch(ignoreMissing)) ?? given;
    if ((await stat(path).catch(() => null))?.isFile() === false) throw new Error('it is no file');
    await rm(await writeTemporary(path, '', { mode: NEW_MODE }));
    return path;
  } catch (error) {
    throw notWritten(given, error, EXIT.usage);
  }
}

/** Writes the whole file, or leaves the former one. */
export async function writeSummary(path: string, text: string): Promise<void> {
  try {
    await replaceFile(path, redactOwn(text), await ownershipOf(path, NEW_MODE));
  } catch (error) {
    throw notWritten(path, error, EXIT.failed);
  }
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
