import { settingsWithMisnamed } from '../../../config/problems/misnamed-targets.ts';
import { connectionUrl } from '../../../config/urls/connection-url.ts';
import type { DatabaseUrl } from '../../../engines/database-url.ts';
import { engineOf } from '../../../engines/registry.ts';
import type { Context } from '../../../runtime/context.ts';
import type { KnownIdentities, KnownIdentity } from '../../identities.ts';
import { parseIfUrl } from '../configured-destination.ts';

/** A database of which no snapshot may ever take the place. */
export interface Source {
  target: string;
  key: string;
  /** `null` where nothing of the URL can be read. */
  url: DatabaseUrl | null;
  /** A variable of the URL's template is not set, so that it is not the whole URL. */
  blank: boolean;
  /** Source of a target of the hub: compared by its address, and not connected to. */
  cloud: boolean;
  /** The configuration has named it before, and does not name it any more: compared, and not connected to. */
  former: boolean;
}

const FIELDS = ['snapshot.src_url', 'subset.src_url'];

export function sourcesOf({ configuration }: Pick<Context, 'configuration'>): Source[] {
  const all = { ...configuration, settings: settingsWithMisnamed(configuration) };
  return Object.keys(all.settings.targets).flatMap((target) =>
    FIELDS.flatMap((field): Source[] => {
      const key = `targets.${target}.${field}`;
      const { text, blank } = textOf(all, key);
      if (text === undefined) return [];
      const url = parseIfUrl(text);
      const cloud = configuration.cloud?.has(target) ?? false;
      return [{ target, key, url, blank, cloud, former: false }];
    }),
  );
}

/** Remembered sources at other URLs than the present ones. A present URL with unset variables may be any of its key. */
export function formerSources(
  known: KnownIdentities,
  { present, destination }: { present: Source[]; destination: DatabaseUrl },
): Source[] {
  const urls = new Set(present.flatMap(({ url, blank }) => (url && !blank ? [url.display] : [])));
  const blanks = new Set(present.flatMap(({ key, blank }) => (blank ? [key] : [])));
  return [...known].flatMap(([key, entries]) => {
    if (blanks.has(key)) return [];
    const [, target = ''] = /^targets\.(.*)\.(?:snapshot|subset)\.src_url$/s.exec(key) ?? [];
    return entries.flatMap((entry): Source[] => {
      const url = urls.has(entry.url) ? null : parseIfUrl(entry.url);
      const isSameEngine = url?.engine === destination.engine;
      return isSameEngine ? [{ target, key, url, blank: false, cloud: false, former: true }] : [];
    });
  });
}

function textOf(configuration: Context['configuration'], key: string): { text: string | undefined; blank: boolean } {
  try {
    return { text: connectionUrl(configuration, key), blank: false };
  } catch {
    return { text: configuration.blanks?.get(key) ?? '', blank: true };
  }
}

/** Returns the identities that count for the URL as it is; for a URL with blanks all that it has ever led to. */
export function rememberedOf(known: KnownIdentities, { key, url, blank }: Source): KnownIdentity[] {
  const entries = known.get(key) ?? [];
  return blank ? entries : entries.filter((entry) => entry.url === url?.display);
}

/** A blank is not a name: without a host a client takes this machine, and without a database that of the user. */
export function hasAddress({ url, blank }: Source): boolean {
  return !blank || (url !== null && url.database !== null && url.hosts.every(({ host }) => host !== ''));
}

/** `null` when unknown. */
export function databaseOf(context: Context, { url, blank }: Source): string | null {
  if (!url || (blank && url.database === null)) return null;
  return engineOf(url.engine).databaseOf(context, url);
}
