import { EXIT, UserError } from '../runtime/errors.ts';

export function wrongUsage(message: string, { code = 'usage', hint }: { code?: string; hint: string }): UserError {
  return new UserError(message, { code, exit: EXIT.usage, hint });
}
