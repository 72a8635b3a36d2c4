import { modeOf } from '../../config/mode.ts';
import { connectionUrl } from '../../config/urls/connection-url.ts';
import type { DatabaseUrl } from '../../engines/database-url.ts';
import { parseUrl } from '../../engines/registry.ts';
import { redact } from '../../process/redact.ts';
import { createYield } from '../../process/yielding.ts';
import type { LocalRepository } from '../../repository/local-repository.ts';
import type { HubState } from '../../results/cloud-results.ts';
import type { TargetRow } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { toUserError } from '../../runtime/errors.ts';
import { mapWithConcurrency } from '../../runtime/map-with-concurrency.ts';
import { rememberIdentities, type SeenSource } from '../identities.ts';
import { configuredDestination } from '../load/configured-destination.ts';
import { runningServers } from '../servers/list/list.ts';
import { withServers } from '../servers/list/with-servers.ts';
import { whyNotShared } from '../sign-in/sharing.ts';
import { localRepository } from '../snapshots/local-repository.ts';
import { checkDatabases } from './check-databases.ts';
import { withContents } from './contents.ts';
import { findTarget } from './find-target.ts';
import { withCopies } from './target-copies.ts';

/** Folders of snapshots that are read at a time. */
const LISTED_AT_ONCE = 16;

/** All targets as the configuration and the disk know them: no network, status `unchecked`. */
export async function listTargets(context: Context): Promise<TargetRow[]> {
  const names = Object.keys(context.configuration.settings.targets);
  const repository = localRepository(context);
  const letEventsIn = createYield();
  const rows = await mapWithConcurrency(names, LISTED_AT_ONCE, async (name) => {
    await letEventsIn();
    return describeTarget(context, { name, repository });
  });
  return withServers(rows, await runningServers(context));
}

/** Lists the targets after a run, which may have changed the copies of the destination of one. */
export async function listTargetsAfterRun(context: Context, target: string): Promise<TargetRow[]> {
  const rows = await listTargets(context);
  const own = rows.filter(({ name }) => name === target);
  const [row] = await withCopies(context, own);
  if (!row) return rows;
  const { copies = { base: null, spare: null, branches: null }, ...held } = await withContents(context, row);
  return rows.map((each) => (each.name === target ? { ...held, copies } : each));
}

/** One target with its source's live state: status, latency, version, size; given up after 5 s. */
export async function checkTarget(context: Context, name: string): Promise<TargetRow> {
  let found = await describeTarget(context, { name, repository: localRepository(context) });
  await checkTargets(context, {
    rows: [found],
    take: (row) => {
      found = row;
    },
  });
  return found;
}

export interface RefreshTargets extends Pick<CheckTargets, 'take'> {
  /** Called with all targets before any is checked; hands them back, the most urgent first. */
  listed: (rows: TargetRow[], hub: HubState | null) => TargetRow[] | Promise<TargetRow[]>;
}

/** Lists the targets, then checks them. */
export async function refreshTargets(context: Context, { listed, take }: RefreshTargets): Promise<void> {
  const asked = await queryHub(context);
  const rows = await listTargets(asked);
  context.signal.throwIfAborted();
  const latest = new Map<string, TargetRow>();
  await checkTargets(asked, {
    rows: await listed(rows, asked.configuration.hub ?? null),
    take(row) {
      latest.set(row.name, row);
      take(row);
    },
  });
  for (const row of await withCopies(asked, [...latest.values()])) if (row.copies) take(row);
}

/** The context with the targets of the hub as they are now; the same one in local mode, which loads nothing for it. */
export async function queryHub(context: Context): Promise<Context> {
  if (modeOf(context.configuration.settings) === 'local') return context;
  const { withCloudTargets } = await import('../cloud/cloud-targets.ts');
  return withCloudTargets(context);
}

export interface CheckTargets {
  /** Targets as they were listed, the most urgent first. */
  rows: TargetRow[];
  /** Called for each target, and once more when the size of its source is known. */
  take: (row: TargetRow) => void;
}

/** The targets with their sources' live states. What the sources say of themselves is remembered for the guard. */
export async function checkTargets(context: Context, { rows, take }: CheckTargets): Promise<void> {
  const checks: { row: TargetRow; key: string; url: DatabaseUrl }[] = [];
  const letEventsIn = createYield();
  for (const row of rows) {
    await letEventsIn();
    const key = `targets.${row.name}.snapshot.src_url`;
    const parsed = row.status === 'denied' ? null : checkedUrl(context, { row, key });
    if (parsed) checks.push({ row, key, url: parsed });
    else take(row);
  }
  const seen = new Map<string, SeenSource>();
  try {
    await checkDatabases(context, {
      urls: checks.map(({ url }) => url),
      sizes: true,
      take(index, { state, identity }) {
        const check = checks[index];
        if (!check) return;
        const { row, key, url } = check;
        take({ ...row, ...state, error: state.error === null ? null : hiddenText(context, state.error) });
        if (identity && row.type === 'local') seen.set(key, { key, url, identity });
      },
    });
  } finally {
    await rememberIdentities(context, [...seen.values()]);
  }
}

/** The source, or where a shared target is loaded; `null` where there is none that can be read: the row says why. */
function checkedUrl(context: Context, { row, key }: { row: TargetRow; key: string }): UrlState['parsed'] {
  const { configuration } = context;
  const chosen = (): string | undefined => {
    if (row.type === 'local') return connectionUrl(configuration, key);
    const destination = configuredDestination(configuration, row.name);
    // A list connects to no database that the hub names.
    const isOfHub = row.type === 'cloud' && destination?.chosenBy.startsWith('targets.');
    return isOfHub ? undefined : destination?.text;
  };
  return urlState(context, chosen).parsed;
}

async function describeTarget(
  context: Context,
  { name, repository }: { name: string; repository: LocalRepository },
): Promise<TargetRow> {
  const { configuration } = context;
  const target = findTarget(configuration, name);
  const source = urlState(context, () => shownSource(configuration, name));
  const destination = urlState(context, () => configuredDestination(configuration, name)?.text);
  const cloud = configuration.cloud?.get(name);
  const taken = await repository.takenAt(name);
  const notShared = await whyNotShared(context, name);
  return {
    name,
    title: target.name ?? name,
    type: cloud ? 'cloud' : target.share ? 'share' : 'local',
    engine: (source.parsed ?? destination.parsed)?.engine ?? null,
    src_url: source.parsed?.display ?? null,
    dst_url: destination.parsed?.display ?? null,
    storage_profile: target.storage_profile ?? target.share?.storage_profile_name ?? null,
    status: notShared === null ? 'unchecked' : 'denied',
    latency_ms: null,
    server_version: null,
    size_bytes: null,
    // The hub counts those that it has, of which some may be here, too.
    snapshots: Math.max(cloud?.snapshots ?? 0, taken.length),
    last_snapshot_at: [cloud?.last_snapshot_at ?? '', taken[0] ?? ''].sort().at(-1) || null,
    error: notShared ?? source.error ?? destination.error,
    error_code: notShared === null ? (source.error_code ?? destination.error_code) : 'not_shared',
    ...(cloud && {
      permissions: cloud.permissions,
      sso_groups: sharedWith(cloud.settings),
      late: cloud.late ?? false,
      last_restore: cloud.last_restore ?? null,
      restore_late: cloud.restore_late ?? false,
    }),
  };
}

/** The hub tells the groups to callers that may build the target. */
function sharedWith({ sso_groups: groups }: Record<string, unknown>): string[] {
  return Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [];
}

/** Returns the source; for a cloud target without the variables, which are those of the machine that builds it. */
function shownSource(configuration: Context['configuration'], name: string): string | undefined {
  const key = `targets.${name}.snapshot.src_url`;
  const blank = configuration.cloud?.has(name) ? configuration.blanks?.get(key) : undefined;
  return blank ?? connectionUrl(configuration, key);
}

function hiddenText({ hide = (same) => same }: Context, text: string): string {
  return hide(redact(text));
}

interface UrlState extends Pick<TargetRow, 'error' | 'error_code'> {
  parsed: DatabaseUrl | null;
}

/** A URL that cannot be filled in or read is an error of its target and does not hide the other targets. */
function urlState(context: Context, read: () => string | undefined): UrlState {
  try {
    const text = read();
    return { parsed: text === undefined ? null : parseUrl(text), error: null, error_code: null };
  } catch (thrown) {
    const { message, code } = toUserError(thrown);
    return { parsed: null, error: hiddenText(context, message), error_code: code };
  }
}
