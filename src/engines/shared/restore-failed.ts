import { EXIT, UserError } from '../../runtime/errors.ts';

/** The destination is unchanged. `next`: advice. */
export function restoreFailed(message: string, details: string[], next = ''): UserError {
  return new UserError(message, {
    code: 'restore_failed',
    exit: EXIT.failed,
    details,
    hint: `The destination is as it was before.${next === '' ? '' : ` ${next}`}`,
  });
}
