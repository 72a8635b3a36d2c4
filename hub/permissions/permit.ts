import type { HubRoute } from '../../src/cloud/contract/route.ts';
import { recordEvent } from '../database/audit.ts';
import { findBuildSubject, unknownBuild } from '../database/builds/builds.ts';
import type { Connection } from '../database/database.ts';
import { findTarget, lockTarget, type TargetLock, type TargetRow } from '../database/targets/targets.ts';
import type { Hub } from '../hub.ts';
import { Problem } from '../problem.ts';
import { type Caller, decide, type Subject } from './access.ts';

export interface PermissionRequest {
  route: HubRoute;
  caller: Caller | null;
  /** Values of the path. */
  parameters: Record<string, string>;
  hub: Hub;
}

/** Refuses a caller whom no target permits this request; queries nothing. */
export function assertMayAsk(asked: PermissionRequest): void {
  const { access } = asked.route;
  if (typeof access === 'string' || 'create' in access) assertPermitted(asked, { target: null });
}

/**
 * Decides on a request for the object of its path, before anything else of the request is validated. Returns the target
 * that the caller may read, if any.
 */
export async function assertPermittedNow(asked: PermissionRequest): Promise<TargetRow | null> {
  const { route, caller, parameters, hub } = asked;
  const { access } = route;
  if (typeof access === 'string') return assertPermitted(asked, { target: null });
  // Targets of lists are decided on where they are read.
  if ('each' in access) return null;
  if ('target' in access) return assertPermitted(asked, { target: await findTarget(hub.db, parameters.name ?? '') });
  const subject = await findBuildSubject(hub.db, parameters.id ?? '', caller?.id ?? '');
  return assertPermitted(asked, subject);
}

/** Decides again, in the transaction that writes. */
export interface Permits {
  /** Locks the target of the request until the end of the transaction. Returns it as it is then. */
  permit(db: Connection, lock?: TargetLock): Promise<TargetRow>;
  /** Decides on what the transaction has locked itself. Returns the target if the caller may read it. */
  permitFound(subject: Subject & { target: TargetRow | null }): TargetRow | null;
}

export function permitsOf(asked: PermissionRequest, target: TargetRow | null): Permits {
  const { name = '' } = asked.parameters;
  return {
    async permit(db, lock = 'share') {
      const found = target && (await lockTarget(db, target.id, lock));
      const permitted = assertPermitted(asked, { target: found });
      if (permitted === null) throw unknownTarget(name);
      return permitted;
    },
    permitFound: (subject) => assertPermitted(asked, subject),
  };
}

function assertPermitted(
  { route: { access }, caller, parameters: { name = '' }, hub: { settings } }: PermissionRequest,
  subject: Subject & { target: TargetRow | null },
): TargetRow | null {
  const decision = decide(access, caller, subject);
  const isOfBuild = typeof access === 'object' && 'build' in access;
  const creates = typeof access === 'object' && 'target' in access && access.create === true;
  if (decision === 'permitted') return subject.target;
  if (decision === 'token required') throw tokenRequired();
  // The condition of the request decides: it creates the target, or changes a revision that there is not.
  if (decision === 'unknown' && creates) return null;
  if (decision !== 'refused') throw isOfBuild ? unknownBuild() : unknownTarget(name);
  const { ownerGroups, memberGroups, auditorGroups } = settings;
  if (access === 'owner') throw new Refusal('Only owners of the hub may do this', ownerGroups);
  if (access === 'auditor') {
    throw new Refusal('Only owners and auditors may read the audit', [...ownerGroups, ...auditorGroups]);
  }
  // Names no group of the target: it may be one that the caller may not read.
  if (creates) throw new Refusal(`You may not create or change target "${name}"`, [...ownerGroups, ...memberGroups]);
  const builders = subject.target?.builder_groups ?? [];
  const groups = builders.length > 0 ? builders : memberGroups;
  throw new Refusal(`You may not do this with target "${name}"`, [...ownerGroups, ...groups]);
}

/** Names the groups that would permit it, and goes to the audit. */
class Refusal extends Problem {
  constructor(detail: string, groups: string[]) {
    const named = [...new Set(groups)];
    const hint = named.length === 0 ? 'No group permits it.' : `It needs one of the groups: ${named.join(', ')}.`;
    super('not_permitted', detail, { hint });
  }
}

export function tokenRequired(): Problem {
  return new Problem('cloud_token_refused', 'The token is missing, unknown, expired or revoked', {
    hint: 'Sign in: tool auth login',
    headers: { 'www-authenticate': 'Bearer' },
  });
}

function unknownTarget(name: string): Problem {
  return new Problem('target_unknown', `There is no target "${name}", or it is not shared with you`);
}

/** Records a refusal, after the transaction of the request was rolled back. */
export async function recordRefusal(
  error: unknown,
  { route, caller, parameters, hub, address }: PermissionRequest & { address: string | null },
): Promise<void> {
  if (!(error instanceof Refusal) || caller === null) return;
  const refusal = { by: caller, action: `${route.method} ${route.path}`, outcome: 'refused' } as const;
  await recordEvent(hub.db, { ...refusal, target: parameters.name ?? null, address });
}
