import { redact } from '../../process/redact.ts';
import { UserError } from '../../runtime/errors.ts';
import type { DatabaseUrl } from '../database-url.ts';

export function sourceUnreadable({ display }: DatabaseUrl, { cause, hint }: { cause: Error; hint: string }): UserError {
  return new UserError('source_unreadable', `The source ${display} cannot be read: ${redact(cause.message)}`, {
    hint,
    cause,
  });
}

export function dumpCutShort(table: string): UserError {
  return new UserError('dump_failed', `The dump of ${table} is cut short`, {
    hint: 'Is the disk full? Nothing was stored.',
  });
}
