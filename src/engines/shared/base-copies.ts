import { UserError } from '../../runtime/errors.ts';
import type { DatabaseUrl } from '../database-url.ts';
import type { BaseCopies, BaseCopy } from '../facets/copies.ts';

/** The base copy that a reset is made from; rejects where there is none of the present destination. */
export function usableBase({ base }: Pick<BaseCopies, 'base'>, url: DatabaseUrl): BaseCopy {
  if (base === null) {
    throw new UserError('no_base_copy', `There is no base copy of ${url.display} to reset it to`, { hint: KEEP_BASE });
  }
  if (base.outdated === null) return base;
  throw new UserError(
    'base_copy_outdated',
    `${base.name} is not a base copy of the present ${url.display}: ${base.outdated}`,
    {
      details: [
        `${base.name}: snapshot ${base.snapshot ?? 'unknown'}, loaded ${base.loadedAt || 'at an unknown time'}`,
      ],
      hint: KEEP_BASE,
    },
  );
}

/** The spare as a copy of the usable base copy; `null` without one. */
export function usableSpare({ spare }: Pick<BaseCopies, 'spare'>): BaseCopy | null {
  return spare?.outdated === null ? spare : null;
}

/** The base copy that branches are made from, of whichever load; rejects where there is none, or it may have been changed. */
export function closedBase({ base }: Pick<BaseCopies, 'base'>, url: DatabaseUrl): BaseCopy {
  if (base?.closed) return base;
  throw new UserError(
    base === null ? 'no_base_copy' : 'base_copy_outdated',
    base === null
      ? `There is no base copy of ${url.display} to make branches from`
      : `${base.name} was changed or opened to connections since the load that made it`,
    { details: base?.outdated ? [`${base.name}: ${base.outdated}`] : [], hint: KEEP_BASE },
  );
}

const KEEP_BASE = 'Load a snapshot with --keep-base, or set keep_base: true at the target.';
