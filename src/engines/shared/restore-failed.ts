import { EXIT, UserError } from '../../runtime/errors.ts';

export function restoreFailed(message: string, details: string[], next = ''): UserError {
  return new UserError(message, {
    code: 'restore_failed',
    exit: EXIT.failed,
    details,
    hint: `The destination is unchanged.${next === '' ? '' : ` ${next}`}`,
  });
}
