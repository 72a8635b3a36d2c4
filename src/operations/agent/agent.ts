import { setTimeout as wait } from 'node:timers/promises';
import * as v from 'valibot';
import type { CloudClient } from '../../cloud/client.ts';
import { type ClaimedBuild, LONGEST_CLAIM, MOST_CLAIMED } from '../../cloud/contract/builds.ts';
import { PARAMETERS } from '../../cloud/contract/schemas.ts';
import type { AgentBuild, AgentResult } from '../../results/agent-results.ts';
import type { Context } from '../../runtime/context.ts';
import { toUserError, UserError } from '../../runtime/errors.ts';
import { openCloud } from '../cloud/open-cloud.ts';
import { type ApproveSanitize, buildClaimed } from './build-claimed.ts';

export interface AgentRequest {
  pool: string;
  /** Builds the due targets, then ends. */
  once: boolean;
  /** Restores each snapshot as a proof. */
  verifyRestore: boolean;
  approve: ApproveSanitize;
}

/** Milliseconds. */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 60_000;

/** The hub, or a proxy before it, may answer again later. */
const PASSING = ['cloud_unreachable', 'cloud_answer_invalid', 'agent_build_refused'];

/**
 * Takes builds from the hub, and runs them: targets of the file only, from their own sources. Without `once` it ends when
 * its signal is aborted.
 */
export async function runAgent(
  context: Context,
  { pool, once, verifyRestore, approve }: AgentRequest,
): Promise<AgentResult> {
  const { report, signal } = context;
  const targets = agentTargets(context);
  const builds: AgentBuild[] = [];
  const told = new Set<string>();
  let client: CloudClient | null = null;
  let pause = FIRST_PAUSE;
  while (true) {
    signal.throwIfAborted();
    // One run builds a target once, however often the hub offers it.
    const open = once ? targets.filter((name) => !builds.some(({ target }) => target === name)) : targets;
    if (open.length === 0) return { pool, builds };
    try {
      client ??= await openCloud(context, { repeated: !once });
      const { build, refused } = await claim(client, { pool, targets: open, wait: once ? 0 : LONGEST_CLAIM });
      for (const name of refused.filter((one) => open.includes(one) && !told.has(one))) {
        told.add(name);
        const message = `The hub offers no builds of target "${name}": it is unknown there, in another pool, or not permitted`;
        report({ event: 'warning', code: 'agent_target_refused', message });
      }
      if (pause > FIRST_PAUSE) report({ event: 'warning', code: 'agent_connected', message: 'The hub answers again' });
      pause = FIRST_PAUSE;
      if (build) {
        const result = await buildClaimed(context, { claim: build, verifyRestore, approve });
        if (!once) continue;
        builds.push(result);
      } else if (once) return { pool, builds };
    } catch (thrown) {
      signal.throwIfAborted();
      const error = toUserError(thrown);
      if (once || !PASSING.includes(error.code)) throw thrown;
      if (pause === FIRST_PAUSE) {
        report({ event: 'warning', code: error.code, message: `${error.message}. The agent tries again until it can` });
      }
      pause = Math.min(pause * 2, LONGEST_PAUSE);
      await wait(pause, undefined, { signal }).catch(() => {});
    }
  }
}

/** Targets that this machine can build by itself. */
function agentTargets({ configuration }: Context): string[] {
  const { targets } = configuration.settings;
  const own = Object.keys(targets).filter(
    (name) => targets[name]?.snapshot?.src_url !== undefined && v.is(PARAMETERS.name, name),
  );
  if (own.length > 0 && own.length <= MOST_CLAIMED) return own;
  const message =
    own.length === 0
      ? 'The configuration has no target that an agent can build'
      : `The configuration has ${own.length} targets, more than the ${MOST_CLAIMED} of an agent`;
  throw new UserError('agent_targets_invalid', message, {
    hint: 'An agent builds targets of its own file, from their snapshot.src_url.',
  });
}

/** An answer at once is no reason to ask again at once. */
const SHORTEST_CLAIM = 1000;

async function claim(
  client: CloudClient,
  asked: { pool: string; targets: string[]; wait: number },
): Promise<{ build: ClaimedBuild | null; refused: string[] }> {
  const started = performance.now();
  const { body } = await client.call('claimBuild', { body: asked });
  if (!body) throw client.invalid('the answer to a claim is empty');
  const { build, refused } = body;
  if (build && !asked.targets.includes(build.target)) throw buildRefused(build.target, client.endpoint);
  const left = SHORTEST_CLAIM - (performance.now() - started);
  if (!build && asked.wait > 0 && left > 0) await wait(left);
  return { build, refused };
}

function buildRefused(target: string, endpoint: string): UserError {
  return new UserError(
    'agent_build_refused',
    `The hub at ${endpoint} requests a build of target "${target}", which was not offered to it`,
    { hint: 'Check the hub: it must request only targets that the agent names.' },
  );
}
