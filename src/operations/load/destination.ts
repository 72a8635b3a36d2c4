import type { Configuration } from '../../config/configuration.ts';
import { serviceElsewhere } from '../../config/urls/url-parts.ts';
import type { DatabaseUrl } from '../../engines/database-url.ts';
import { type Database, openDatabase } from '../../engines/open-database.ts';
import { parseUrl } from '../../engines/registry.ts';
import type { DestinationState } from '../../results/load-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { isCurrent, type Planned, planOutdated } from '../planned.ts';
import { findTarget } from '../targets/find-target.ts';
import { type ChosenDestination, configuredDestination, FOR_SHARED, ownKey } from './configured-destination.ts';
import { assertNotASource } from './guard/guard.ts';

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
    hint: `Set ${missingKey(configuration, name)} in the configuration, or pass --destdb postgres://… (with --from: --to)`,
  });
}

/** Refuses a destination that is a source, or is missing, before work that a load would need. */
export async function assertDestination(
  given: Context,
  request: { target: string; destdb?: string | undefined },
): Promise<void> {
  const context = { ...given, report: () => {} };
  const { url } = openDestination(context, chooseDestination(context, request));
  await assertNotASource(context, url, request);
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
 * source since: for an older plan it is compared with the sources once more.
 */
export async function checkDestination(
  context: Context,
  planned: Planned<{ target: string; source?: boolean }, DestinationPlan>,
  url: DatabaseUrl,
): Promise<void> {
  const { target, source: isSource = false } = planned.request;
  const { destination, unverified_sources: accepted } = planned.plan;
  assertSameDestination(url, destination);
  if (isSource || isCurrent(context, planned)) return;
  await assertNotASource({ ...context, report: () => {} }, url, { target, accepted });
}

/** Refuses a plan of another destination than the configuration leads to by now. */
export function assertSameDestination({ display }: DatabaseUrl, { url }: Pick<DestinationState, 'url'>): void {
  if (display !== url) throw planOutdated(`The destination is ${display}, no longer ${url},`);
}

/** Nothing is connected yet. */
export function openDestination(context: Context, { text }: Pick<ChosenDestination, 'text'>): Database {
  return openDatabase(context, parseUrl(text));
}

/** URLs of the configuration are looked at when it is read. */
function warnOfService(url: string, report: Context['report']): void {
  const leak = serviceElsewhere(url);
  if (!leak) return;
  const message = `The password of service '${leak.service}' is sent to ${leak.host}`;
  report({ event: 'warning', code: 'service_elsewhere', message });
}
