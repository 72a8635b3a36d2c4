import type { DatabaseUrl } from '../../database-url.ts';
import type { EngineContext } from '../../engine-context.ts';
import { readDependents } from '../catalog/definitions/foreign-keys.ts';
import { tablesOf } from '../catalog/tables.ts';
import { connect } from '../connection/connect.ts';
import { MARK } from '../connection/quote.ts';
import type { MysqlSession } from '../connection/session.ts';
import { withDatabase } from '../connection/url.ts';
import { createDatabase, databaseExists, dropEmpty, readAuxiliaryNames } from '../server/server.ts';
import { assertOwnDefiners } from '../swap/definers.ts';
import { exchange } from '../swap/exchange.ts';
import { assertNoForeignReferences } from '../swap/foreign-references.ts';
import type { Rename } from '../swap/journal-schema.ts';
import { settleAfterFailure } from '../swap/leftovers.ts';
import { createShadowDatabase, readMarkText, undoCopyOf, writeMark } from '../swap/shadow-databases.ts';
import { planMark } from '../swap/swap.ts';
import { UNDO_COPY, type UndoCopyRecord } from '../swap/undo-copy.ts';
import { type BranchMark, branchMarkText } from './branch-mark.ts';
import { packBranch, unpackBranch, unreadableCode } from './pack.ts';
import { sweepBranches } from './sweep.ts';

export interface SwitchTablesRequest {
  /** One that takes several statements in a packet, with the locks on the destination and on each branch. */
  server: MysqlSession;
  /** Called when nothing may interrupt the session any more. */
  begun: () => void;
  url: DatabaseUrl;
  /** Database that becomes the destination: a branch, or the undo copy with its record. */
  from: { database: string; undoCopy: UndoCopyRecord | null };
  /** The mark of the destination afterwards. */
  mark: BranchMark | null;
  /** The branch that the destination is at present, with its mark afterwards; otherwise its undo copy takes the tables. */
  leaving: BranchMark | null;
  /** Keeps the destination's own rights on routines: rights that a switch has brought are reverted by its undo. */
  keepsRights: boolean;
  /** Renames that keep the base copy that of the destination. */
  base: Rename[];
}

/** A branch and what has the destination's name change places, as those of a load do: by one statement, with a journal. */
export async function switchTables(context: EngineContext, given: SwitchTablesRequest): Promise<number> {
  const { server, url, from, leaving } = given;
  const destination = url.database ?? '';
  for (const database of [destination, from.database]) {
    await assertNoForeignReferences(server, database);
  }
  await assertMovableCode(context, server, url);
  try {
    const record = from.undoCopy ?? (await packBranch(context, server, { url, database: from.database }));
    const swapMs = await moveTables(context, given, record);
    if (leaving?.database) await unpackBranch(context, server, { url, database: leaving.database });
    if (!from.undoCopy) await dropEmpty(server, from.database);
    return swapMs;
  } catch (error) {
    // Gives the locks free for the session that cleans up.
    await server.close();
    const outcome = await settleAfterFailure(context, url, error);
    await sweepAfterFailure(context, url);
    throw outcome;
  }
}

/** Before the code of the branch is dropped: a user without the right for its definers could not recreate it as it was. */
async function assertMovableCode(context: EngineContext, server: MysqlSession, url: DatabaseUrl): Promise<void> {
  const destination = url.database ?? '';
  if (!(await databaseExists(server, destination))) return;
  await using session = await connect(context, url);
  const collations = await readDependents(session, destination, (what, why) => {
    throw unreadableCode(destination, what, why);
  });
  await assertOwnDefiners(context, server, { database: destination, destination, collations });
}

async function moveTables(context: EngineContext, given: SwitchTablesRequest, { code, grants }: UndoCopyRecord) {
  const { server, url, from, leaving, mark } = given;
  const destination = url.database ?? '';
  const names = await readAuxiliaryNames(server, destination);
  const made = !(await databaseExists(server, destination));
  const [work, retired] = [names.shadow(), names.shadow()];
  const to = leaving?.database ?? names.undo;
  const older = !made && !leaving && (await undoCopyOf(server, destination)) === 'ours' ? names.undo : null;
  await createShadowDatabase(server, { name: work, destination, collations: code });
  if (older) await createShadowDatabase(server, { name: retired, destination, collations: code });
  if (!made && !(await databaseExists(server, to))) await createDatabase(server, { name: to, collations: code });
  const tables = made ? [] : await tablesOf(server, destination);
  const arriving = (await tablesOf(server, from.database)).filter((table) => table !== UNDO_COPY);
  const old = older ? await tablesOf(server, older) : [];
  const renames: Rename[] = [
    ...tables.map((table, at): Rename => ({ from: [destination, table], to: [work, `tool-aside-${at}`] })),
    ...arriving.map((table): Rename => ({ from: [from.database, table], to: [destination, table] })),
    ...(await planMark(server, { destination, work, retired: work, mark: mark && branchMarkText(mark) })),
    ...((await readMarkText(server, from.database)) === null
      ? []
      : [{ from: [from.database, MARK], to: [work, 'tool-branch-mark'] } satisfies Rename]),
  ];
  if (leaving) await writeMark(server, { database: work, table: LEFT, comment: branchMarkText(leaving) });
  const later: Rename[] = [
    { from: [from.database, UNDO_COPY], to: [work, 'tool-retired'] },
    ...old.map((table, at): Rename => ({ from: [names.undo, table], to: [retired, `kept-${at}`] })),
    ...tables.map((table, at): Rename => ({ from: [work, `tool-aside-${at}`], to: [to, table] })),
    ...(made ? [] : [{ from: [work, UNDO_COPY], to: [to, UNDO_COPY] } satisfies Rename]),
    ...(leaving ? [{ from: [work, LEFT], to: [to, MARK] } satisfies Rename] : []),
    ...given.base,
  ];
  return await exchange(context, {
    ...{
      server,
      begun: given.begun,
      url,
      work,
      renames,
      later,
      made,
      code,
      grants: grants ?? [],
      keepsRights: given.keepsRights,
    },
    ...{ rows: { exchange: null, later: [] }, definers: 'theirs', keep: !made },
    obsolete: from.database === names.undo ? names.undo : null,
    obsoleteAfter: older ? [retired] : [],
    unreadable: (what, why) => unreadableCode(destination, what, why),
  });
}

/** The next mark of the branch that leaves. */
const LEFT = 'tool-branch-left';

const CLEAN_UP_TIMEOUT = 20_000;

async function sweepAfterFailure(context: EngineContext, url: DatabaseUrl): Promise<void> {
  const signal = AbortSignal.timeout(CLEAN_UP_TIMEOUT);
  await sweepBranches({ ...context, signal }, withDatabase(url, url.database ?? '')).catch(() => {
    const message = `Could not restore the branches of ${url.display}; the next command for them does`;
    context.report({ event: 'warning', code: 'leftover', message });
  });
}
