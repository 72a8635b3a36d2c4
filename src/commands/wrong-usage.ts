import type { ErrorCode } from '../runtime/error-codes.ts';
import { EXIT, UserError } from '../runtime/errors.ts';

export function wrongUsage(message: string, { code = 'usage', hint }: { code?: ErrorCode; hint: string }): UserError {
  return new UserError(code, message, { exit: EXIT.usage, hint });
}

export function excludeEachOther(one: string, other: string, hint?: string): UserError {
  return new UserError('usage', `${one} and ${other} exclude each other`, {
    exit: EXIT.usage,
    hint: hint ?? 'Leave one of them out.',
  });
}

/** `example`: a line with both. */
export function requiresFlag(flag: string, required: string, example: string): UserError {
  return wrongUsage(`${flag} requires ${required}`, { code: 'flag_needs_flag', hint: example });
}
