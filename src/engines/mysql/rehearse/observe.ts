import { UserError } from '../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import type { RehearsalObserver } from '../../facets/rehearse.ts';

/** Refuses: only the protocol of PostgreSQL is observed. */
export async function observe({ display }: DatabaseUrl): Promise<RehearsalObserver> {
  throw new UserError('rehearsal_unsupported', `A migration of ${display} cannot be rehearsed: only PostgreSQL can`, {
    hint: 'Create a branch and run the migration there: tool branch create TARGET NAME --env',
  });
}
