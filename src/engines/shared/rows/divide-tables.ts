import type { ManifestTable } from '../../../repository/manifest/manifest.ts';
import { formatNumberOf } from '../../../text/format.ts';
import type { RestorePlan, RestoreRequest } from '../../facets/restore.ts';

export function divideTables(tables: ManifestTable[], { only }: Pick<RestoreRequest, 'only'>) {
  if (!only) return { tables, empty: [] };
  const isWanted = ({ name }: ManifestTable): boolean => only.has(name);
  return { tables: tables.filter(isWanted), empty: tables.filter((table) => !isWanted(table)) };
}

/** `3 tables, and 22 without rows`. */
export function tablesText({ tables, empty }: Pick<RestorePlan, 'tables' | 'empty'>): string {
  const besides = empty.length === 0 ? '' : `, and ${empty.length} without rows`;
  return `${formatNumberOf(tables.length, 'table')}${besides}`;
}
