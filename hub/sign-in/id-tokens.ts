import { createRemoteJWKSet, decodeJwt, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { readBounded } from '../../src/runtime/read-bounded.ts';
import { Problem } from '../problem.ts';
import type { BranchRule } from '../settings/parse-values.ts';
import type { HubSettings, SignInSettings } from '../settings/settings.ts';

/** An ID token is accepted so many seconds after its issue. */
export const ID_TOKEN_SECONDS = 600;

/** Clocks differ by so many seconds. */
const TOLERANCE = 30;

const TIMEOUT = 8000;

/** Characters of the name of a person, which cursors of lists contain. */
const LONGEST_NAME = 200;

/** Symmetric keys and `none` would let anybody sign. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** The holder of an ID token. */
export type TokenIdentity =
  | { kind: 'user'; issuer: string; subject: string; name: string; groups: string[] }
  | { kind: 'job'; issuer: string; subject: string; name: string; rule: BranchRule };

export interface ReceivedTokens {
  id_token: string;
  access_token?: string | undefined;
  /** The client that the ID token is for, where that is another than the one of `tool`. */
  clientId?: string;
}

export interface IdTokens {
  /** Throws `cloud_token_refused` when the provider did not issue it, and `not_permitted` for another branch. */
  identify(tokens: ReceivedTokens): Promise<TokenIdentity>;
}

interface Issuer {
  keys: JWTVerifyGetKey;
  issuer: string;
  userinfo: string | null;
}

/** Checks ID tokens against the keys of their issuer, which are fetched when they are needed. */
export function createIdTokens({ signIn, github, gitlab, publicUrl }: HubSettings): IdTokens {
  const jobIssuers = [
    { ...github, jobOf: workflowOf },
    { ...gitlab, jobOf: pipelineOf },
  ].filter(({ rules }) => rules.length > 0);
  const issuers = new Map<string, Promise<Issuer>>();
  const issuerAt = (url: string): Promise<Issuer> => {
    const known = issuers.get(url) ?? discover(url);
    issuers.set(url, known);
    // The next caller requests a failed document again.
    known.catch(() => issuers.delete(url));
    return known;
  };
  return {
    async identify({ id_token, access_token, clientId = signIn?.client_id }) {
      const unverified = claimsOf(id_token);
      const ofPerson = unverified.iss === signIn?.provider_url && !isOfJob(unverified);
      const jobs = ofPerson ? undefined : jobIssuers.find(({ issuer }) => issuer === unverified.iss);
      if (jobs && publicUrl !== null) {
        const claims = await verified(id_token, await issuerAt(jobs.issuer), publicUrl);
        const { issuer } = jobs;
        return { kind: 'job', issuer, subject: claims.sub ?? '', ...permittedJob(jobs.jobOf(claims), jobs.rules) };
      }
      if (signIn === null || clientId === undefined) throw refused('this hub trusts no provider');
      const issuer = await issuerAt(signIn.provider_url);
      const claims = await verified(id_token, issuer, clientId);
      if (isOfJob(claims)) throw refused('it is that of a job');
      if (Array.isArray(claims.aud) && claims.aud.length > 1 && claims.azp !== clientId) {
        throw refused('it is for another client');
      }
      return { kind: 'user', ...(await personOf(claims, { issuer, signIn, access_token })) };
    },
  };
}

async function discover(url: string): Promise<Issuer> {
  const document = await fetchJson(`${url}/.well-known/openid-configuration`);
  const { issuer, jwks_uri, userinfo_endpoint } = document;
  if (typeof issuer !== 'string' || typeof jwks_uri !== 'string') throw unavailable(url);
  if (issuer.replace(/\/+$/, '') !== url) throw unavailable(url);
  const keys = createRemoteJWKSet(new URL(jwks_uri), { timeoutDuration: TIMEOUT });
  return { keys, issuer, userinfo: typeof userinfo_endpoint === 'string' ? userinfo_endpoint : null };
}

async function verified(token: string, { keys, issuer }: Issuer, audience: string): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      clockTolerance: TOLERANCE,
      maxTokenAge: ID_TOKEN_SECONDS,
      requiredClaims: ['sub', 'iat', 'exp'],
    });
    return payload;
  } catch (error) {
    const code = (error as { code?: string }).code ?? '';
    // The keys could not be fetched: the token may be right.
    if (!code.startsWith('ERR_J') || code === 'ERR_JWKS_TIMEOUT') throw unavailable(issuer, error);
    throw refused(code === 'ERR_JWT_EXPIRED' ? 'it has expired, or is older than ten minutes' : 'it is not valid');
  }
}

/** Returns the claims of a token that is verified later. */
function claimsOf(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch {
    throw refused('it is not valid');
  }
}

/** GitLab signs tokens of jobs and of people as one issuer, and a job chooses the audience of its own. */
function isOfJob({ project_path }: JWTPayload): boolean {
  return project_path !== undefined;
}

async function personOf(
  claims: JWTPayload,
  { issuer, signIn, access_token }: { issuer: Issuer; signIn: SignInSettings; access_token: string | undefined },
) {
  const { sub = '' } = claims;
  const isWhole = claims[signIn.groups_claim] !== undefined;
  const more =
    !isWhole && access_token !== undefined && issuer.userinfo !== null
      ? await fetchJson(issuer.userinfo, { authorization: `Bearer ${access_token}` })
      : {};
  // OpenID Connect Core 1.0, section 5.3.4: it may be the access token of another user.
  if (Object.keys(more).length > 0 && more.sub !== sub) throw refused('the access token belongs to another user');
  const all: Record<string, unknown> = { ...more, ...claims };
  const groups = all[signIn.groups_claim];
  // Some providers let people choose the others: one that looks like an address would pass for it.
  const chosen = [all.preferred_username, all.name].filter((name) => typeof name === 'string' && !name.includes('@'));
  const names = [verifiedAddress(claims), verifiedAddress(more), ...chosen, sub];
  return {
    issuer: issuer.issuer,
    subject: sub,
    name: String(names.find((name) => typeof name === 'string')).slice(0, LONGEST_NAME),
    groups: (Array.isArray(groups) ? groups : [groups]).filter((group) => typeof group === 'string'),
  };
}

/** The address and its verification come from the same answer. */
function verifiedAddress({ email, email_verified }: Record<string, unknown>): unknown {
  return email_verified === true ? email : undefined;
}

/** The claims of a job of a service about itself. */
interface Job {
  service: string;
  repository: unknown;
  /** `refs/heads/main` */
  ref: unknown;
  event: unknown;
  /** Others run for a branch with what a stranger has proposed for it, such as pull_request_target. */
  events: string[];
  /** The variable with the rules. */
  variable: string;
}

// https://docs.github.com/en/actions/reference/security/oidc
function workflowOf({ repository, ref, event_name }: JWTPayload): Job {
  const events = ['push', 'schedule', 'workflow_dispatch'];
  return { service: 'github', repository, ref, event: event_name, events, variable: 'TOOL_HUB_GITHUB_BUILDERS' };
}

// https://docs.gitlab.com/ci/secrets/id_token_authentication/#token-payload
function pipelineOf({ project_path, ref_type, ref, pipeline_source }: JWTPayload): Job {
  return {
    ...{ service: 'gitlab', repository: project_path, event: pipeline_source, events: ['push', 'schedule', 'web'] },
    ref: ref_type === 'branch' ? `refs/heads/${String(ref)}` : `${String(ref_type)} ${String(ref)}`,
    variable: 'TOOL_HUB_GITLAB_BUILDERS',
  };
}

/** The repository and the branch, which must be those of a rule. */
function permittedJob(job: Job, rules: BranchRule[]): { name: string; rule: BranchRule } {
  const { service, repository, ref, event, events, variable } = job;
  const rule = rules.find((one) => one.repository === repository && one.ref === ref);
  if (rule && !events.includes(String(event))) {
    throw new Problem('not_permitted', `A job started by ${String(event)} may not build`, {
      hint: `Start it by one of: ${events.join(', ')}.`,
    });
  }
  if (rule) return { name: `${service}:${rule.repository}@${rule.ref.slice('refs/heads/'.length)}`, rule };
  throw new Problem('not_permitted', `No rule of the hub permits ${String(repository)} at ${String(ref)} to build`, {
    hint: `${variable} names repositories and branches.`,
  });
}

const MOST_JSON_BYTES = 1024 * 1024;

async function fetchJson(url: string, headers: Record<string, string> = {}): Promise<Record<string, unknown>> {
  try {
    const response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const value: unknown = JSON.parse((await readBounded(response.body, MOST_JSON_BYTES)).toString());
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
    throw new Error('the response is not an object');
  } catch (error) {
    throw unavailable(new URL(url).origin, error);
  }
}

function refused(why: string): Problem {
  return new Problem('cloud_token_refused', `The ID token is refused: ${why}`, {
    hint: 'Sign in again: tool auth login',
  });
}

export function unavailable(provider: string, cause?: unknown, hint?: string): Problem {
  return new Problem('cloud_unavailable', `The hub cannot reach the identity provider ${provider}`, {
    headers: { 'retry-after': '5' },
    ...(hint !== undefined && { hint }),
    cause,
  });
}
