import type { SnapshotRow } from '../../results/results.ts';
import type { AllRead } from '../../results/row-reading.ts';
import type { SanitizePlan, SanitizeResult } from '../../results/sanitize-results.ts';
import type { Context } from '../../runtime/context.ts';
import type { Planned } from '../planned.ts';
import { applySanitize, hasSanitizeQuery, type PlannedSanitize, planSanitize } from '../sanitize/sanitize.ts';
import { assertExcludes, type BuildRequest, build } from './build.ts';
import { readEvidence } from './evidence.ts';

export interface BuildAndSanitizeRequest extends Omit<BuildRequest, 'source'> {
  /** `true` fails without a sanitization query. Default: sanitize where the target has one. */
  sanitize?: boolean;
  /** Restores the snapshot to sanitize with the rights of the loading user. */
  allowSuperuser?: boolean;
  /** Goes on although sources could not be compared with the destination of the sanitization. */
}

export interface BuildPlan {
  target: string;
  note: string | null;
  push: boolean;
  /** Why all rows are read; `null` where those that are proved to be unchanged since the last build are not. */
  all_read: AllRead | null;
  /** `null`: nothing is sanitized. */
  sanitize: SanitizePlan | null;
}

export interface BuildResult extends Partial<Omit<SanitizeResult, 'original' | 'snapshot'>> {
  snapshot: SnapshotRow;
  sanitized?: SnapshotRow;
}

export interface PlannedBuild extends Planned<BuildAndSanitizeRequest, BuildPlan> {
  sanitize: PlannedSanitize | null;
}

/** Plans a build and, where the target has a query, the sanitization of the new snapshot. */
export async function planBuild(context: Context, request: BuildAndSanitizeRequest): Promise<PlannedBuild> {
  const { target, note, push = true, full } = request;
  if (request.nullify) assertExcludes(context, request);
  const isSanitized = request.sanitize !== false && (request.sanitize || hasSanitizeQuery(context, target));
  const sanitize = isSanitized ? await planSanitize(context, sanitizeRequest(request)) : null;
  const { why: all_read } = await readEvidence(context, { target, full });
  const plan = { target, note: note ?? null, push, all_read, sanitize: sanitize?.plan ?? null };
  return { request, plan, planned_at: context.clock().toISOString(), sanitize };
}

function sanitizeRequest(request: BuildAndSanitizeRequest) {
  const { note, includeNeededSchemas, full, excludeRows, nullify, sanitize: _, ...passed } = request;
  return {
    ...passed,
    build: {
      ...(note !== undefined && { note }),
      ...(includeNeededSchemas && { includeNeededSchemas }),
      ...(full && { full }),
      ...(excludeRows && { excludeRows }),
      ...(nullify !== undefined && { nullify }),
    },
  };
}

export async function applyBuild(context: Context, { request, sanitize }: PlannedBuild): Promise<BuildResult> {
  if (!sanitize) {
    const { sanitize: _, allowSuperuser: __, ...passed } = request;
    return { snapshot: await build(context, passed) };
  }
  const { snapshot: sanitized, original: snapshot, ...rest } = await applySanitize(context, sanitize);
  return { snapshot, sanitized, ...rest };
}
