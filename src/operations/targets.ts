import { connectionUrl } from '../config/connection-url.ts';
import type { Context } from '../context.ts';
import type { DatabaseUrl, Engine } from '../engines/engine.ts';
import { engineForUrl } from '../engines/registry.ts';
import { toUserError } from '../errors.ts';
import { redact } from '../process/redact.ts';
import type { TargetRow } from '../results.ts';
import { findTarget } from './find-target.ts';
import { configuredDestination } from './load/destination.ts';
import { whyNotShared } from './sign-in/sharing.ts';
import { repositoryOf } from './snapshots/snapshots.ts';

/** A server that has not answered after so many milliseconds is called unreachable. */
const CHECK_TIMEOUT = 5000;

export interface TargetsRequest {
  /** Counts originals only, not what was made of them. */
  original?: boolean;
}

/** All targets as the configuration and the disk know them: no network, status `unchecked`. */
export async function listTargets(context: Context, { original = false }: TargetsRequest = {}): Promise<TargetRow[]> {
  const names = Object.keys(context.configuration.settings.targets);
  const rows = await Promise.all(names.map((name) => describeTarget(context, name)));
  return original ? Promise.all(rows.map((row) => withOriginals(context, row))) : rows;
}

async function withOriginals(context: Context, row: TargetRow): Promise<TargetRow> {
  const originals = (await repositoryOf(context).list(row.name)).filter(({ sanitized }) => !sanitized);
  return { ...row, snapshots: originals.length, last_snapshot_at: originals[0]?.created_at ?? null };
}

/** One target with its source's live state: status, latency, version, size; given up after 5 s. */
export async function checkTarget(context: Context, name: string): Promise<TargetRow> {
  const row = await describeTarget(context, name);
  if (row.status === 'denied') return row;
  const { configuration } = context;
  const probed = urlState(() =>
    row.type === 'share'
      ? configuredDestination(configuration, name)?.text
      : connectionUrl(configuration, `targets.${name}.snapshot.src_url`),
  );
  // Why a URL cannot be filled in or read is in the row already.
  if (probed.parsed === null) return row;
  const { engine, url } = probed.parsed;
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(CHECK_TIMEOUT)]);
  try {
    const probe = await engine.probe({ ...context, signal }, url);
    return { ...row, ...probe, error: probe.error === null ? null : redact(probe.error) };
  } catch (thrown) {
    context.signal.throwIfAborted();
    const error = signal.aborted ? `no answer within ${CHECK_TIMEOUT / 1000} s` : redact(toUserError(thrown).message);
    return { ...row, status: 'unreachable', error };
  }
}

async function describeTarget(context: Context, name: string): Promise<TargetRow> {
  const { configuration } = context;
  const target = findTarget(configuration, name);
  const source = urlState(() => connectionUrl(configuration, `targets.${name}.snapshot.src_url`));
  const destination = urlState(() => configuredDestination(configuration, name)?.text);
  const taken = await repositoryOf(context).takenAt(name);
  const notShared = await whyNotShared(context, name);
  return {
    name,
    title: target.name ?? name,
    type: target.share ? 'share' : 'local',
    engine: (source.parsed ?? destination.parsed)?.engine.id ?? null,
    src_url: source.parsed?.url.display ?? null,
    dst_url: destination.parsed?.url.display ?? null,
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

interface UrlState {
  parsed: { engine: Engine; url: DatabaseUrl } | null;
  error: string | null;
}

/** A URL that cannot be filled in or read is an error of its target and does not hide the other targets. */
function urlState(read: () => string | undefined): UrlState {
  try {
    const text = read();
    if (text === undefined) return { parsed: null, error: null };
    const engine = engineForUrl(text);
    return { parsed: { engine, url: engine.parseUrl(text) }, error: null };
  } catch (thrown) {
    return { parsed: null, error: redact(toUserError(thrown).message) };
  }
}
