import { isDeepStrictEqual } from 'node:util';
import type { DatabaseUrl } from '../../database-url.ts';
import { rowsOfAnother } from '../../shared/rows/only-rows.ts';
import type { MysqlSession } from '../connection/session.ts';
import { auxiliaryNames } from '../server/names.ts';
import { destinationName, isEmpty } from '../server/server.ts';
import { readRecord } from '../swap/record.ts';
import { readMarkText, undoCopyOf } from '../swap/shadow-databases.ts';
import { type RowsOf, UNDO_COPY, undoCopySchema } from '../swap/undo-copy.ts';
import { type BranchMark, parseBranchMark, withoutSwitch } from './branch-mark.ts';
import { findBranches, type MarkedBranch } from './list.ts';

/** The mark of the destination where it is a branch whose own name is free; a killed switch may leave it empty. */
export async function branchWithFreeName(server: MysqlSession, destination: string): Promise<BranchMark | null> {
  const mark = await ownMark(server, destination);
  return mark?.database && (await isEmpty(server, mark.database)) ? mark : null;
}

export async function ownMark(server: MysqlSession, destination: string): Promise<BranchMark | null> {
  const text = await readMarkText(server, destination);
  const mark = text === null ? null : parseBranchMark(text);
  return mark?.tool === 'branch' && mark.of === (await destinationName(server, destination)) ? mark : null;
}

/** The branch that the destination is; a reset gives a branch other content. */
export async function presentBranch(server: MysqlSession, destination: string): Promise<RowsOf | null> {
  const mark = await ownMark(server, destination);
  return mark && { name: mark.name, created_at: mark.created_at, reset_at: mark.reset_at };
}

/** Throws for rows of another branch than the destination is. Earlier releases did not keep which one it was. */
export async function assertRowsOf(server: MysqlSession, url: DatabaseUrl, rowsOf: RowsOf | null | undefined) {
  if (rowsOf === undefined || isDeepStrictEqual(rowsOf, await presentBranch(server, url.database ?? ''))) return;
  throw rowsOfAnother(url);
}

export interface LastSwitch {
  /** Mark of the branch that has the destination's name, for the time when it has its own name again. */
  leaving: BranchMark;
  switchedAt: string;
  /** Database that had the name before: another branch, or the undo copy. */
  before: { database: string; branch: MarkedBranch | null };
}

/** The switch that an undo reverts; `null` where the last change of the destination was none, or cannot be reverted. */
export async function lastSwitch(server: MysqlSession, destination: string): Promise<LastSwitch | null> {
  const mark = await branchWithFreeName(server, destination);
  const { switched_at: switchedAt, previous } = mark ?? {};
  if (!mark || !switchedAt) return null;
  const record = await readRecord(server, {
    database: auxiliaryNames(mark.of).undo,
    table: UNDO_COPY,
    schema: undoCopySchema,
  });
  // Rows were replaced since, which an undo puts back first.
  if (record?.rows && (previous === null || Date.parse(record.replaced_at) > Date.parse(switchedAt))) return null;
  const last = { leaving: withoutSwitch(mark), switchedAt };
  if (previous === null) {
    const { undo: database } = auxiliaryNames(mark.of);
    return (await undoCopyOf(server, destination)) === 'ours' ? { ...last, before: { database, branch: null } } : null;
  }
  const branch = (await findBranches(server, destination)).find(({ name }) => name === previous);
  return branch ? { ...last, before: { database: branch.database, branch } } : null;
}
