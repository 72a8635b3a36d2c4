import * as v from 'valibot';
import type { Coverage, SanitizePlan, SanitizeResult, UnsanitizedColumn } from '../../results/sanitize-results.ts';
import { destination, restoredBy } from './load-parts.ts';
import { matches } from './matches.ts';
import { flag, notices, number, orNull, snapshot, text, texts } from './parts.ts';

export const finding = matches<UnsanitizedColumn>()(
  v.object({
    column: text,
    kind: text,
    meaning: text,
    by: v.picklist(['name', 'values']),
    state: v.picklist(['unchanged', 'partly', 'leaked']),
    generated: flag,
    values: number,
    original_values: orNull(number),
    from: texts,
    samples: texts,
    samples_after: texts,
  }),
);

export const coverage = matches<Coverage>()(
  v.object({
    tables: v.array(
      v.object({
        name: text,
        state: v.picklist(['changed', 'untouched', 'emptied', 'dropped', 'added']),
        rows_before: orNull(number),
        rows_after: orNull(number),
        indirect: flag,
      }),
    ),
    findings: v.array(finding),
    acknowledged: v.array(v.object({ column: text, kind: text, reason: text })),
    changed: v.array(v.object({ column: text, kind: text, meaning: text, samples: texts, samples_after: texts })),
    common: v.array(v.object({ column: text, values: number, original_values: number, from: texts })),
  }),
);

export const sanitizePlan = matches<SanitizePlan>()(
  v.object({
    target: text,
    snapshot: orNull(snapshot),
    query: v.object({
      chosen_by: text,
      file: orNull(text),
      base64: flag,
      statements: v.array(v.object({ number, line: number, text })),
    }),
    destination: orNull(destination),
    where: text,
    ...restoredBy.entries,
    strict: flag,
    undo: flag,
    unverified_sources: texts,
    steps: texts,
    warnings: notices,
  }),
);

export const sanitizeResult = matches<SanitizeResult>()(
  v.object({
    snapshot,
    original: snapshot,
    destination: orNull(text),
    statements: number,
    coverage,
    swap_ms: orNull(number),
    undo_database: orNull(text),
  }),
);
