import { appendFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { redact } from '../process/redact.ts';
import { UserError } from '../runtime/errors.ts';
import { printableLines } from '../text/printable.ts';

export interface Crash {
  error: unknown;
  /** Path of the crash log. */
  file: string;
  at: Date;
}

/** Writes an unexpected error to a file, without secrets, and returns the error that names the file. */
export async function recordCrash({ error, file, at }: Crash): Promise<UserError> {
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  const written = await writeCrash(file, printableLines(redact(`${at.toISOString()} ${stack}\n`))).catch(() => false);
  return new UserError('screens_crashed', `The screens have crashed: ${redact(message)}`, {
    hint: written ? `Details are in ${file}` : '--debug shows the details.',
    cause: error,
  });
}

async function writeCrash(file: string, text: string): Promise<true> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await appendFile(file, text, { mode: 0o600 });
  return true;
}
