import type { Context } from '../context.ts';
import type { TargetRow } from './results.ts';

/** All targets as the configuration and the disk know them: no network, status `unchecked`. */
export async function listTargets(_context: Context): Promise<TargetRow[]> {
  throw new Error('stub');
}

/** One target with its source's live state: status, latency, version, size; bounded in time (default 5 s). */
export async function checkTarget(_context: Context, _target: string): Promise<TargetRow> {
  throw new Error('stub');
}
