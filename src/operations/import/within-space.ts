import { tmpdir } from 'node:os';
import { freeBytesOf } from '../../engines/shared/disk-space.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';

const LEAST_FREE_BYTES = 512 * 1024 * 1024;
const LOOK_EVERY_MS = 1000;

/** Ends the work before the disk of temporary files is full: a small dump may create any number of rows. */
export async function withinSpace<Result>(
  context: Context,
  work: (context: Context) => Promise<Result>,
  leastFreeBytes = LEAST_FREE_BYTES,
): Promise<Result> {
  const stopping = new AbortController();
  const look = async (): Promise<void> => {
    const free = await freeBytesOf(tmpdir());
    if (free !== null && free < leastFreeBytes) stopping.abort(tooLarge());
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  try {
    await look();
    const signal = AbortSignal.any([context.signal, stopping.signal]);
    signal.throwIfAborted();
    return await work({ ...context, signal });
  } catch (error) {
    if (stopping.signal.aborted) throw stopping.signal.reason;
    throw error;
  } finally {
    clearInterval(timer);
  }
}

function tooLarge(): UserError {
  return new UserError('space_short', `The disk of ${tmpdir()} has less than 512 MB free`, {
    hint: 'Nothing was stored. Free space, or set TMPDIR to a folder on a larger disk.',
  });
}
