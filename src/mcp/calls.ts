import * as v from 'valibot';
import { redact, redactOwn } from '../process/redact.ts';
import type { RunEvent } from '../results/events.ts';
import type { Context } from '../runtime/context.ts';
import { interrupted, toUserError, UserError } from '../runtime/errors.ts';
import type { Report } from '../runtime/events.ts';
import { createSemaphore, type Semaphore } from '../runtime/semaphore.ts';
import { formatDuration } from '../text/format.ts';
import { shell } from '../text/shell-word.ts';
import type { Allowance } from './allowances.ts';
import { boundedAnswer, errorAnswer, type ToolAnswer } from './bounded-answer.ts';
import type { WriteCallLog } from './call-log.ts';
import { createPlanTokens, type PlanTokens, tokenInvalid } from './plan-tokens.ts';
import type { Tool, ToolResult } from './tool.ts';

const MOST_AT_ONCE = 8;

export interface CallsOptions {
  context: Context;
  tools: Tool[];
  allow: ReadonlySet<Allowance>;
  readOnly: boolean;
  log: WriteCallLog;
}

export interface CallRequest {
  name: string;
  given: unknown;
  /** The agent that calls. */
  owner: string;
  /** Aborted when the client cancels the request. */
  signal: AbortSignal;
  /** Called with the label of each step that begins or ends. */
  progress: (message: string) => void;
}

export interface CallOutcome {
  ok: boolean;
  answer: ToolAnswer;
}

export interface Calls {
  run: (request: CallRequest) => Promise<CallOutcome>;
  /** Aborts the calls that run, and resolves when they have ended. */
  end: () => Promise<void>;
}

/** Runs tools: checks arguments, writes the log, bounds results, and turns every failure into an answer. */
export function createCalls(options: CallsOptions): Calls {
  const session = { ...options, tokens: createPlanTokens(options.context.clock), inTurn: createSemaphore(1) };
  const ending = new AbortController();
  const running = new Set<Promise<CallOutcome>>();
  return {
    async run(request) {
      if (running.size >= MOST_AT_ONCE) return { ok: false, answer: errorAnswer(tooMany(), (text) => text) };
      const call = runCall(request, { ...session, ending: ending.signal });
      running.add(call);
      try {
        return await call;
      } finally {
        running.delete(call);
      }
    },
    async end() {
      ending.abort(interrupted());
      await Promise.allSettled(running);
    },
  };
}

interface CallSession extends CallsOptions {
  tokens: PlanTokens;
  inTurn: Semaphore;
  ending: AbortSignal;
}

async function runCall(request: CallRequest, session: CallSession): Promise<CallOutcome> {
  const { name, given, owner } = request;
  const { context, allow, log, ending } = session;
  const started = performance.now();
  const cancelled = new AbortController();
  const cancel = (): void => cancelled.abort(interrupted());
  request.signal.addEventListener('abort', cancel, { once: true });
  if (request.signal.aborted) cancel();
  const signal = AbortSignal.any([context.signal, ending, cancelled.signal]);
  const hideKnown = context.hide ?? ((text: string) => text);
  const end = (outcome: string): void =>
    log('call_ended', `${name} ${outcome} after ${formatDuration(performance.now() - started)}, by ${owner}`);
  try {
    log('call', `${name} ${JSON.stringify(withoutToken(given))}, by ${owner}`);
    signal.throwIfAborted();
    const { data, secret = {} } = await runTool(request, { ...session, signal });
    const answer = { ...boundedAnswer(data, (text) => hideKnown(redactOwn(text))), ...secret };
    end('done');
    return { ok: true, answer };
  } catch (thrown) {
    const error = toUserError(signal.aborted ? signal.reason : thrown);
    const shown = withoutSources(error, allow);
    try {
      end(`failed (${error.code}: ${error.message})`);
    } catch {
      // The answer below tells the same, and the next call is refused.
    }
    return { ok: false, answer: errorAnswer(shown, (text) => hideKnown(redact(text))) };
  } finally {
    request.signal.removeEventListener('abort', cancel);
  }
}

/** The result with the warnings of the run. */
async function runTool(
  { name, given, owner, progress }: CallRequest,
  { context, tools, allow, readOnly, tokens, inTurn, signal }: CallSession & { signal: AbortSignal },
): Promise<ToolResult> {
  const tool = findTool(name, { tools, allow, readOnly });
  const checked = checkArguments(tool, given);
  const warnings: object[] = [];
  const report = reportTo({ warnings, progress, also: context.report });
  const agent = { agent: true, localOnly: !allow.has('pull'), sanitizedOnly: !allow.has('originals') };
  const call = { context: { ...context, report, signal, ...agent }, owner, allow, readOnly, tokens, inTurn };
  const { data, ...rest } = await tool.run(call, checked);
  return { data: withWarnings(data, warnings, tool.warningsKey), ...rest };
}

export function isOffered({ effect, needs }: Tool, { allow, readOnly }: Pick<CallsOptions, 'allow' | 'readOnly'>) {
  return (effect === 'reads' || !readOnly) && (needs === undefined || allow.has(needs));
}

function findTool(name: string, { tools, allow, readOnly }: Pick<CallsOptions, 'tools' | 'allow' | 'readOnly'>): Tool {
  const tool = tools.find((each) => each.name === name);
  if (!tool)
    throw new UserError('tool_unknown', `There is no tool "${name.slice(0, 100)}"`, { hint: 'List the tools.' });
  if (readOnly && tool.effect !== 'reads') throw refusedReadOnly(name);
  if (tool.needs !== undefined && !allow.has(tool.needs)) throw notAllowed(name, tool.needs);
  return tool;
}

function checkArguments({ name, input }: Tool, given: unknown): object {
  const parsed = v.safeParse(input, given ?? {});
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const at = v.getDotPath(issue) ?? 'arguments';
  // Without its token a plan is not applied: the hint names the way to it.
  if (at === 'token') throw tokenInvalid(`${name} requires the token of a plan`, name);
  throw new UserError('invalid_value', `Invalid ${at} of ${name}: ${issue.message}`, {
    hint: `Read the input schema of ${name}.`,
  });
}

function withoutToken(given: unknown): unknown {
  const isObject = typeof given === 'object' && given !== null;
  return isObject && 'token' in given ? { ...given, token: '***' } : (given ?? {});
}

const MOST_WARNINGS = 20;

function reportTo({
  warnings,
  progress,
  also,
}: {
  warnings: object[];
  progress: CallRequest['progress'];
  also: Report;
}): Report {
  return (event: RunEvent) => {
    if (event.event === 'warning') {
      if (warnings.length < MOST_WARNINGS) warnings.push({ code: event.code, message: event.message });
    } else if (event.event === 'step') progress(event.label);
    also(event);
  };
}

function withWarnings(data: object, warnings: object[], key = 'warnings'): object {
  if (warnings.length === 0) return data;
  const own: unknown = Object.entries(data).find(([name]) => name === key)?.[1];
  return { ...data, [key]: [...(Array.isArray(own) ? own : []), ...warnings] };
}

/** The guard compares with sources for safety; what they are is not for an agent that may not touch them. */
function withoutSources(error: UserError, allow: ReadonlySet<Allowance>): UserError {
  if (error.code !== 'sources_unverified' || allow.has('sources')) return error;
  const { message, code, exit, hint } = error;
  return new UserError(code, message, { exit, hint });
}

function notAllowed(name: string, needs: Allowance): UserError {
  return new UserError('tool_not_allowed', `${name} is not allowed on this server`, {
    hint: `Only the person who configures the server can allow it: ${shell`tool mcp --allow ${needs}`}`,
  });
}

function refusedReadOnly(name: string): UserError {
  return new UserError('read_only', `${name} changes data, and the server was started with --read-only`, {
    hint: 'Only the person who configures the server can change that.',
  });
}

function tooMany(): UserError {
  return new UserError('too_many_calls', `${MOST_AT_ONCE} calls are running`, {
    hint: 'Wait until one of them has ended.',
  });
}
