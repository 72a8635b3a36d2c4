import { EXIT, UserError } from '../../runtime/errors.ts';

/** A restore that a tool or the server has refused: nothing of it is seen at the destination. `next`: what to do then. */
export function restoreFailed(message: string, details: string[], next = ''): UserError {
  return new UserError(message, {
    code: 'restore_failed',
    exit: EXIT.failed,
    details,
    hint: `The destination is as it was before.${next === '' ? '' : ` ${next}`}`,
  });
}
