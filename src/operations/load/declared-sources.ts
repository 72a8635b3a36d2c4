import * as v from 'valibot';
import type { DeclaredSources } from '../../results/configuration-results.ts';
import type { Context } from '../../runtime/context.ts';
import { findTarget } from '../targets/find-target.ts';
import { readState, writeState } from '../working-state.ts';
import { type Source, sourcesOf } from './sources.ts';

const FILE = {
  name: 'unverified-sources.json',
  /** URLs without password by dotted key; empty for one that cannot be read. */
  schema: v.strictObject({ format: v.literal(1), sources: v.record(v.string(), v.string()) }),
};

/** Declares that the sources of a target, at their present URLs, are none of the destinations. */
export async function declareSources(context: Context, target: string): Promise<DeclaredSources> {
  findTarget(context.configuration, target);
  const declared = sourcesOf(context).filter((source) => source.target === target);
  const known = await readSources(context);
  const sources = Object.fromEntries(declared.map((source) => [source.key, urlOf(source)]));
  await writeState(context, FILE, { format: 1, sources: { ...known, ...sources } });
  return { unverified_sources: declared.map((source) => urlOf(source) || source.key) };
}

/** Reads the declared sources; a changed URL is another source. */
export async function readDeclared(context: Context): Promise<(source: Source) => boolean> {
  const sources = await readSources(context);
  return (source) => Object.hasOwn(sources, source.key) && sources[source.key] === urlOf(source);
}

/** None where the file is damaged. */
async function readSources(context: Context): Promise<Record<string, string>> {
  const state = await readState(context, FILE).catch(() => undefined);
  return state?.sources ?? {};
}

function urlOf({ url }: Source): string {
  return url?.display ?? '';
}
