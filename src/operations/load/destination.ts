import type { Configuration } from '../../config/configuration.ts';
import type { TargetSettings } from '../../config/schema/settings.ts';
import { connectionUrl } from '../../config/urls/connection-url.ts';
import { serviceElsewhere } from '../../config/urls/url-parts.ts';
import type { DatabaseUrl } from '../../engines/database-url.ts';
import { type Database, openDatabase } from '../../engines/open-database.ts';
import { parseUrl } from '../../engines/registry.ts';
import type { DestinationState } from '../../results/load-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { findTarget } from '../find-target.ts';
import { isFresh, type Planned, planOutdated } from '../planned.ts';
import { assertNotASource } from './guard.ts';

export interface ChosenDestination {
  /** Connection URL, with its password. */
  text: string;
  /** The setting that named it, and so why it won. */
  chosenBy: string;
}

/** Chooses the destination of a load, highest first: docs/commands.md, "The destination of a load". */
export function chooseDestination(
  { configuration, report }: Pick<Context, 'configuration' | 'report'>,
  { target: name, destdb }: { target: string; destdb?: string | undefined },
): ChosenDestination {
  findTarget(configuration, name);
  if (destdb !== undefined) warnOfService(destdb, report);
  const chosen =
    destdb === undefined ? configuredDestination(configuration, name) : { chosenBy: '--destdb', text: destdb };
  if (chosen) return chosen;
  throw new UserError('destination_missing', `Target "${name}" has no destination to load into`, {
    hint: `Set ${missingKey(configuration, name)} in the configuration, or pass --destdb postgres://…`,
  });
}

/** The same without `--destdb`; `null` where nothing names a destination. Throws when a URL cannot be filled in. */
export function configuredDestination(configuration: Configuration, name: string): ChosenDestination | null {
  const target = findTarget(configuration, name);
  const isShared = target.share !== undefined || configuration.cloud?.has(name);
  return firstOf(configuration, [ownKey(name, target), FOR_ALL, ...(isShared ? [FOR_SHARED] : [])]);
}

/** Returns the destination of a subset; `null` where nothing names one. Throws when a URL cannot be filled in. */
export function subsetDestination(configuration: Configuration, name: string): ChosenDestination | null {
  return firstOf(configuration, [`targets.${name}.subset.dst_url`, FOR_ALL]);
}

const FOR_ALL = 'override.dst_db_url';
const FOR_SHARED = 'defaults.shared_target_dst_db_url';

function firstOf(configuration: Configuration, keys: string[]): ChosenDestination | null {
  for (const chosenBy of keys) {
    const text = connectionUrl(configuration, chosenBy);
    if (text !== undefined) return { text, chosenBy };
  }
  return null;
}

/** A target of the file with the name of a cloud target would hide that one. */
function missingKey(configuration: Configuration, name: string): string {
  return configuration.cloud?.has(name) ? FOR_SHARED : ownKey(name, findTarget(configuration, name));
}

interface DestinationPlan {
  destination: DestinationState;
  unverified_sources: string[];
}

/**
 * Refuses a plan when the configuration leads to another database by now than the one shown, or when that has become a
 * source since: of a plan that is not fresh it is compared with the sources once more.
 */
export async function checkDestination(
  context: Context,
  planned: Planned<{ target: string; source?: boolean }, DestinationPlan>,
  url: DatabaseUrl,
): Promise<void> {
  const { target, source: isSource = false } = planned.request;
  const { destination, unverified_sources: accepted } = planned.plan;
  if (url.display !== destination.url) {
    throw planOutdated(`The destination is ${url.display}, no longer ${destination.url},`);
  }
  if (isSource || isFresh(context, planned)) return;
  await assertNotASource({ ...context, report: () => {} }, url, { target, accepted });
}

/** Nothing is connected yet. */
export function openDestination(context: Context, { text }: Pick<ChosenDestination, 'text'>): Database {
  return openDatabase(context, parseUrl(text));
}

function ownKey(name: string, { share }: TargetSettings): string {
  return `targets.${name}.${share ? 'share' : 'snapshot'}.dst_url`;
}

/** URLs of the configuration are looked at when it is read. */
function warnOfService(url: string, report: Context['report']): void {
  const leak = serviceElsewhere(url);
  if (!leak) return;
  const message = `The password of service '${leak.service}' is sent to ${leak.host}`;
  report({ event: 'warning', code: 'service_elsewhere', message });
}
