import type { Context } from '../context.ts';
import type { LoadResult, UndoPlan } from './results.ts';

/** What `undo` would put back. Throws when nothing is kept. */
export async function planUndo(_context: Context, _request: { target: string; destdb?: string }): Promise<UndoPlan> {
  throw new Error('stub');
}

/** Puts the database that the last load replaced back; the one that it replaces takes its place for the next undo. */
export async function undo(_context: Context, _plan: UndoPlan): Promise<LoadResult> {
  throw new Error('stub');
}
