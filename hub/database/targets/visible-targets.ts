import { type RawBuilder, sql } from 'kysely';
import type { Caller } from '../../permissions/access.ts';

/** The condition on `targets` that `permissionsOn` has: `read` or more. */
export function isVisible({ kind, role, groups, targetIds }: Caller): RawBuilder<boolean> {
  if (role === 'owner') return sql<boolean>`targets.removed_at IS NULL`;
  if (kind === 'service') return sql<boolean>`targets.removed_at IS NULL AND targets.id = ANY(${targetIds}::uuid[])`;
  const mine = sql`${groups}::text[]`;
  const reads = sql<boolean>`(targets.reader_groups && ${mine} OR targets.original_groups && ${mine})`;
  if (role !== 'member') return sql<boolean>`targets.removed_at IS NULL AND ${reads}`;
  const manages = sql`(targets.builder_groups = '{}' OR targets.builder_groups && ${mine})`;
  return sql<boolean>`targets.removed_at IS NULL AND (${reads} OR ${manages})`;
}

/** All of a caller that decides what is visible, and `permissionsOn` returns: callers with the same text see the same. */
export function sightOf({ kind, role, groups, targetIds }: Caller): string {
  return JSON.stringify(role === 'owner' ? [role] : [kind, role, [...groups].sort(), [...targetIds].sort()]);
}
