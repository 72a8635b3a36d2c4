import type { Identity, Permission } from '../src/cloud/contract/schemas.ts';
import type { HubSettings } from './settings.ts';

/** Who sends a request. */
export interface Caller {
  kind: 'user' | 'service';
  /** Of the user or of the service token. */
  id: string;
  /** Of the token. */
  tokenId: string;
  /** For the audit: an e-mail address, or the name of the token. */
  name: string;
  role: Identity['role'];
  auditor: boolean;
  groups: string[];
  /** Of a service token: the targets that it is for. */
  targetIds: string[];
  expiresAt: Date;
}

/** What decides on a target. */
export interface TargetAccess {
  id: string;
  reader_groups: string[];
  original_groups: string[];
  builder_groups: string[];
}

/** The role that a user's groups give. */
export function roleOf(
  groups: string[],
  { ownerGroups, memberGroups }: Pick<HubSettings, 'ownerGroups' | 'memberGroups'>,
): 'owner' | 'member' | 'user' {
  if (intersects(groups, ownerGroups)) return 'owner';
  return intersects(groups, memberGroups) ? 'member' : 'user';
}

export function isAuditor(groups: string[], { auditorGroups }: Pick<HubSettings, 'auditorGroups'>): boolean {
  return intersects(groups, auditorGroups);
}

/**
 * What a caller may do with a target: the only place that decides it (the table in docs/hub.md). None: the target does
 * not exist for the caller. `database/visible-targets.ts` says the same of lists, in SQL.
 */
export function permissionsOn(target: TargetAccess, caller: Caller): Permission[] {
  if (caller.role === 'owner' || (caller.role === 'member' && mayManage(target, caller))) {
    return ['read', 'read_originals', 'push', 'read_source', 'change'];
  }
  if (caller.kind === 'service') {
    if (!caller.targetIds.includes(target.id)) return [];
    return caller.role === 'builder' ? ['read', 'push', 'read_source'] : ['read'];
  }
  if (intersects(caller.groups, target.original_groups)) return ['read', 'read_originals'];
  return intersects(caller.groups, target.reader_groups) ? ['read'] : [];
}

export function mayCreateTargets({ role }: Caller): boolean {
  return role === 'owner' || role === 'member';
}

function mayManage({ builder_groups }: TargetAccess, { groups }: Caller): boolean {
  return builder_groups.length === 0 || intersects(groups, builder_groups);
}

function intersects(some: string[], others: string[]): boolean {
  return some.some((one) => others.includes(one));
}
