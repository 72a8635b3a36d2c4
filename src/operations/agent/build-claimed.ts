import { setInterval as everySoOften } from 'node:timers/promises';
import type { ClaimedBuild, FinishBody } from '../../cloud/contract/builds.ts';
import { redact } from '../../process/redact.ts';
import type { AgentBuild } from '../../results/agent-results.ts';
import type { RunEvent } from '../../results/events.ts';
import type { SanitizePlan } from '../../results/review/sanitize-results.ts';
import type { Context } from '../../runtime/context.ts';
import { EXIT, toUserError, UserError } from '../../runtime/errors.ts';
import { skipStep, startStep } from '../../runtime/events.ts';
import { printable } from '../../text/printable.ts';
import { build } from '../build/build.ts';
import { openCloud } from '../cloud/open-cloud.ts';
import { applySanitize, hasSanitizeQuery, planSanitize } from '../sanitize/sanitize.ts';
import { verifyRestore } from '../snapshots/verify/verify-restore.ts';

/** Called before a sanitization that replaces a database; throws to refuse it. */
export type ApproveSanitize = (plan: SanitizePlan) => Promise<void>;

export interface ClaimedOptions {
  claim: ClaimedBuild;
  verifyRestore: boolean;
  approve: ApproveSanitize;
}

/**
 * Builds a claimed target as `tool build` does, and publishes it on the hub. A failure is reported to the hub and returned.
 * When the signal is aborted, the build is given back. Step: `agent`, and those of a build.
 */
export async function buildClaimed(
  given: Context,
  { claim, verifyRestore: isProved, approve }: ClaimedOptions,
): Promise<AgentBuild> {
  const { target, id } = claim;
  const steps = closableSteps(given.report);
  const lost = new AbortController();
  const signal = AbortSignal.any([given.signal, lost.signal]);
  const context: Context = { ...published(given, target), report: steps.report, signal };
  await using _heartbeats = startHeartbeats(given, { claim, lost });
  const built = startStep(steps.report, 'agent', `Build target ${target} for the hub`);
  try {
    const snapshot = await buildTarget(context, target, approve);
    if (isProved) await verifyRestore(context, { target, snapshot });
    await finish(context, { claim, body: { outcome: 'done', lease: claim.lease, snapshot } }).catch((thrown) => {
      given.signal.throwIfAborted();
      // The snapshot is there: at worst the hub requests another one.
      const { message, code } = toUserError(thrown);
      given.report({ event: 'warning', code, message: `${message}. The hub may request the build again` });
    });
    built(`Built target ${target}: snapshot ${snapshot}`);
    return { target, build: id, outcome: 'done', exit: EXIT.done, snapshot, code: null };
  } catch (thrown) {
    if (given.signal.aborted) {
      await giveBack(given, claim);
      throw given.signal.reason;
    }
    const error = toUserError(lost.signal.aborted ? lost.signal.reason : thrown);
    const message = printable((given.hide ?? String)(redact(error.message))).slice(0, 1000);
    const code = /^[a-z][a-z0-9_]{0,59}$/.test(error.code) ? error.code : 'unexpected';
    steps.close();
    given.report({ event: 'warning', code, message: `Target ${target} was not built: ${message}` });
    if (!lost.signal.aborted) {
      const body = { outcome: 'failed', lease: claim.lease, code, message } as const;
      await finish(context, { claim, body }).catch((failed) => {
        given.signal.throwIfAborted();
        const { message: why, code: how } = toUserError(failed);
        given.report({ event: 'warning', code: how, message: `The failure could not be reported to the hub: ${why}` });
      });
    }
    return { target, build: id, outcome: 'failed', exit: error.exit, snapshot: null, code };
  }
}

/** The target of the file, whose snapshots go to the hub. */
function published(context: Context, target: string): Context {
  return { ...context, configuration: { ...context.configuration, published: target } };
}

/** The id of the snapshot that others load. */
async function buildTarget(context: Context, target: string, approve: ApproveSanitize): Promise<string> {
  if (!hasSanitizeQuery(context, target)) return (await build(context, { target })).id;
  const planned = await planSanitize(context, { target, build: {} });
  if (planned.plan.destination?.exists) await approve(planned.plan);
  return (await applySanitize(context, planned)).snapshot.id;
}

async function finish(context: Context, { claim, body }: { claim: ClaimedBuild; body: FinishBody }): Promise<void> {
  const client = await openCloud(context);
  await client.call('finishBuild', { parameters: { id: claim.id }, body });
}

/** Milliseconds; the hub waits a minute. */
const HEARTBEAT_EVERY = 20_000;

/** The hub has given the build to another agent, or takes no more of it. */
const LOST = ['cloud_conflict', 'cloud_unknown', 'cloud_token_refused', 'not_permitted'];

/** The build continues while the hub is unreachable: it needs the hub at its end only. */
function startHeartbeats(
  context: Context,
  { claim, lost }: { claim: ClaimedBuild; lost: AbortController },
): AsyncDisposable {
  const ended = new AbortController();
  const signal = AbortSignal.any([context.signal, ended.signal]);
  const beat = async (): Promise<void> => {
    const client = await openCloud({ ...context, signal }, { listing: true });
    const { id, lease } = claim;
    await client.call('heartbeatBuild', { parameters: { id }, body: { lease } });
  };
  const beats = async (): Promise<void> => {
    for await (const _ of everySoOften(HEARTBEAT_EVERY, undefined, { signal })) {
      await beat().catch((thrown) => {
        if (!signal.aborted && LOST.includes(toUserError(thrown).code))
          lost.abort(leaseLost(claim.target, toUserError(thrown)));
      });
    }
  };
  const beating = beats().catch(() => {});
  return {
    async [Symbol.asyncDispose]() {
      ended.abort();
      await beating;
    },
  };
}

/** Explains why a build was stopped, by the answer to its heartbeat. */
export function leaseLost(target: string, { code: answered, message }: UserError): UserError {
  const code = 'build_lease_lost';
  switch (answered) {
    case 'cloud_token_refused':
    case 'not_permitted':
      return new UserError(code, `The hub refuses the agent, so the build of target "${target}" was stopped`, {
        details: [message],
        hint: 'Give the agent a valid token of a builder of the target.',
      });
    case 'cloud_unknown':
      return new UserError(code, `The target "${target}" was removed from the hub, or the agent may not build it`);
    default:
      return new UserError(code, `The hub has given the build of target "${target}" to another agent, or ended it`, {
        hint: 'Heartbeats did not reach the hub for a minute.',
      });
  }
}

const GIVE_BACK_TIMEOUT = 5000;

/** So that another agent begins at once; otherwise it begins when the lease ends. */
async function giveBack(context: Context, claim: ClaimedBuild): Promise<void> {
  const signal = AbortSignal.timeout(GIVE_BACK_TIMEOUT);
  try {
    await finish({ ...context, signal }, { claim, body: { outcome: 'released', lease: claim.lease } });
  } catch {
    const message = `The build of target "${claim.target}" was not given back: another agent begins it in a minute or two`;
    context.report({ event: 'warning', code: 'build_not_released', message });
  }
}

/** Closes the steps that a failed build has begun: the agent continues. */
function closableSteps(report: Context['report']): { report: Context['report']; close: () => void } {
  const open = new Map<string, string>();
  return {
    report(event: RunEvent) {
      if (event.event === 'step') {
        if (event.state === 'started') open.set(event.step, event.label);
        else open.delete(event.step);
      }
      report(event);
    },
    close() {
      for (const [step, label] of [...open].reverse()) skipStep(report, step, label);
    },
  };
}
