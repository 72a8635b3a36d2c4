import * as v from 'valibot';
import type { DestinationState, LoadDifference, LoadPlan, LoadResult, RestoredBy } from '../../results/load-results.ts';
import type { TableSelection } from '../../results/selected-tables.ts';
import { matches } from './matches.ts';
import { databaseCopies, flag, notices, number, orNull, snapshot, text, texts } from './parts.ts';

export const destination = matches<DestinationState>()(
  v.object({
    url: text,
    host: text,
    local: flag,
    database: text,
    exists: flag,
    size_bytes: orNull(number),
    connections: number,
    server_version: text,
  }),
);

const selection = matches<TableSelection>()(
  v.object({
    chosen: texts,
    needed: v.array(v.object({ table: text, needed_by: text, why: v.picklist(['reference', 'part']) })),
    empty: texts,
  }),
);

const loadDifference = matches<LoadDifference>()(
  v.object({
    method: v.picklist(['difference', 'full']),
    reason: text,
    base: text,
    base_snapshot: orNull(text),
    tables: number,
    size_bytes: number,
    saved_tables: number,
    saved_bytes: number,
  }),
);

export const restoredBy = matches<RestoredBy>()(
  v.object({ restored_by: v.picklist(['temporary_user', 'loading_user']), restored_by_reason: text }),
);

export const maybeRestoredBy = {
  restored_by: v.exactOptional(restoredBy.entries.restored_by),
  restored_by_reason: v.exactOptional(restoredBy.entries.restored_by_reason),
};

export const loadPlan = matches<LoadPlan>()(
  v.object({
    target: text,
    snapshot: orNull(snapshot),
    file: orNull(text),
    sanitized: orNull(flag),
    sanitized_reason: text,
    destination,
    chosen_by: text,
    strategy: v.picklist(['swap', 'in_place', 'script']),
    strategy_reason: text,
    ...maybeRestoredBy,
    undo: flag,
    keep_base: v.exactOptional(v.object({ spare: flag })),
    copies: v.exactOptional(databaseCopies),
    difference: v.exactOptional(loadDifference),
    reset_instead: v.exactOptional(v.literal(true)),
    keep_going: v.exactOptional(v.picklist(['inspect', 'swap'])),
    schemas: texts,
    tables: number,
    rows: number,
    size_bytes: number,
    selection: orNull(selection),
    jobs: number,
    estimate: v.exactOptional(v.object({ duration_ms: number, loads: number })),
    unverified_sources: texts,
    steps: texts,
    warnings: notices,
  }),
);

export const loadResult = matches<LoadResult>()(
  v.object({
    snapshot: orNull(snapshot),
    destination: text,
    statements: v.exactOptional(number),
    tables: number,
    rows: number,
    size_bytes: number,
    selection: orNull(selection),
    swap_ms: orNull(number),
    undo_database: orNull(text),
    missing: v.exactOptional(
      v.object({ objects: number, tables: number, rows: number, differences: texts, errors: texts }),
    ),
    difference: v.exactOptional(loadDifference),
    base_database: v.exactOptional(text),
    spare_database: v.exactOptional(text),
  }),
);
