import type { Configuration } from '../../../config/configuration.ts';
import type { RestorePlan } from '../../../engines/facets/restore.ts';
import type { LoadPlan } from '../../../results/load-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { shell } from '../../../text/shell-word.ts';
import { findTarget } from '../../targets/find-target.ts';
import type { LoadRequest } from '../planned-load.ts';

interface ChosenBase {
  keepBase: LoadPlan['keep_base'];
  /** Requested on the command line, so that it must be possible. */
  explicit: boolean;
  /** The base copy that a load is made from is replaced by one of the new state. */
  keepUsed: boolean;
  /** Reason for which no base copy is kept although one is configured. */
  why: string | null;
}

/** Chooses the base copy that a load keeps. Throws where one was asked for and cannot be kept. */
export function chooseBase(
  { configuration }: Context,
  request: LoadRequest,
  allowedBy: string | undefined,
): ChosenBase {
  const { onlyBase = false, save } = request;
  const only = request.only || save !== undefined;
  const wanted = onlyBase || only ? null : wantedBase(configuration, request);
  const whyNot = whyNoBase(allowedBy);
  const why = wanted && whyNot;
  if (wanted?.explicit && why) throw baseRefused(request.target, why);
  const keepBase = wanted && !why ? { spare: wanted.spare } : undefined;
  const keepUsed = !onlyBase && !only && whyNot === null && keepsUsedBase(configuration, request);
  return { keepBase, keepUsed, explicit: onlyBase || (wanted?.explicit ?? false), why };
}

/** Returns the choice within a plan: a load in place keeps no base copy. */
export function baseWithin(
  restore: RestorePlan,
  { target, onlyBase = false }: LoadRequest,
  { keepBase, explicit, why }: ChosenBase,
): Pick<ChosenBase, 'keepBase' | 'why'> {
  if (restore.keepsUsedBase) return { keepBase: { spare: false }, why };
  const inPlace = keepBase || onlyBase ? whyNotInPlace(restore) : null;
  if (explicit && inPlace !== null) throw baseRefused(target, inPlace);
  return { keepBase: inPlace === null ? keepBase : undefined, why: why ?? inPlace };
}

interface BaseChoice {
  target: string;
  keepBase?: boolean | undefined;
  spare?: boolean | undefined;
}

interface WantedBase {
  spare: boolean;
  /** Requested on the command line, so that it must be possible. */
  explicit: boolean;
}

/** Returns the wanted base copy of a load by the flag, else the target, else `defaults`; `null` for none. */
function wantedBase(configuration: Configuration, choice: BaseChoice): WantedBase | null {
  const flag = choice.keepBase ?? (choice.spare || undefined);
  const { keep_base = false } = { ...configuration.settings.defaults, ...keysOf(configuration, choice.target) };
  if (!(flag ?? keep_base)) return null;
  return { spare: keepsSpare(configuration, choice), explicit: flag ?? false };
}

/** Reports whether nothing says that a load keeps no base copy: one that is used for it is kept. */
function keepsUsedBase(configuration: Configuration, choice: BaseChoice): boolean {
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

function whyNotInPlace({ strategy, strategyReason }: RestorePlan): string | null {
  return strategy === 'in_place' ? `the load is in place: ${strategyReason}` : null;
}

function baseRefused(target: string, why: string): UserError {
  return new UserError(
    'base_copies_unsupported',
    `No base copy can be kept of the destination of "${target}": ${why}`,
    { hint: `Load without --keep-base: ${shell`tool load ${target}`}` },
  );
}

export function baseWarning(why: string): { code: string; message: string } {
  return { code: 'base_copies_unsupported', message: `No base copy is kept although keep_base is set: ${why}` };
}
