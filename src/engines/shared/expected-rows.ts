import type { ManifestTable } from '../../repository/manifest/manifest.ts';
import type { RestorePlan } from '../facets/restore.ts';

export interface ExpectedRows {
  table: ManifestTable;
  rows: number;
  /** `12 in the manifest`: the expectation in an error. */
  words: string;
}

export function expectedRows({ tables, empty }: Pick<RestorePlan, 'tables' | 'empty'>): ExpectedRows[] {
  return [
    ...tables.map((table) => ({ table, rows: table.rows, words: `${table.rows} in the manifest` })),
    ...empty.map((table) => ({ table, rows: 0, words: 'though it was to be left empty' })),
  ];
}
