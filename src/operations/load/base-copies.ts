import type { Configuration } from '../../config/configuration.ts';
import type { AllCopies, BaseCopies, BaseCopy } from '../../engines/facets/copies.ts';
import type { RestorePlan } from '../../engines/facets/restore.ts';
import type { DatabaseCopies, DatabaseCopy, DestinationCopies } from '../../results/database-copies.ts';
import { UserError } from '../../runtime/errors.ts';
import { findTarget } from '../targets/find-target.ts';

export interface BaseChoice {
  target: string;
  keepBase?: boolean | undefined;
  spare?: boolean | undefined;
}

export interface WantedBase {
  spare: boolean;
  /** Requested on the command line, so that it must be possible. */
  explicit: boolean;
}

/** Returns the wanted base copy of a load by the flag, else the target, else `defaults`; `null` for none. */
export function wantedBase(configuration: Configuration, choice: BaseChoice): WantedBase | null {
  const flag = choice.keepBase ?? (choice.spare || undefined);
  const { keep_base = false } = { ...configuration.settings.defaults, ...keysOf(configuration, choice.target) };
  if (!(flag ?? keep_base)) return null;
  return { spare: keepsSpare(configuration, choice), explicit: flag ?? false };
}

/** Reports whether nothing says that a load keeps no base copy: one that is used for it is kept. */
export function keepsUsedBase(configuration: Configuration, choice: BaseChoice): boolean {
  const { keep_base } = { ...configuration.settings.defaults, ...keysOf(configuration, choice.target) };
  return (choice.keepBase ?? keep_base) === undefined;
}

/** Reports whether a load with a base copy, or a reset, makes a spare. */
export function keepsSpare(configuration: Configuration, { target, spare }: BaseChoice): boolean {
  const { keep_spare = false } = { ...configuration.settings.defaults, ...keysOf(configuration, target) };
  return spare ?? keep_spare;
}

function keysOf(configuration: Configuration, target: string): { keep_base?: boolean; keep_spare?: boolean } {
  const { keep_base, keep_spare } = findTarget(configuration, target).snapshot ?? {};
  return { ...(keep_base !== undefined && { keep_base }), ...(keep_spare !== undefined && { keep_spare }) };
}

/** Why no base copy of the destination may be kept; `null` where one may. The owner is that of a source that is the destination. */
export function whyNoBase(owner: string | undefined): string | null {
  return owner === undefined ? null : `the destination is the source of target "${owner}"`;
}

export function whyNotInPlace({ strategy, strategyReason }: RestorePlan): string | null {
  return strategy === 'in_place' ? `the load is in place: ${strategyReason}` : null;
}

export function baseRefused(target: string, why: string): UserError {
  return new UserError(
    'base_copies_unsupported',
    `No base copy can be kept of the destination of "${target}": ${why}`,
    { hint: `Load without --keep-base: tool load ${target}` },
  );
}

export function baseWarning(why: string): { code: string; message: string } {
  return { code: 'base_copies_unsupported', message: `No base copy is kept although keep_base is set: ${why}` };
}

/** Returns the copies in the form of the JSON output; `null` where there are none. */
export function toDatabaseCopies({ base, spare }: BaseCopies): DatabaseCopies | null {
  return base || spare ? { base: base && toDatabaseCopy(base), spare: spare && toDatabaseCopy(spare) } : null;
}

/** Returns the copies in the form of the JSON output; `null` where there are none. */
export function toDestinationCopies({ branches, ...copies }: AllCopies): DestinationCopies | null {
  const separate = branches.filter(({ current }) => !current);
  const found = toDatabaseCopies(copies);
  if (!found && separate.length === 0) return null;
  const totals = {
    count: separate.length,
    size_bytes: sumOf(separate.map(({ sizeBytes }) => sizeBytes)),
    own_bytes: sumOf(separate.map(({ ownBytes }) => ownBytes)),
  };
  return { base: null, spare: null, ...found, branches: separate.length === 0 ? null : totals };
}

/** The sum; `null` where one is unknown. */
export function sumOf(sizes: (number | null)[]): number | null {
  return sizes.includes(null) ? null : sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0);
}

export function toDatabaseCopy({ name, snapshot, loadedAt, partial, sizeBytes, outdated }: BaseCopy): DatabaseCopy {
  return { database: name, snapshot, loaded_at: loadedAt, partial, size_bytes: sizeBytes, outdated };
}
