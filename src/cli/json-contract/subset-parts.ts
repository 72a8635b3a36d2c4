import * as v from 'valibot';
import type { ProofRow, SubsetPlanResult, SubsetResult, SubsetTableRow } from '../../results/subset-results.ts';
import { destination, restoredBy } from './load-parts.ts';
import { matches } from './matches.ts';
import { flag, notices, number, orNull, snapshot, text, texts } from './parts.ts';

const subsetTable = matches<SubsetTableRow>()(
  v.object({
    table: text,
    rule: v.picklist(['target', 'child', 'parent', 'copy', 'excluded', 'empty']),
    rows_now: number,
    rows_expected: orNull(number),
    bytes_now: number,
    bytes_expected: orNull(number),
    path: texts,
    nulled: texts,
  }),
);

export const subsetPlan = matches<SubsetPlanResult>()(
  v.object({
    target: text,
    source: text,
    sanitized: orNull(flag),
    sanitized_reason: text,
    destination,
    ...restoredBy.entries,
    seed: number,
    undo: flag,
    tables: v.array(subsetTable),
    unverified_sources: texts,
    circles: v.array(texts),
    warnings: notices,
  }),
);

const proof = matches<ProofRow>()(
  v.object({
    reference: text,
    from: text,
    columns: texts,
    to: text,
    ref_columns: texts,
    added: flag,
    orphans: number,
    orphans_in_source: number,
  }),
);

export const subsetResult = matches<SubsetResult>()(
  v.object({
    target: text,
    destination: text,
    seed: number,
    tables: v.array(v.object({ table: text, rows: number })),
    rows: number,
    proof: v.array(proof),
    swap_ms: orNull(number),
    undo_database: orNull(text),
    snapshot: orNull(snapshot),
  }),
);
