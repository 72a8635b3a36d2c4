import type { Configuration } from '../config/configuration.ts';
import { connectionUrl } from '../config/connection-url.ts';
import type { Context } from '../context.ts';
import { engineForUrl } from '../engines/registry.ts';
import { toUserError } from '../errors.ts';
import type { TargetRow } from '../results.ts';
import { findTarget } from './find-target.ts';
import { whyNotShared } from './sign-in/sharing.ts';
import { repositoryOf } from './snapshots/snapshots.ts';

/** A server that has not answered after so many milliseconds is called unreachable. */
const CHECK_TIMEOUT = 5000;

/** All targets as the configuration and the disk know them: no network, status `unchecked`. */
export async function listTargets(context: Context): Promise<TargetRow[]> {
  const names = Object.keys(context.configuration.settings.targets);
  return Promise.all(names.map((name) => describeTarget(context, name)));
}

/** One target with its source's live state: status, latency, version, size; given up after 5 s. */
export async function checkTarget(context: Context, name: string): Promise<TargetRow> {
  const row = await describeTarget(context, name);
  if (row.status === 'denied') return row;
  const field = row.type === 'share' ? 'share.dst_url' : 'snapshot.src_url';
  const text = connectionUrl(context.configuration, `targets.${name}.${field}`);
  if (text === undefined) return row;
  const engine = engineForUrl(text);
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(CHECK_TIMEOUT)]);
  try {
    return { ...row, ...(await engine.probe({ ...context, signal }, engine.parseUrl(text))) };
  } catch (thrown) {
    context.signal.throwIfAborted();
    const error = signal.aborted ? `no answer within ${CHECK_TIMEOUT / 1000} s` : toUserError(thrown).message;
    return { ...row, status: 'unreachable', error };
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
  };
}

/** A URL that cannot be filled in is told of, and does not hide the other targets. */
function urlState(
  configuration: Configuration,
  key: string,
): Pick<TargetRow, 'engine' | 'error'> & { display: string | null } {
  try {
    const text = connectionUrl(configuration, key);
    if (text === undefined) return { engine: null, display: null, error: null };
    const engine = engineForUrl(text);
    return { engine: engine.id, display: engine.parseUrl(text).display, error: null };
  } catch (thrown) {
    return { engine: null, display: null, error: toUserError(thrown).message };
  }
}
