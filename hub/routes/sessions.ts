import type { Identity } from '../../src/cloud/contract/schemas.ts';
import { readAsset } from '../../src/runtime/package-files.ts';
import { recordEvent } from '../database/audit.ts';
import { countSignIn, forgetSignIn } from '../database/callers/refused-sign-ins.ts';
import {
  hashOf,
  insertServiceToken,
  insertSession,
  revokeToken,
  targetIdsOf,
  targetNames,
} from '../database/callers/tokens.ts';
import { saveUser, spendIdToken } from '../database/callers/users.ts';
import type { Connection } from '../database/database.ts';
import { signInOrigin } from '../http/rate-limits.ts';
import type { Hub } from '../hub.ts';
import { type Caller, isAuditor, roleOf } from '../permissions/access.ts';
import { Problem } from '../problem.ts';
import { ID_TOKEN_SECONDS, type ReceivedTokens } from '../sign-in/id-tokens.ts';
import type { Handlers } from './handler.ts';

export const SESSION_HOURS = 12;

/** A build of CI is over by then. */
const WORKFLOW_HOURS = 2;

/** Clients below are refused: they would not understand the answers. */
export const MIN_TOOL = '0.1.0';

export const sessionRoutes = {
  async root(_request, { settings: { signIn }, version }) {
    return { body: { version, min_tool: MIN_TOOL, sign_in: signIn } };
  },

  async openapi() {
    return { body: null, text: { type: 'application/json', content: readAsset('openapi.json') } };
  },

  async createSession({ body, address }, hub) {
    return limitedSignIn(address, hub, async () => ({ status: 201, body: await openSession(body, { address, hub }) }));
  },

  async endSession({ caller, address }, hub) {
    await endSession(hub, { caller, address });
    return { status: 204, body: null };
  },

  async me({ caller }, { db }) {
    return { body: await identityOf(db, caller) };
  },
} satisfies Partial<Handlers>;

/** Opens a session, unless too many sign-ins of the address were refused in the last minute. */
export async function limitedSignIn<Session>(
  address: string | null,
  hub: Hub,
  open: () => Promise<Session>,
): Promise<Session> {
  const origin = address === null ? null : signInOrigin(address);
  if (origin !== null) await assertSignInRate(origin, hub);
  let refused = false;
  try {
    return await open();
  } catch (error) {
    refused = isRefusal(error);
    throw error;
  } finally {
    if (origin !== null && !refused) await forgetSignIn(hub.db, origin);
  }
}

async function assertSignInRate(origin: string, { db, limits }: Hub): Promise<void> {
  const seconds = await countSignIn(db, origin, limits.refusedSignIns);
  if (seconds === 0) return;
  throw new Problem('cloud_busy', 'Too many sign-ins from this address were refused', {
    hint: `Try again in ${seconds} s.`,
    headers: { 'retry-after': String(seconds) },
  });
}

/** Errors that count as a refused sign-in; an unreachable provider does not count. */
function isRefusal(error: unknown): boolean {
  return error instanceof Problem && ['cloud_token_refused', 'not_permitted'].includes(error.code);
}

export async function endSession(
  { db, callers }: Hub,
  { caller, address }: { caller: Caller; address: string | null },
): Promise<void> {
  await revokeToken(db, caller.tokenId, { service: caller.kind === 'service' });
  callers.clear();
  await recordEvent(db, { by: caller, action: 'session.end', address });
}

interface SessionRequest {
  address: string | null;
  hub: Hub;
  /** Opens a session of the pages, whose token the API refuses. */
  page?: true;
}

/** Exchanges an ID token, once, for a session. */
export async function openSession(received: ReceivedTokens, { address, hub, page }: SessionRequest) {
  const identified = await hub.idTokens.identify(received);
  return hub.db.transaction().execute(async (transaction) => {
    const opened =
      identified.kind === 'user'
        ? await openUserSession(transaction, identified, { ...hub, page })
        : await openWorkflowSession(transaction, identified, { ...hub, page });
    const spentUntil = new Date(hub.clock().getTime() + 2 * ID_TOKEN_SECONDS * 1000);
    // A signature has several valid spellings; the signed text before it has one.
    const signed = received.id_token.slice(0, received.id_token.lastIndexOf('.'));
    if (!(await spendIdToken(transaction, hashOf(signed), spentUntil))) {
      throw new Problem('cloud_token_refused', 'The ID token was exchanged before', {
        hint: 'Sign in again: tool auth login',
      });
    }
    await recordEvent(transaction, { by: identified, action: 'session.create', address });
    return opened;
  });
}

type SessionOptions = Pick<Hub, 'settings' | 'clock'> & { page: true | undefined };

async function openUserSession(
  db: Connection,
  person: { issuer: string; subject: string; name: string; groups: string[] },
  { settings, clock, page }: SessionOptions,
) {
  const { issuer, subject, name, groups } = person;
  const user = await saveUser(db, { issuer, subject, name, groups });
  if (user.disabled_at !== null) {
    throw new Problem('not_permitted', `${user.name} is disabled`, {
      hint: 'An owner of the hub can enable the user.',
    });
  }
  const expiresAt = new Date(clock().getTime() + SESSION_HOURS * 3_600_000);
  const { token } = await insertSession(db, { userId: user.id, expiresAt, page: page === true });
  const rights = { role: roleOf(groups, settings), auditor: isAuditor(groups, settings) };
  const identity = { kind: 'user', id: user.id, name: user.name, groups, targets: null, ...rights } as const;
  return sessionOf(token, identity, expiresAt);
}

async function openWorkflowSession(
  db: Connection,
  { name, rule, subject, issuer }: { name: string; rule: { targets: string[] }; subject: string; issuer: string },
  { clock, page }: SessionOptions,
) {
  if (page) throw new Problem('not_permitted', 'The pages are for people');
  const ids = await targetIdsOf(db, rule.targets);
  const expiresAt = new Date(clock().getTime() + WORKFLOW_HOURS * 3_600_000);
  const service = { name, role: 'builder' as const, targetIds: [...ids.values()], expiresAt, subject, issuer };
  const { id, token } = await insertServiceToken(db, service);
  const identity = { kind: 'service', id, name, role: 'builder', auditor: false } as const;
  return sessionOf(token, { ...identity, groups: [], targets: [...ids.keys()] }, expiresAt);
}

function sessionOf(authtoken: string, identity: Omit<Identity, 'expires_at'>, expiresAt: Date) {
  const expires_at = expiresAt.toISOString();
  return { authtoken, expires_at, user: { ...identity, expires_at } };
}

async function identityOf(db: Connection, caller: Caller): Promise<Identity> {
  const { kind, id, name, role, auditor, groups, targetIds, expiresAt } = caller;
  const names = kind === 'service' ? [...(await targetNames(db, targetIds)).values()] : null;
  return { kind, id, name, role, auditor, groups, targets: names, expires_at: expiresAt.toISOString() };
}
