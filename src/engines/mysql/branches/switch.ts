import { EXIT, UserError } from '../../../runtime/errors.ts';
import type { BranchRequest, EngineContext, Switched } from '../../engine.ts';

/** Triggers, views and routines do not follow tables into another database, and the branch that leaves needs them too. */
export async function switchTo(_context: EngineContext, { url, name }: BranchRequest): Promise<Switched> {
  throw new UserError(`${url.display} cannot be switched to branch "${name}" on MySQL and MariaDB`, {
    code: 'branches_unsupported',
    exit: EXIT.failed,
    hint: 'Use the URL of the branch instead: tool branch create TARGET NAME --reuse --env',
  });
}
