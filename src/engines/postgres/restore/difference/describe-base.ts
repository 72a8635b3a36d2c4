import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineContext } from '../../../engine-context.ts';
import type { DifferencePlan, TableWay } from '../../../facets/restore.ts';
import { noCrashSince } from '../../branches/base-copies.ts';
import { connect } from '../../connection/connect.ts';
import { CONTENTS } from '../../dump/archive-contents.ts';
import { digestDefinitions } from '../../dump/definitions-digest.ts';
import type { BaseMark } from '../../swap/mark.ts';
import { ARCHIVE } from '../rows/fill.ts';
import type { FillRun } from '../rows/filling.ts';
import { describeContents } from './contents.ts';

export type DescribedBase = Partial<Pick<BaseMark, 'contents' | 'no_crash_since'>>;

/** For the mark of the base copy; no contents where the archive's table of contents is not understood. */
export async function describeBase(
  context: EngineContext,
  fill: FillRun,
  { complete, deleted }: { complete: boolean; deleted: Record<string, number> },
): Promise<DescribedBase> {
  const { manifest, details, plan, directory, remoteTables = false, role } = fill;
  const definitions = complete ? digestDefinitions(await readFile(join(directory, ARCHIVE, CONTENTS))) : null;
  await using session = await connect(context, fill.url, fill);
  const { schemas, tables } = plan;
  const described = { manifest, details, schemas, tables, remoteTables, role, deleted };
  const contents = definitions === null ? undefined : await describeContents(session, { ...described, definitions });
  const since = await noCrashSince(session);
  const changed = fill.afterLoad && { obstacle: 'steps of after_load have changed the base copy' };
  return {
    ...(contents && { contents: { ...contents, ...changed } }),
    ...(since !== null && { no_crash_since: since }),
  };
}

/** Rows deleted from each table since it was loaded whole. */
export function deletedRows(from: DifferencePlan | undefined, ways: TableWay[] = []): Record<string, number> {
  const deleted = new Map(Object.entries(from?.deleted ?? {}));
  for (const { table, way, changed } of ways) {
    const rows = way === 'whole' ? 0 : (deleted.get(table) ?? 0) + (changed?.deleted ?? 0);
    if (rows > 0) deleted.set(table, rows);
    else deleted.delete(table);
  }
  return Object.fromEntries(deleted);
}
