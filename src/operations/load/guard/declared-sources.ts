import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { connectionUrl } from '../../../config/urls/connection-url.ts';
import type { DatabaseUrl } from '../../../engines/database-url.ts';
import type { DeclaredSources } from '../../../results/configuration/configuration-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { findTarget } from '../../targets/find-target.ts';
import { readState, writeState } from '../../working-state.ts';
import { configuredDestination, parseIfUrl, readIfSet, subsetDestination } from '../configured-destination.ts';
import { type Source, sourcesOf } from './sources.ts';

const FILE = {
  name: 'unverified-sources.json',
  /** By dotted key: the digest of the URL of the source, and the destinations of which it is none, without password. */
  schema: v.strictObject({
    format: v.literal(1),
    sources: v.record(v.string(), v.strictObject({ digest: v.string(), destinations: v.array(v.string()) })),
  }),
};

/** Declares that the sources of a target, at their present URLs, are none of the configured destinations. */
export async function declareSources(context: Context, target: string): Promise<DeclaredSources> {
  findTarget(context.configuration, target);
  const destinations = destinationsOf(context);
  const declared = sourcesOf(context).flatMap((source) => {
    const digest = digestOf(source);
    if (source.target !== target) return [];
    if (digest === null || source.url === null) throw incomplete(source.key);
    return [{ key: source.key, display: source.url.display, digest }];
  });
  const known = await readSources(context);
  const sources = Object.fromEntries(declared.map(({ key, digest }) => [key, { digest, destinations }]));
  await writeState(context, FILE, { format: 1, sources: { ...known, ...sources } });
  return { unverified_sources: declared.map(({ display }) => display) };
}

/** Reads the sources that are declared to be others than a destination; a changed URL is another source. */
export async function readDeclared(context: Context, destination: DatabaseUrl): Promise<(source: Source) => boolean> {
  const sources = await readSources(context);
  return (source) => {
    const known = Object.hasOwn(sources, source.key) ? sources[source.key] : undefined;
    const digest = digestOf(source);
    return digest !== null && known?.digest === digest && known.destinations.includes(destination.display);
  };
}

/** None where the file is damaged. */
async function readSources(context: Context) {
  const state = await readState(context, FILE).catch(() => undefined);
  return state?.sources ?? {};
}

/** The digest of all parts but the password; `null` for a URL that is not whole. */
function digestOf({ url, blank }: Source): string | null {
  if (url === null || blank) return null;
  const { engine, hosts, user, database, parameters } = url;
  const parts = [engine, hosts, user, database, Object.entries(parameters).sort()];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

function destinationsOf({ configuration }: Context): string[] {
  const targets = Object.keys(configuration.settings.targets);
  const texts = targets.flatMap((name) => [
    readIfSet(() => configuredDestination(configuration, name)?.text),
    readIfSet(() => subsetDestination(configuration, name)?.text),
    readIfSet(() => connectionUrl(configuration, `targets.${name}.sanitize.dst_url`)),
  ]);
  const displays = texts.flatMap((text) => parseIfUrl(text ?? '')?.display ?? []);
  return [...new Set(displays)];
}

function incomplete(key: string): UserError {
  return new UserError('invalid_value', `${key} is no whole URL: it cannot be read, or a variable of it is not set`, {
    hint: 'Complete the URL, and run the command again.',
  });
}
