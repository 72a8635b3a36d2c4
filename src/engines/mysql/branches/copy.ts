import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import type { BaseCopy } from '../../facets/copies.ts';
import type { ReplaceResult } from '../../facets/restore.ts';
import { closedBase } from '../../shared/base-copies.ts';
import { withServer } from '../connection/connect.ts';
import type { MysqlSession } from '../connection/session.ts';
import { withDatabase } from '../connection/url.ts';
import { loadThroughShadow } from '../restore/restore.ts';
import { readAuxiliaryNames } from '../server/server.ts';
import { fillFromBase, findBaseCopies } from './base/base-copies.ts';
import { findBaseRecord } from './base/base-record.ts';
import { takeSpareUnlessBusy } from './base/take-spare.ts';
import { type BranchMark, branchMarkText } from './branch-mark.ts';
import { provableStates, recordUnwrittenBranch } from './in-place/unwritten-tables.ts';

export interface BranchCopy {
  url: DatabaseUrl;
  database: string;
  /** Keeps what is replaced. Default: no. */
  undo?: boolean;
  /** Called under the lock on it, before anything is copied. */
  begin: (server: MysqlSession) => Promise<void>;
  accept: (base: BaseCopy) => void;
  mark: Omit<BranchMark, 'tool' | 'of' | 'snapshot' | 'loaded_at'>;
  onlyNew?: () => Error;
  /** Default: no. */
  mayTakeSpare?: boolean | undefined;
}

/**
 * Copies the base copy into a database beside the branch, whose tables then take their place as those of a load do.
 * Every table is compared with the record of the base copy, so that a load that replaces it meanwhile makes the copy
 * fail, and no lock has to keep loads away.
 */
export async function copyToBranch(context: EngineContext, copy: BranchCopy): Promise<ReplaceResult> {
  const { url, database, undo = false, begin, accept, onlyNew, mayTakeSpare = false } = copy;
  const { of, record, base } = await withServer(context, url, (server) => findBase(server, url));
  accept(base);
  const { snapshot, loaded_at } = record;
  const mark = branchMarkText({ tool: 'branch', of, ...copy.mark, snapshot, loaded_at });
  return loadThroughShadow(
    context,
    {
      url: withDatabase(url, database),
      undo,
      collations: record.definitions,
      fromBase: { spare: false },
      branch: { of, mark, onlyNew },
    },
    async ({ shadow, server, context: running }) => {
      await begin(server);
      if (!mayTakeSpare || !(await takeSpareUnlessBusy(running, { url, to: shadow, base: record }))) {
        await fillFromBase(running, { url, to: shadow, base: { name: base.name, record }, rowsLast: false });
      }
      const states = await provableStates(server, shadow);
      const evidence = { destination: url.database ?? '', database: base.name, base: record.id, branch: database };
      await recordUnwrittenBranch(server, { ...evidence, states });
      return { code: record.definitions, definers: record.definers, histograms: record.histograms };
    },
  );
}

/** The base copy of a destination that branches are made from; rejects where there is none, or it was changed. */
async function findBase(server: MysqlSession, url: DatabaseUrl) {
  const destination = url.database ?? '';
  const base = closedBase(await findBaseCopies(server, destination), url);
  const { of } = await readAuxiliaryNames(server, destination);
  const found = await findBaseRecord(server, { database: base.name, of });
  if (!found) throw new Error(`the record of ${base.name} is gone`);
  return { of, base, record: found.record };
}
