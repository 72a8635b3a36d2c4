import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { redact } from '../../process/redact.ts';
import { EXIT, UserError } from '../../runtime/errors.ts';

interface Leaving {
  what: string;
  /** The dump program and its option that write such lines: `pg_dump writes it with --create.` */
  origin: string;
  /** Whether the line leaves the database; called for every line, in order. */
  leaves: (line: string) => boolean;
}

/** Refuses an SQL file that leaves the database that was confirmed. */
export async function refuseLeaving(file: string, { what, origin, leaves }: Leaving): Promise<void> {
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (!leaves(line)) continue;
    throw new UserError(`${file}:${number} ${what}: ${line.trim()}`, {
      code: 'script_refused',
      exit: EXIT.refused,
      hint: `Remove the line: a load runs on the database that was confirmed and on no other. ${origin}`,
    });
  }
}

const MOST_LINES = 20;

export function scriptFailed(file: string, { stderr, hint }: { stderr: string; hint: string }): UserError {
  return new UserError(`${file} failed`, {
    code: 'script_failed',
    exit: EXIT.failed,
    details: redact(stderr).trim().split('\n').slice(0, MOST_LINES),
    hint,
  });
}
