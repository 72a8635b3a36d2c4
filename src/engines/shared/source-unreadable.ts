import { redact } from '../../process/redact.ts';
import { UserError } from '../../runtime/errors.ts';
import type { DatabaseUrl } from '../database-url.ts';

export function sourceUnreadable({ display }: DatabaseUrl, { cause, hint }: { cause: Error; hint: string }): UserError {
  return new UserError('source_unreadable', `The source ${display} cannot be read: ${redact(cause.message)}`, {
    hint,
    cause,
  });
}
