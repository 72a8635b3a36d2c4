import { build } from '../operations/build.ts';
import {
  applySanitize,
  hasSanitizeQuery,
  type PlannedSanitize,
  planSanitize,
} from '../operations/sanitize/sanitize.ts';
import type { Context } from '../runtime/context.ts';
import type { Call } from './tool.ts';

interface BuildRequest {
  target: string;
  note?: string | undefined;
}

interface PlannedBuild {
  plan: object;
  push: boolean;
  request: BuildRequest;
  /** Where the target has a query for it. */
  sanitize: PlannedSanitize | null;
}

export async function planBuild({ context, allow }: Call, request: BuildRequest): Promise<PlannedBuild> {
  const { target, note } = request;
  const push = allow.has('push');
  if (!hasSanitizeQuery(context, target)) {
    return { plan: { target, note: note ?? null, push, sanitize: null }, push, request, sanitize: null };
  }
  const sanitize = await planSanitize(context, { target, push, build: { ...(note !== undefined && { note }) } });
  return { plan: { target, note: note ?? null, push, sanitize: sanitize.plan }, push, request, sanitize };
}

/** As `tool build`. */
export async function applyBuild(context: Context, { request, push, sanitize }: PlannedBuild): Promise<object> {
  const { target, note } = request;
  if (!sanitize) return { snapshot: await build(context, { target, push, ...(note !== undefined && { note }) }) };
  const { snapshot: sanitized, original: snapshot, ...rest } = await applySanitize(context, sanitize);
  return { snapshot, sanitized, ...rest };
}
