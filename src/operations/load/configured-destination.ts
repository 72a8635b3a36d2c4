import type { Configuration } from '../../config/configuration.ts';
import type { TargetSettings } from '../../config/schema/settings.ts';
import { connectionUrl } from '../../config/urls/connection-url.ts';
import type { DatabaseUrl } from '../../engines/database-url.ts';
import { parseUrl } from '../../engines/registry.ts';
import { findTarget } from '../targets/find-target.ts';

export interface ChosenDestination {
  /** Connection URL, with its password. */
  text: string;
  /** The setting that named it, and so why it won. */
  chosenBy: string;
}

/** The destination of a load without `--destdb`; `null` where nothing names a destination. Throws when a URL cannot be filled in. */
export function configuredDestination(configuration: Configuration, name: string): ChosenDestination | null {
  const target = findTarget(configuration, name);
  const isShared = target.share !== undefined || configuration.cloud?.has(name);
  return firstOf(configuration, [ownKey(name, target), FOR_ALL, ...(isShared ? [FOR_SHARED] : [])]);
}

/** Returns the URL of the configured destination; `null` for none, and for one that cannot be read: it leads nowhere now. */
export function findDestinationUrl(configuration: Configuration, name: string): DatabaseUrl | null {
  const text = readIfSet(() => configuredDestination(configuration, name)?.text);
  return parseIfUrl(text ?? '');
}

export function parseIfUrl(text: string): DatabaseUrl | null {
  return readIfSet(() => parseUrl(text)) ?? null;
}

/** A value of the configuration; `undefined` also where a variable of it is not set, or it cannot be read. */
export function readIfSet<Value>(read: () => Value | undefined): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Returns the destination of a subset; `null` where nothing names one. Throws when a URL cannot be filled in. */
export function subsetDestination(configuration: Configuration, name: string): ChosenDestination | null {
  return firstOf(configuration, [`targets.${name}.subset.dst_url`, FOR_ALL]);
}

const FOR_ALL = 'override.dst_db_url';
export const FOR_SHARED = 'defaults.shared_target_dst_db_url';

function firstOf(configuration: Configuration, keys: string[]): ChosenDestination | null {
  for (const chosenBy of keys) {
    const text = connectionUrl(configuration, chosenBy);
    if (text !== undefined) return { text, chosenBy: configuration.flags?.get(chosenBy) ?? chosenBy };
  }
  return null;
}

export function ownKey(name: string, { share }: TargetSettings): string {
  return `targets.${name}.${share ? 'share' : 'snapshot'}.dst_url`;
}
