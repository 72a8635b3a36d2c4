import * as v from 'valibot';
import { type Details, readDetail } from './read-detail.ts';

/** Objects of a source that its user could not read, and that a snapshot therefore lacks. */
export function hiddenSchema(text: v.GenericSchema<string>) {
  return v.object({
    /** `view`, `trigger`, `routine` … */
    kind: v.pipe(v.string(), v.regex(/^[a-z ]{1,64}$/, 'must be a kind of object')),
    /** Empty where the server does not even tell whether there are any. */
    names: bounded(text),
    /** Only those of these tables, where not of all. */
    tables: v.exactOptional(bounded(text)),
    /** The missing right; absent where the reason is another. */
    right: v.exactOptional(text),
  });
}

function bounded(text: v.GenericSchema<string>) {
  return v.pipe(v.array(text), v.maxLength(MOST_NAMES));
}

const MOST_NAMES = 1_000_000;

export type HiddenObjects = v.InferOutput<ReturnType<typeof hiddenSchema>>;

const recorded = v.array(hiddenSchema(v.string()));

/** By a manifest's details; none in snapshots of earlier versions. */
export function hiddenObjectsOf(manifest: Details): HiddenObjects[] {
  return readDetail(manifest, 'hidden', recorded) ?? [];
}

/** Returns the entry for a manifest's details. */
export function hiddenDetails(hidden: HiddenObjects[]): { hidden?: HiddenObjects[] } {
  return hidden.length > 0 ? { hidden } : {};
}
