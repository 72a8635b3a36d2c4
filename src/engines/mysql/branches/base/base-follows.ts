import type { MysqlSession } from '../../connection/session.ts';
import { BASE, OUTDATED } from '../../server/names.ts';
import { readAuxiliaryNames } from '../../server/server.ts';
import type { Rename } from '../../swap/journal-schema.ts';
import type { UndoCopyRecord } from '../../swap/undo-copy.ts';
import type { BranchMark } from '../branch-mark.ts';
import { findBaseRecord } from './base-record.ts';

/** Database that becomes the destination: a branch, or the undo copy. */
export type NextDestination = { mark: BranchMark } | { undoCopy: UndoCopyRecord };

/** A reset of the destination restores what its tables were made from, where that is still the base copy. */
export async function baseFollows(server: MysqlSession, destination: string, next: NextDestination): Promise<Rename[]> {
  const { of, base: database } = await readAuxiliaryNames(server, destination);
  const found = await findBaseRecord(server, { database, of });
  if (!found) return [];
  const { table, record } = found;
  const follows =
    'mark' in next
      ? next.mark.loaded_at === record.loaded_at && next.mark.snapshot === record.snapshot
      : next.undoCopy.has_base === true;
  const to = follows ? BASE : OUTDATED;
  return table === to ? [] : [{ from: [database, table], to: [database, to] }];
}
