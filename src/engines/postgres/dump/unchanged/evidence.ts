import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { count, list, sha256 } from '../../../../repository/manifest/values.ts';
import { readVersion } from '../../../../runtime/package-files.ts';

export const digits = v.pipe(v.string(), v.regex(/^\d{1,20}$/, 'must be a number'));
/** A position in the WAL. */
export const position = v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/, 'must be a position in the WAL'));
const block = v.nullable(count);
/** Seconds since 1970, with microseconds. */
const moment = v.pipe(v.string(), v.regex(/^\d{1,12}(\.\d{1,6})?$/, 'must be a time'));

/** The server and the database whose history the evidence is about. */
export const historySchema = v.strictObject({
  database: count,
  /** Version of its row in the catalog: another database may get its oid. */
  created: digits,
  /** Digest of the user who read, and of the user's security labels: masks depend on them. */
  reader: sha256,
  system: digits,
  timeline: v.pipe(v.string(), v.regex(/^[0-9A-F]{8}$/, 'must be a timeline')),
  /** Start of the postmaster, which lives on when a session crashes. */
  started: moment,
  /** Reset of the statistics: recovery from a crash discards them. */
  reset: moment,
});

export type History = v.InferOutput<typeof historySchema>;

const rangeSchema = v.strictObject({
  start: block,
  end: block,
  /** Rows that the snapshot of the build saw in it. */
  rows: count,
  file: v.strictObject({ sha256, bytes: count, stored_bytes: count, stored_sha256: sha256 }),
});

const tableSchema = v.strictObject({
  oid: count,
  filenode: count,
  /** Digest of the columns and types, which together with a row determine its text. */
  shape: sha256,
  ranges: list(rangeSchema),
  /** Blocks, and positions of the pages of the visibility map, if no bit was missing before the snapshot. */
  map: v.exactOptional(v.strictTuple([count, list(position)])),
});

/** A record of the rows that a build read; the README of this folder states what it proves. */
const evidenceSchema = v.strictObject({
  format: v.literal(1),
  /** Another version of this program may read rows as other text. */
  program: v.string(),
  history: historySchema,
  /** The oldest transaction that was not complete for the build's snapshot, with its epoch. */
  xmin: digits,
  tables: list(tableSchema),
});

export type Evidence = v.InferOutput<typeof evidenceSchema>;
export type TableEvidence = v.InferOutput<typeof tableSchema>;
export type RangeEvidence = v.InferOutput<typeof rangeSchema>;

export function parseEvidence(evidence: unknown): Evidence | null {
  const parsed = v.safeParse(evidenceSchema, evidence);
  return parsed.success ? parsed.output : null;
}

export function newEvidence(content: Omit<Evidence, 'format' | 'program'>): Evidence {
  return { format: 1, program: readVersion(), ...content };
}

/** Transactions up to which the 32 bits of a row's `xmin` tell old from new; the rest of 2^31 is left to long builds. */
const MOST_TRANSACTIONS = 2n ** 30n;

/** Reports whether the evidence is about the past of this snapshot. */
export function isOfPast(
  { history, xmin, program }: Pick<Evidence, 'history' | 'xmin' | 'program'>,
  now: { history: History; xmin: string; xmax: string },
): boolean {
  const since = BigInt(now.xmax) - BigInt(xmin);
  return (
    program === readVersion() &&
    isDeepStrictEqual(history, now.history) &&
    BigInt(now.xmin) >= BigInt(xmin) &&
    since >= 0n &&
    since < MOST_TRANSACTIONS
  );
}
