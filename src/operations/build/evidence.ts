import * as v from 'valibot';
import type { ReadSummary } from '../../engines/facets/dump.ts';
import { ENGINE_IDS, type EngineId } from '../../engines/list.ts';
import type { Database } from '../../engines/open-database.ts';
import { snapshotId, time } from '../../repository/manifest/values.ts';
import type { AllRead, RowReadSummary } from '../../results/row-reading.ts';
import type { Context } from '../../runtime/context.ts';
import { parseDuration } from '../../text/duration.ts';
import { readSignedState, writeSignedState } from '../signed-state.ts';
import { findTarget } from '../targets/find-target.ts';

/**
 * The last build or save of a target on this machine. A file of its own, not part of a manifest: manifests are pulled and
 * imported from others, who could claim that rows are unchanged.
 */
const schema = v.strictObject({
  format: v.literal(3),
  engine: v.picklist(ENGINE_IDS),
  snapshot: snapshotId,
  /** Creation of the last snapshot whose rows were all read. */
  full_at: time,
  evidence: v.unknown(),
});

/** A source, or with `save` the destination, which is another database; no name of a target has a plus sign. */
interface EvidenceOf {
  target: string;
  save?: boolean | undefined;
}

const file = ({ target, save }: EvidenceOf) => ({
  ...{ name: `evidence/${save ? 'save+' : ''}${target}.json`, purpose: 'build evidence' },
  schema,
});

export interface LastEvidence {
  /** `null`: all rows are read. */
  evidence: unknown;
  fullAt: string | null;
  why: AllRead | null;
}

const FULL_EVERY = '7d';

/** Returns what is believed of the last build; without evidence, why all rows are read. */
export async function readEvidence(
  context: Context,
  { target, save, full = false }: EvidenceOf & { full?: boolean | undefined },
): Promise<LastEvidence> {
  const stored = await readSignedState(context, file({ target, save })).catch(() => undefined);
  const { snapshot } = findTarget(context.configuration, target);
  const why = full ? 'asked' : stored ? whyDue(stored.full_at, snapshot?.full_every ?? FULL_EVERY, context) : 'first';
  return { evidence: why === null ? stored?.evidence : null, fullAt: stored?.full_at ?? null, why };
}

function whyDue(fullAt: string, every: string, { clock }: Context): AllRead | null {
  const age = clock().getTime() - Date.parse(fullAt);
  // A clock that was set back does not postpone it.
  return age < 0 || age >= (parseDuration(every) ?? 0) ? 'due' : null;
}

export interface BuiltEvidence extends EvidenceOf {
  engine: EngineId;
  snapshot: string;
  fullAt: string;
  evidence: unknown;
}

/** Signs and stores the evidence of a build whose snapshot is stored. Without it the next build reads all rows. */
export async function writeEvidence(
  context: Context,
  { engine, snapshot, fullAt, evidence, ...of }: BuiltEvidence,
): Promise<void> {
  const content = { format: 3, engine, snapshot, full_at: fullAt, evidence } as const;
  await writeSignedState(context, file(of), content).catch(() => {});
}

export interface LoadedEvidence {
  target: string;
  database: Pick<Database, 'engine'>;
  /** Snapshot or save that the destination has the rows of. */
  snapshot: string;
  /** `ReplaceResult.evidence` */
  evidence: unknown;
}

/** The next save and comparison of the destination need not read what was written by the load. */
export async function writeLoadedEvidence(
  context: Context,
  { target, database, snapshot, evidence }: LoadedEvidence,
): Promise<void> {
  if (evidence === undefined) return;
  const fullAt = context.clock().toISOString();
  await writeEvidence(context, { target, save: true, engine: database.engine.id, snapshot, fullAt, evidence });
}

/** Most tables that a result names. */
const NAMED = 20;

export function rowReading(
  { read, partlyRead, unchanged, unchangedBytes, refused, provable }: ReadSummary,
  why: AllRead | null,
): RowReadSummary {
  return {
    tables_read: read.length,
    tables_partly_read: partlyRead.length,
    tables_unchanged: unchanged.length,
    unchanged_bytes: unchangedBytes,
    read: [...partlyRead, ...read].slice(0, NAMED),
    all_read: provable || why === 'asked' ? (why ?? refused) : null,
  };
}
