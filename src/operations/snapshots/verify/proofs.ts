import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { readProofs } from '../../history/history-file.ts';

/** Times of the last proofs by restore, of this machine and the last one that the hub knows. */
export function proofsOf(context: Context, target: string): Map<string, string> {
  const proofs = ownProofs(context, target);
  const { at = '', snapshot = null } = context.configuration.cloud?.get(target)?.last_restore ?? {};
  if (snapshot !== null && at > (proofs.get(snapshot) ?? '')) proofs.set(snapshot, at);
  return proofs;
}

/** A list does not need a history that can be read. */
function ownProofs(context: Context, target: string): Map<string, string> {
  try {
    return readProofs(context, target);
  } catch (error) {
    if (error instanceof UserError) return new Map();
    throw error;
  }
}
