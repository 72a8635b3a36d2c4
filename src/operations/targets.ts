import type { Configuration } from '../config/configuration.ts';
import { connectionUrl } from '../config/connection-url.ts';
import type { Context } from '../context.ts';
import type { DatabaseUrl } from '../engines/engine.ts';
import { engineForUrl } from '../engines/registry.ts';
import { toUserError } from '../errors.ts';
import type { TargetRow } from '../results.ts';
import { mapSideBySide } from '../snapshots/side-by-side.ts';
import { checkDatabases } from './check-databases.ts';
import { findTarget } from './find-target.ts';
import { rememberIdentities, type SeenSource } from './identities.ts';
import { whyNotShared } from './sign-in/sharing.ts';
import { repositoryOf } from './snapshots/snapshots.ts';

/** How many folders of snapshots are read at a time. */
const LISTED_AT_ONCE = 16;

/** All targets as the configuration and the disk know them: no network, status `unchecked`. */
export async function listTargets(context: Context): Promise<TargetRow[]> {
  const names = Object.keys(context.configuration.settings.targets);
  return mapSideBySide(names, LISTED_AT_ONCE, (name) => describeTarget(context, name));
}

/** One target with its source's live state: status, latency, version, size; given up after 5 s. */
export async function checkTarget(context: Context, name: string): Promise<TargetRow> {
  let found = await describeTarget(context, name);
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
  listed: (rows: TargetRow[]) => TargetRow[];
}

/** Lists the targets, then checks them. */
export async function refreshTargets(context: Context, { listed, take }: RefreshTargets): Promise<void> {
  const rows = await listTargets(context);
  context.signal.throwIfAborted();
  await checkTargets(context, { rows: listed(rows), take });
}

export interface CheckTargets {
  /** As they were listed, the most urgent first. */
  rows: TargetRow[];
  /** Called for each target, and once more when the size of its source is known. */
  take: (row: TargetRow) => void;
}

/** The targets with their sources' live states. What the sources say of themselves is remembered for the guard. */
export async function checkTargets(context: Context, { rows, take }: CheckTargets): Promise<void> {
  const checks = rows.flatMap((row): { row: TargetRow; key: string; url: DatabaseUrl }[] => {
    const key = `targets.${row.name}.${row.type === 'share' ? 'share.dst_url' : 'snapshot.src_url'}`;
    const url = row.status === 'denied' ? null : urlOf(context.configuration, key);
    if (url === null) take(row);
    return url === null ? [] : [{ row, key, url }];
  });
  const seen = new Map<string, SeenSource>();
  try {
    await checkDatabases(context, {
      urls: checks.map(({ url }) => url),
      sizes: true,
      take(index, { state, identity }) {
        const check = checks[index];
        if (!check) return;
        const { row, key, url } = check;
        take({ ...row, ...state });
        if (identity && row.type !== 'share') seen.set(key, { key, url, identity });
      },
    });
  } finally {
    await rememberIdentities(context, [...seen.values()]);
  }
}

/** `null` where there is no URL, or none that can be read: the row says why. */
function urlOf(configuration: Configuration, key: string): DatabaseUrl | null {
  try {
    const text = connectionUrl(configuration, key);
    return text === undefined ? null : engineForUrl(text).parseUrl(text);
  } catch {
    return null;
  }
}

async function describeTarget(context: Context, name: string): Promise<TargetRow> {
  const { configuration } = context;
  const target = findTarget(configuration, name);
  const source = urlState(configuration, `targets.${name}.snapshot.src_url`);
  const destination = urlState(configuration, `targets.${name}.${target.share ? 'share' : 'snapshot'}.dst_url`);
  const taken = await repositoryOf(context).takenAt(name);
  const notShared = await whyNotShared(context, name);
  return {
    name,
    title: target.name ?? name,
    type: target.share ? 'share' : 'local',
    engine: source.engine ?? destination.engine,
    src_url: source.display,
    dst_url: destination.display,
    storage_profile: target.storage_profile ?? target.share?.storage_profile_name ?? null,
    status: notShared === null ? 'unchecked' : 'denied',
    latency_ms: null,
    server_version: null,
    size_bytes: null,
    snapshots: taken.length,
    last_snapshot_at: taken[0] ?? null,
    error: notShared ?? source.error ?? destination.error,
    error_code: notShared === null ? (source.error_code ?? destination.error_code) : 'not_shared',
  };
}

/** A URL that cannot be filled in is told of, and does not hide the other targets. */
function urlState(
  configuration: Configuration,
  key: string,
): Pick<TargetRow, 'engine' | 'error' | 'error_code'> & { display: string | null } {
  try {
    const text = connectionUrl(configuration, key);
    if (text === undefined) return { engine: null, display: null, error: null, error_code: null };
    const engine = engineForUrl(text);
    return { engine: engine.id, display: engine.parseUrl(text).display, error: null, error_code: null };
  } catch (thrown) {
    const { message, code } = toUserError(thrown);
    return { engine: null, display: null, error: message, error_code: code };
  }
}
