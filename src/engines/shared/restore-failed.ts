import { UserError } from '../../runtime/errors.ts';
import type { RestoringUser } from '../facets/restore.ts';

export function restoreFailed(message: string, details: string[], next = ''): UserError {
  return new UserError('restore_failed', message, {
    details,
    hint: `The destination is unchanged.${next === '' ? '' : ` ${next}`}`,
  });
}

/** Adds a hint to the error of a restore that a temporary user may have too few rights for. */
export function withRightsHint(error: unknown, { user }: RestoringUser): unknown {
  if (user !== 'temporary' || !(error instanceof UserError && error.code === 'restore_failed')) return error;
  const { code, exit, details } = error;
  const rights =
    'A temporary user without rights outside the shadow database restores the content. If the error is about missing rights and you trust the content, add --allow-superuser.';
  return new UserError(code, error.message, { exit, details, hint: `${error.hint} ${rights}`, cause: error });
}
