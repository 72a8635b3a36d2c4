import type { ErrorCode } from '../runtime/error-codes.ts';
import { EXIT, UserError } from '../runtime/errors.ts';

export function wrongUsage(message: string, { code = 'usage', hint }: { code?: ErrorCode; hint: string }): UserError {
  return new UserError(code, message, { exit: EXIT.usage, hint });
}
