import type { PackedFile } from '../../../facets/dump.ts';
import type { CatalogTable } from '../../catalog/introspect.ts';
import { TERMINATOR_LINES } from '../archive.ts';
import type { Range } from '../ranges.ts';
import { type Evidence, newEvidence, type RangeEvidence, type TableEvidence } from './evidence.ts';
import type { SourceState, TableState } from './read-state.ts';
import { isSet, type VisibilityMap, type VisibilityMaps } from './visibility-maps.ts';

export interface RecordOptions {
  state: SourceState;
  tables: Map<CatalogTable, PackedFile[]>;
  ranges: Map<CatalogTable, Range[]>;
  /** Read before the snapshot. */
  maps: VisibilityMaps;
}

/** Returns what proves to the next build that rows are those of this one. */
export function recordEvidence({ state, tables, ranges, maps }: RecordOptions): Evidence {
  const recorded = [...tables].flatMap(([table, files]) => {
    const now = state.tables.get(table.oid);
    const parts = (ranges.get(table) ?? []).flatMap((range, at) => rangeEvidence(range, files[at]) ?? []);
    return now && parts.length === files.length
      ? [{ oid: table.oid, ...now, ranges: parts, ...mapEvidence(now, maps.get(table.oid)) }]
      : [];
  });
  return newEvidence({ history: state.history, xmin: state.xmin, tables: recorded });
}

/** Whoever has changed the table between the map and the snapshot has cleared a bit, or changed a position later. */
export function mapEvidence(
  { filenode }: Pick<TableState, 'filenode'>,
  map: VisibilityMap | undefined,
): Pick<TableEvidence, 'map'> {
  return map?.filenode === filenode && isSet(map) ? { map: [map.pages, map.positions] } : {};
}

function rangeEvidence({ start, end }: Range, packed: PackedFile | undefined): RangeEvidence | null {
  if (!packed) return null;
  const { sha256, bytes, stored_bytes, stored_sha256 } = packed.file;
  if (stored_sha256 === undefined) return null;
  return { start, end, rows: packed.lines - TERMINATOR_LINES, file: { sha256, bytes, stored_bytes, stored_sha256 } };
}
