import { EXIT, UserError } from '../errors.ts';
import type { EngineId } from '../results.ts';
import { sanitizer as postgres } from './postgres/sanitizer.ts';
import type { Sanitizer } from './sanitizer.ts';

const SANITIZERS: Partial<Record<EngineId, Sanitizer>> = { postgres };

/** What an engine needs to sanitize; an error where it cannot. */
export function sanitizerOf(engine: EngineId): Sanitizer {
  const sanitizer = SANITIZERS[engine];
  if (sanitizer) return sanitizer;
  throw new UserError(`Snapshots of ${engine} cannot be sanitized`, {
    code: 'engine_cannot_sanitize',
    exit: EXIT.failed,
    hint: `Engines that can: ${Object.keys(SANITIZERS).join(', ')}.`,
  });
}
