import type { ChangesToWrite } from '../../engines/facets/changes.ts';
import type { StoredDefinition } from '../../engines/facets/sanitize.ts';
import { engineOf } from '../../engines/registry.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { ObjectPool } from '../../repository/objects/object-pool.ts';
import type { ChangesResult } from '../../results/review/changes-results.ts';
import type { Context } from '../../runtime/context.ts';
import { diffText } from '../snapshots/diff/table-diff.ts';
import { readerOf } from '../snapshots/rows/rows.ts';

export interface DefinitionsRequest {
  before: Manifest;
  after: Manifest;
  pool: ObjectPool;
}

export interface ComparedDefinitions extends Pick<ChangesResult, 'definitions' | 'sequences' | 'large_objects'> {
  /** The present ones of `sequences`. */
  values: ChangesToWrite['values'];
}

/** Compares the statements of both sides by the names of their objects, values of sequences, and large objects. */
export async function compareDefinitions(
  context: Context,
  { before, after, pool }: DefinitionsRequest,
): Promise<ComparedDefinitions> {
  const [old, now] = [
    await readByName(context, { manifest: before, pool }),
    await readByName(context, { manifest: after, pool }),
  ];
  return { ...textChanges(old, now), large_objects: largeObjects(before, after) };
}

/** By the names of objects. */
export type NamedDefinitions = Map<string, StoredDefinition>;

export function textChanges(old: NamedDefinitions, now: NamedDefinitions): Omit<ComparedDefinitions, 'large_objects'> {
  const found: Omit<ComparedDefinitions, 'large_objects'> = { definitions: [], sequences: [], values: [] };
  for (const name of [...new Set([...old.keys(), ...now.keys()])].sort()) {
    const [one, other] = [old.get(name), now.get(name)];
    if (one?.text === other?.text) continue;
    const shown = name.replace(/\.(\([^()]*\))$/, ' $1');
    if ((one ?? other)?.creates === 'value') {
      if (other) found.values.push(other);
      found.sequences.push({ name: shown, from: sequenceValue(one), to: sequenceValue(other) });
    } else {
      const change = one ? (other ? 'changed' : 'removed') : 'added';
      found.definitions.push({ name: shown, change, diff: diffText(one?.text ?? '', other?.text ?? '') });
    }
  }
  return found;
}

/** Entries of one name, such as comments of one object, are taken together. */
export async function readByName(
  context: Context,
  side: { manifest: Manifest; pool: ObjectPool },
): Promise<NamedDefinitions> {
  const read = readerOf(context, side.manifest, side.pool);
  const all = await engineOf(side.manifest.engine).readDefinitions({ manifest: side.manifest, read });
  const byName = Map.groupBy(
    all.filter(({ creates }) => creates !== 'none'),
    ({ name }) => name,
  );
  return new Map(
    [...byName].flatMap(([name, [first, ...others]]) => {
      if (!first) return [];
      const texts = [first, ...others].map(({ text }) => text.trim()).sort();
      return [[name, { ...first, text: `${texts.join('\n')}\n` }]];
    }),
  );
}

/** The number of `SELECT pg_catalog.setval('public.item_id_seq', 17, true);`, or the value alone. */
function sequenceValue(definition: StoredDefinition | undefined): string | null {
  if (!definition) return null;
  return /, (-?\d+), (?:true|false)\);\s*$/.exec(definition.text)?.[1] ?? definition.text.trim();
}

/** The objects have names of their own; the lists of them have numbers that each dump gives anew. */
function largeObjects(before: Manifest, after: Manifest): number {
  const [old = new Map(), now = new Map()] = [before, after].map(
    ({ files }) => new Map(files.filter(({ name }) => /^blob_/.test(name)).map(({ name, sha256 }) => [name, sha256])),
  );
  return [...new Set([...old.keys(), ...now.keys()])].filter((name) => old.get(name) !== now.get(name)).length;
}
