import type { Access } from '../../src/cloud/contract/route.ts';
import type { Identity, Permission } from '../../src/cloud/contract/schemas.ts';
import type { RowOf } from '../database/tables.ts';
import type { HubSettings } from '../settings/settings.ts';

export interface Caller {
  kind: 'user' | 'service';
  /** Id of the user or of the service token. */
  id: string;
  tokenId: string;
  /** A verified e-mail address or another name of a user, or the name of the token. */
  name: string;
  /** Identify the caller in the audit; a service token without a subject of a provider has its id, and no issuer. */
  subject: string;
  issuer: string | null;
  role: Identity['role'];
  auditor: boolean;
  groups: string[];
  /** The targets that a service token is for. */
  targetIds: string[];
  expiresAt: Date;
}

/** The parts of a target that permissions depend on. */
export type TargetAccess = Pick<RowOf<'targets'>, 'id' | 'reader_groups' | 'original_groups' | 'builder_groups'>;

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

/** The target that a request is about. */
export interface Subject {
  /** `null`: there is none. */
  target: TargetAccess | null;
  /** The last target that had the name of a creation, removed ones included. */
  holder?: TargetAccess | null;
  /** The request creates a target of the name. */
  creates?: boolean;
  /** Caller that has claimed the build. */
  claimedBy?: string;
}

/** `unknown`: as if there was no such target; `omitted`: answered without the target. */
export type Decision = 'permitted' | 'omitted' | 'refused' | 'unknown' | 'token required';

/**
 * Decides on every request: with what a route declares, and once more in the transaction that writes. A target that the
 * caller may not read is decided on as one that does not exist. docs/hub.md has the table of its decisions.
 */
export function decide(access: Access, caller: Caller | null, subject: Subject = { target: null }): Decision {
  if (access === 'public') return 'permitted';
  if (caller === null) return 'token required';
  if (typeof access === 'string') return mayAct(access, caller) ? 'permitted' : 'refused';
  const { target } = subject;
  const permissions = target ? permissionsOn(target, caller) : [];
  if ('each' in access) return permissions.includes(access.each) ? 'permitted' : 'omitted';
  if ('build' in access) {
    const isOwn = !access.claimed || subject.claimedBy === caller.id;
    return isOwn && permissions.includes(access.build) ? 'permitted' : 'unknown';
  }
  if (access.create && caller.role !== 'owner' && caller.role !== 'member') return 'refused';
  if (access.create && subject.creates) return mayTakeName(subject.holder ?? target, caller) ? 'permitted' : 'refused';
  if (!permissions.includes('read')) return 'unknown';
  return permissions.includes(access.target) ? 'permitted' : 'refused';
}

function mayAct(access: 'signed in' | 'owner' | 'auditor', { role, auditor }: Caller): boolean {
  return access === 'signed in' || role === 'owner' || (access === 'auditor' && auditor);
}

/** A name stays with the last target that had it, so that a refusal does not tell whether there is one now. */
function mayTakeName(holder: TargetAccess | null, caller: Caller): boolean {
  return holder === null || permissionsOn(holder, caller).includes('change');
}

/** Reports whether the caller may put targets into a storage profile: owners always, members where a group of theirs is named. */
export function mayUseProfile({ target_groups }: { target_groups: string[] | null }, caller: Caller): boolean {
  return caller.role === 'owner' || target_groups === null || intersects(caller.groups, target_groups);
}

/**
 * Returns the permissions of a caller on a target. None: the target does not exist for the caller. `database/targets/visible-targets.ts`
 * has the same rule for lists, in SQL.
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

function mayManage({ builder_groups }: TargetAccess, { groups }: Caller): boolean {
  return builder_groups.length === 0 || intersects(groups, builder_groups);
}

function intersects(some: string[], others: string[]): boolean {
  return some.some((one) => others.includes(one));
}
