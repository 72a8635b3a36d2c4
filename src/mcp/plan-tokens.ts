import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { UserError } from '../runtime/errors.ts';

const LIFETIME_MS = 10 * 60_000;
const MOST = 100;

export interface PlanTokens {
  /** A token with which `tool` applies exactly this plan, once. */
  issue: (plan: TokenPlan & { planned: unknown }) => { token: string; expires_at: string };
  /** The plan of a token, which is used up by this; throws where it was issued for something else, or no longer counts. */
  take: <P>(token: string | undefined, plan: TokenPlan) => P;
}

interface TokenPlan {
  tool: string;
  /** The arguments of both tools. */
  given: object;
}

/** Tokens are of this process: another server knows none of them. */
export function createPlanTokens(clock: () => Date): PlanTokens {
  const issued = new Map<string, TokenPlan & { planned: unknown; expiresAt: number }>();
  return {
    issue({ tool, given, planned }) {
      const token = randomBytes(18).toString('base64url');
      const expiresAt = clock().getTime() + LIFETIME_MS;
      issued.set(token, { tool, given, planned, expiresAt });
      const [oldest] = issued.keys();
      if (issued.size > MOST && oldest !== undefined) issued.delete(oldest);
      return { token, expires_at: new Date(expiresAt).toISOString() };
    },
    take<P>(token = '', { tool, given }: TokenPlan): P {
      const found = issued.get(token);
      issued.delete(token);
      if (!found) throw tokenInvalid('The token of the plan is unknown or was used', tool);
      if (found.expiresAt <= clock().getTime()) throw tokenInvalid('The token of the plan has expired', tool);
      if (found.tool !== tool || !isDeepStrictEqual(found.given, given)) {
        throw tokenInvalid('The token is that of another plan', tool);
      }
      // Issued for this tool, whose plans have this type.
      return found.planned as P;
    },
  };
}

export function tokenInvalid(message: string, tool: string): UserError {
  return new UserError('plan_token_invalid', `${message}: nothing was changed`, {
    hint: `Call plan_${tool}, read the plan, then call ${tool} with the same arguments and its token. A token counts once, for ${LIFETIME_MS / 60_000} minutes.`,
  });
}
