import * as v from 'valibot';
import { count, list, sha256 } from '../../../../repository/manifest/values.ts';
import { digits, position } from '../../dump/unchanged/evidence.ts';

const value = v.pipe(v.string(), v.regex(/^-?\d{1,20}$/, 'must be a number'));

/**
 * The rows of a base copy when it was made, as in a fingerprint. It is in the mark of the base copy, on the same server as
 * the rows, so that it shares their history: restarts and crashes of the server matter nothing.
 */
export const baseEvidenceSchema = v.strictObject({
  system: digits,
  timeline: v.string(),
  /** The oldest transaction that was not complete. */
  xmin: digits,
  /** Older rows of catalogs are of the server's own objects; as 32 bits. */
  initial: digits,
  /** Oid, file and rows of each relation with rows. */
  relations: list(v.strictTuple([count, count, count])),
  /** Oid, blocks, and positions of the pages of the visibility map, of relations whose bits "all visible" were all set. */
  maps: v.exactOptional(list(v.strictTuple([count, count, list(position)]))),
  /** Oid and digest of each catalog, but for columns that no change of a definition changes. */
  catalogs: list(v.strictTuple([count, sha256])),
  /** Oid, `last_value` and `is_called` of each sequence. */
  sequences: list(v.strictTuple([count, value, v.boolean()])),
});

export type BaseEvidence = v.InferOutput<typeof baseEvidenceSchema>;

const text = v.string();

/** The changes that a plan has found: where no transaction has ended meanwhile, the reset need not look again. */
export const seenChangesSchema = v.strictObject({
  /** Borders of the snapshot and what ran in it; start of the server and of its statistics, which a crash begins again. */
  at: text,
  xmin: digits,
  tables: list(
    v.object({
      ...{ oid: count, filenode: count, schema: text, name: text, pages: count },
      ...{ fresh: count, missing: count, rows: count, rewritten: v.boolean(), toasted: v.boolean(), bytes: count },
    }),
  ),
});

export type SeenChanges = v.InferOutput<typeof seenChangesSchema>;
