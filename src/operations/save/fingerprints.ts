import * as v from 'valibot';
import type { Context } from '../../runtime/context.ts';
import { readSignedState, writeSignedState } from '../signed-state.ts';

/** Fingerprints per target, newest load first: of the destination, its undo copy, and some before. */
const MOST = 4;

const schema = v.strictObject({
  format: v.literal(3),
  fingerprints: v.pipe(
    v.array(
      v.strictObject({
        /** The id that the load restored whole; `null` where it left something out. */
        snapshot: v.nullable(v.string()),
        fingerprint: v.unknown(),
      }),
    ),
    v.maxLength(MOST),
  ),
});

type LoadFingerprint = v.InferOutput<typeof schema>['fingerprints'][number];

/** No name of a target has a plus sign. */
const file = (target: string) => ({ name: `evidence/loads+${target}.json`, purpose: 'loaded databases', schema });

/** Without them a database counts as changed. */
export async function readFingerprints(context: Context, target: string): Promise<LoadFingerprint[]> {
  const stored = await readSignedState(context, file(target)).catch(() => undefined);
  return stored?.fingerprints ?? [];
}

export async function addFingerprint(context: Context, target: string, loaded: LoadFingerprint): Promise<void> {
  const fingerprints = [loaded, ...(await readFingerprints(context, target))].slice(0, MOST);
  await writeSignedState(context, file(target), { format: 3, fingerprints }).catch(() => {});
}
