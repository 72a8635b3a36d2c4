import type { ErrorCode } from '../runtime/error-codes.ts';
import { UserError } from '../runtime/errors.ts';

export function wrongUsage(message: string, { code = 'usage', hint }: { code?: ErrorCode; hint: string }): UserError {
  return new UserError(code, message, { hint });
}

export function excludeEachOther(one: string, other: string, hint?: string): UserError {
  return new UserError('usage', `${one} and ${other} exclude each other`, { hint: hint ?? 'Leave one of them out.' });
}

/** `example`: a line with both. */
export function requiresFlag(flag: string, required: string, example: string): UserError {
  return wrongUsage(`${flag} requires ${required}`, { code: 'flag_needs_flag', hint: example });
}

/** `inPlace` → `--in-place` */
export function flagOf(option: string): string {
  return `--${option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
