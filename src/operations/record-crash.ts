import { redact } from '../process/redact.ts';
import { UserError } from '../runtime/errors.ts';
import { openLogFile } from '../runtime/log-file.ts';
import { printableLines } from '../text/printable.ts';

export interface Crash {
  error: unknown;
  /** Path of the crash log. */
  file: string;
  at: Date;
}

/** Writes an unexpected error to a file, without secrets, and returns the error that names the file. */
export function recordCrash({ error, file, at }: Crash): UserError {
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  const written = writeCrash(file, printableLines(redact(`${at.toISOString()} ${stack}`)));
  return new UserError('screens_crashed', `The screens have crashed: ${redact(message)}`, {
    hint: written ? `Details are in ${file}` : '--debug shows the details.',
    cause: error,
  });
}

function writeCrash(file: string, text: string): boolean {
  try {
    openLogFile({ path: file })(text);
    return true;
  } catch {
    return false;
  }
}
