import { randomBytes } from 'node:crypto';
import { profileOf } from '../../engines/list.ts';
import { type Database, openDatabase } from '../../engines/open-database.ts';
import { parseUrl } from '../../engines/registry.ts';
import type { RehearsalPlan } from '../../results/review/rehearsal-results.ts';
import type { Context } from '../../runtime/context.ts';
import { UserError } from '../../runtime/errors.ts';
import { shell } from '../../text/shell-word.ts';
import { applyBranchCreate, type PlannedBranches, planBranchCreate } from '../branch/create/create.ts';
import { openBranches } from '../branch/open-branches.ts';
import { removeServer } from '../servers/records.ts';
import { type PlannedUp, planUp, startPlanned } from '../servers/up/up.ts';
import type { WorkChoice } from './work.ts';

export interface PlaceRequest {
  target: string;
  destdb?: string | undefined;
  /** The agent that makes the request. */
  owner?: string | undefined;
  /** Keeps the branch. */
  keep?: boolean | undefined;
  /** Instead of a branch: a server of its own on an image, which ends with the rehearsal. */
  server?: boolean | undefined;
}

/** A branch on the server of the destination, or a server of its own. */
export type PlannedPlace = { create: PlannedBranches } | { up: PlannedUp };

interface PlaceOfPlan {
  planned: PlannedPlace;
  plan: Omit<RehearsalPlan, 'works' | 'keep' | 'limits' | 'workload'>;
  /** `null`: its server does not run yet. */
  database: Database | null;
  /** The last steps. */
  ends: string[];
}

/** A killed rehearsal leaves its branch, which `branch prune` drops after so many milliseconds. */
const EXPIRES_MS = 24 * 3_600_000;

export function planPlace(context: Context, request: PlaceRequest & WorkChoice): Promise<PlaceOfPlan> {
  return request.server ? planServer(context, request) : planBranch(context, request);
}

async function planBranch(context: Context, request: PlaceRequest & WorkChoice): Promise<PlaceOfPlan> {
  const { target, destdb, owner, keep = false } = request;
  const { database } = await openBranches(context, request);
  const name = `rehearsal-${randomBytes(4).toString('hex')}`;
  const create = await planBranchCreate(context, {
    ...{ target, name, destdb, owner },
    ...(!keep && { expiresMs: EXPIRES_MS }),
    // Steps that are rehearsed must not have run before.
    afterLoad: request.command !== undefined || request.sql !== undefined || request.sqlText !== undefined,
  });
  return {
    ...{ planned: { create }, plan: create.plan },
    database: onBranch(context, database, create),
    ends: keep ? [] : [`Drop branch ${name}`],
  };
}

async function planServer(context: Context, { target, destdb, keep }: PlaceRequest): Promise<PlaceOfPlan> {
  if (keep || destdb !== undefined) {
    throw new UserError('usage', '--server excludes --keep and --destdb', {
      hint: `Leave them out, or start a server that stays: ${shell`tool up ${target} --detach`}`,
    });
  }
  const up = await planUp(context, { target });
  const { snapshot, product, server_version, database, steps } = up.plan;
  const [scheme] = profileOf(snapshot.engine).schemes;
  const url = parseUrl(`${scheme}://127.0.0.1/${encodeURIComponent(database)}`).display;
  const destination = {
    url,
    host: '127.0.0.1',
    local: true,
    database,
    exists: false,
    size_bytes: null,
    connections: 0,
  };
  return {
    planned: { up },
    plan: {
      ...{ target, destination: { ...destination, server_version: `${product} ${server_version}` }, server: up.plan },
      ...{ base: null, load: snapshot, branches: [], existing: [], needs_bytes: null, git_branch: null },
      ...{ unverified_sources: [], warnings: [], steps },
    },
    database: null,
    ends: ['Stop the server, and remove its files'],
  };
}

/** The place of a running rehearsal. */
interface OpenedPlace {
  context: Context;
  name: string;
  database: Database;
  remove(): Promise<void>;
}

/** Steps: those of a branch, or of a server. */
export async function openPlace(given: Context, request: PlaceRequest, planned: PlannedPlace): Promise<OpenedPlace> {
  if ('up' in planned) {
    const { record, server } = await startPlanned(given, planned.up);
    const database = openDatabase(given, server.url);
    return { context: given, name: record.id, database, remove: () => removeServer(given, record) };
  }
  const { create } = planned;
  await applyBranchCreate(given, create);
  const { context, database } = await openBranches(given, request);
  const { name } = branchOf(create);
  return {
    context,
    name,
    database: onBranch(context, database, create),
    remove: () => dropBranch(given, request, name),
  };
}

function onBranch(context: Context, { engine, url }: Database, create: PlannedBranches): Database {
  return openDatabase(context, engine.withDatabase(url, branchOf(create).database));
}

function branchOf({ plan: { branches } }: PlannedBranches) {
  const [branch] = branches;
  if (!branch) throw new UserError('branch_missing', 'The rehearsal has no branch');
  return branch;
}

const DROP_TIMEOUT_MS = 60_000;

/** Also after an interruption, which must not end this. Its failure hides no other one. */
async function dropBranch(given: Context, request: PlaceRequest, name: string): Promise<void> {
  try {
    const { database } = await openBranches({ ...given, signal: AbortSignal.timeout(DROP_TIMEOUT_MS) }, request);
    await database.branches.drop(name);
  } catch (error) {
    const message = `Branch "${name}" is left: ${(error as Error).message}. To drop it: tool branch prune`;
    given.report({ event: 'warning', code: 'leftover', message });
  }
}
