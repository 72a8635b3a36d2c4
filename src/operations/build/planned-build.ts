import type { SnapshotRow, VerifiedRestore } from '../../results/results.ts';
import type { SanitizePlan, SanitizeResult } from '../../results/review/sanitize-results.ts';
import type { AllRead } from '../../results/row-reading.ts';
import type { Context } from '../../runtime/context.ts';
import { contentOf, type ExpectedContent } from '../expected-steps.ts';
import type { Planned } from '../planned.ts';
import { applySanitize, hasSanitizeQuery, type PlannedSanitize, planSanitize } from '../sanitize/sanitize.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { snapshotRow } from '../snapshots/snapshots.ts';
import { assertExcludes, type BuildRequest, build } from './build.ts';
import { readEvidence } from './evidence.ts';

export interface BuildAndSanitizeRequest extends Omit<BuildRequest, 'source'> {
  /** Default `true`: where the target has a query. */
  sanitize?: boolean;
  /** Restores the snapshot to sanitize with the rights of the loading user. */
  allowSuperuser?: boolean;
  /** Restores the snapshot, the sanitized one where there is one, as a proof. */
  verifyRestore?: boolean;
}

export interface BuildPlan {
  target: string;
  note: string | null;
  push: boolean;
  /** Why all rows are read; `null` where those that are proved to be unchanged since the last build are not. */
  all_read: AllRead | null;
  /** The content of the last snapshot, by which the duration is estimated. */
  content: ExpectedContent;
  /** `null`: nothing is sanitized. */
  sanitize: SanitizePlan | null;
}

export interface BuildResult extends Partial<Omit<SanitizeResult, 'original' | 'snapshot'>> {
  snapshot: SnapshotRow;
  sanitized?: SnapshotRow;
  restore?: VerifiedRestore;
}

export interface PlannedBuild extends Planned<BuildAndSanitizeRequest, BuildPlan> {
  sanitize: PlannedSanitize | null;
}

/** Plans a build and, where the target has a query, the sanitization of the new snapshot. */
export async function planBuild(context: Context, request: BuildAndSanitizeRequest): Promise<PlannedBuild> {
  const { target, note, push = true, full } = request;
  if (request.nullify) assertExcludes(context, request);
  const isSanitized = request.sanitize !== false && hasSanitizeQuery(context, target);
  const sanitize = isSanitized ? await planSanitize(context, sanitizeRequest(request)) : null;
  const { why: all_read } = await readEvidence(context, { target, full });
  const [last] = await localRepository(context).list(target);
  const content = contentOf(last && snapshotRow(context, last, 0), sanitize?.engine);
  const plan = { target, note: note ?? null, push, all_read, content, sanitize: sanitize?.plan ?? null };
  return { request, plan, planned_at: context.clock().toISOString(), sanitize };
}

function sanitizeRequest(request: BuildAndSanitizeRequest) {
  const { note, includeNeededSchemas, full, excludeRows, nullify, sanitize: _, verifyRestore: __, ...passed } = request;
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

export async function applyBuild(context: Context, planned: PlannedBuild): Promise<BuildResult> {
  const { target, cpus, verifyRestore: isProved } = planned.request;
  const built = await buildAndSanitize(context, planned);
  if (!isProved) return built;
  const { verifyRestore } = await import('../snapshots/verify/verify-restore.ts');
  const { restore } = await verifyRestore(context, { target, snapshot: (built.sanitized ?? built.snapshot).id, cpus });
  return { ...built, ...(restore && { restore }) };
}

async function buildAndSanitize(context: Context, { request, sanitize }: PlannedBuild): Promise<BuildResult> {
  if (!sanitize) {
    const { sanitize: _, allowSuperuser: __, verifyRestore: ___, ...passed } = request;
    return { snapshot: await build(context, passed) };
  }
  const { snapshot: sanitized, original: snapshot, ...rest } = await applySanitize(context, sanitize);
  return { snapshot, sanitized, ...rest };
}
