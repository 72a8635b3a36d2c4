import type { PackedFile } from '../../../facets/dump.ts';
import type { CatalogTable } from '../../catalog/introspect.ts';
import { TERMINATOR_LINES } from '../archive.ts';
import type { Range } from '../ranges.ts';
import { type Evidence, newEvidence, type RangeEvidence } from './evidence.ts';
import type { SourceState } from './read-state.ts';

export interface RecordOptions {
  state: SourceState;
  tables: Map<CatalogTable, PackedFile[]>;
  ranges: Map<CatalogTable, Range[]>;
}

/** Returns what proves to the next build that rows are those of this one. */
export function recordEvidence({ state, tables, ranges }: RecordOptions): Evidence {
  const recorded = [...tables].flatMap(([table, files]) => {
    const now = state.tables.get(table.oid);
    const parts = (ranges.get(table) ?? []).flatMap((range, at) => rangeEvidence(range, files[at]) ?? []);
    return now && parts.length === files.length ? [{ oid: table.oid, ...now, ranges: parts }] : [];
  });
  return newEvidence({ history: state.history, xmin: state.xmin, tables: recorded });
}

function rangeEvidence({ start, end }: Range, packed: PackedFile | undefined): RangeEvidence | null {
  if (!packed) return null;
  const { sha256, bytes, stored_bytes, stored_sha256 } = packed.file;
  if (stored_sha256 === undefined) return null;
  return { start, end, rows: packed.lines - TERMINATOR_LINES, file: { sha256, bytes, stored_bytes, stored_sha256 } };
}
