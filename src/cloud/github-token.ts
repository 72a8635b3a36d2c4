import * as v from 'valibot';
import { UserError } from '../runtime/errors.ts';

const answer = v.object({ value: v.string() });

/** Reports whether the job of GitHub Actions may request an ID token (`permissions: id-token: write`). */
export function offersGithubToken(environment: NodeJS.ProcessEnv): boolean {
  return Boolean(environment.ACTIONS_ID_TOKEN_REQUEST_URL && environment.ACTIONS_ID_TOKEN_REQUEST_TOKEN);
}

/** Reports whether a job of CI can sign in to the hub without a stored secret. */
export function offersJobToken(environment: NodeJS.ProcessEnv): boolean {
  return Boolean(environment.TOOL_ID_TOKEN) || offersGithubToken(environment);
}

/** The ID token of the running job, for this audience. */
export async function githubToken(
  environment: NodeJS.ProcessEnv,
  { audience, signal }: { audience: string; signal: AbortSignal },
): Promise<string> {
  const url = new URL(environment.ACTIONS_ID_TOKEN_REQUEST_URL ?? '');
  url.searchParams.set('audience', audience);
  try {
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${environment.ACTIONS_ID_TOKEN_REQUEST_TOKEN}` },
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return v.parse(answer, await response.json()).value;
  } catch (error) {
    signal.throwIfAborted();
    throw new UserError('github_token_missing', 'GitHub Actions gives no ID token', {
      details: [(error as Error).message],
      hint: 'The job needs the permission id-token: write.',
    });
  }
}
