import { engineOf } from '../../../engines/registry.ts';
import type { Manifest } from '../../../repository/manifest/manifest.ts';
import { filesOf } from '../../../repository/repository.ts';
import type { VerifiedRestore, VerifyResult } from '../../../results/results.ts';
import type { Context } from '../../../runtime/context.ts';
import { UserError } from '../../../runtime/errors.ts';
import { recorded } from '../../history/recorded.ts';
import { afterLoadRunner, plannedAfterLoad } from '../../load/after-load.ts';
import { inScratchDatabase, type ScratchDatabase } from '../in-scratch-database.ts';
import { locationsOf } from '../remote-repositories.ts';
import { assertTrusted, type TrustChoice } from '../signatures.ts';
import { findSnapshot, type SnapshotRequest } from '../snapshots.ts';
import { pullFiles } from '../transfer/pull.ts';
import { type Expectation, isMet, parseExpectation } from './expectation.ts';

export interface VerifyRestoreRequest extends SnapshotRequest, TrustChoice {
  /** Runs the steps of `after_load`. */
  afterLoad?: boolean | undefined;
  /** One SELECT, which runs last. */
  query?: string | undefined;
  /** A comparison with the first value of the query: `> 1000`. */
  expect?: string | undefined;
  cpus?: number | undefined;
}

/**
 * Restores a snapshot, with all checks of a load, into a throw-away database, and removes it. A snapshot that cannot be
 * restored, a failed step and an unexpected value are errors. A hub of the target learns of the proof. Steps: those of a
 * load.
 */
export async function verifyRestore(context: Context, request: VerifyRestoreRequest): Promise<VerifyResult> {
  const { target } = request;
  const expectation = request.expect === undefined ? null : parseExpectation(request.expect);
  const { manifest, row, local, remote } = await findSnapshot(context, request);
  assertTrusted(context, manifest, request);
  if (request.query !== undefined) await assertOneStatement(manifest.engine, request.query);
  const files = filesOf(manifest);
  const began = performance.now();
  const work = async (): Promise<VerifiedRestore> => {
    if (!local && remote) await pullFiles(context, { manifest, remote, keep: false });
    return inScratchDatabase(context, { target, manifest, cpus: request.cpus }, async (scratch) => {
      const steps = await runSteps(context, request, scratch);
      const value = request.query === undefined ? undefined : await scratch.database.connect.readValue(request.query);
      if (value !== undefined && expectation) assertExpected(value, expectation, request.query ?? '');
      return {
        place: scratch.place,
        duration_ms: Math.round(performance.now() - began),
        ...(steps > 0 && { after_load_steps: steps }),
        ...(value !== undefined && { query_value: value }),
      };
    });
  };
  const known = { snapshot: manifest.id, sanitized: manifest.sanitized, size_bytes: row.size_bytes };
  const restore = await recorded(
    context,
    { operation: 'verify', target, ...known },
    { work, facts: ({ place }) => ({ to: place }) },
  );
  if (locationsOf(context, target).some((location) => 'cloudTarget' in location)) {
    const { reportRestore } = await import('../../cloud/report-restore.ts');
    await reportRestore(context, { target, snapshot: manifest.id });
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { target, snapshot: row, ok: true, files: files.length, bytes, problems: [], repaired: [], lost: [], restore };
}

async function runSteps(
  context: Context,
  { target, afterLoad = false }: VerifyRestoreRequest,
  { database, directory }: ScratchDatabase,
): Promise<number> {
  const choice = { target, afterLoad };
  const planned = plannedAfterLoad(context.configuration, choice);
  await afterLoadRunner(context, { choice, planned, directory })?.(database.url);
  return planned?.length ?? 0;
}

async function assertOneStatement(engine: Manifest['engine'], query: string): Promise<void> {
  const statements = await engineOf(engine).splitQuery(query);
  if (statements.length === 1 && !query.includes(';')) return;
  throw new UserError('invalid_value', '--query must be one SELECT without a semicolon');
}

function assertExpected(value: string | null, expectation: Expectation, query: string): void {
  if (isMet(value, expectation)) return;
  throw new UserError('value_unexpected', `The query returned ${value ?? 'NULL'}, expected ${expectation.text}`, {
    details: [query],
    hint: 'The snapshot can be restored, but its data are not the expected ones.',
  });
}
