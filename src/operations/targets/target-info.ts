import { connectionUrl } from '../../config/urls/connection-url.ts';
import { parseUrl } from '../../engines/registry.ts';
import { redact } from '../../process/redact.ts';
import type { TargetInfo } from '../../results/results.ts';
import type { Context } from '../../runtime/context.ts';
import { toUserError } from '../../runtime/errors.ts';
import { chosenQuery } from '../../sanitize/query.ts';
import { cpusFor } from '../cpus-for.ts';
import { configuredDestination, readIfSet, subsetDestination } from '../load/configured-destination.ts';
import { findTarget } from './find-target.ts';

/** All that the configuration says of a target, as `--info` shows it. Connects to nothing. */
export function targetInfo(context: Context, name: string): TargetInfo {
  const { configuration } = context;
  const { snapshot, sanitize, subset, share, sso_groups, storage_profile, allow_destination_of } = findTarget(
    configuration,
    name,
  );
  const urlAt = (key: string) => shown(() => connectionUrl(configuration, `targets.${name}.${key}`));
  return {
    source: urlAt('snapshot.src_url'),
    destination: shown(() => configuredDestination(configuration, name)?.text),
    destination_set_by: readIfSet(() => configuredDestination(configuration, name)?.chosenBy) ?? null,
    schema_config: snapshot?.schema_config ?? null,
    storage_profile: storage_profile ?? null,
    sanitize_query: chosenQuery(configuration, name)?.chosenBy ?? null,
    sanitize_destination: urlAt('sanitize.dst_url'),
    sanitize_storage_profile: sanitize?.storage_profile ?? null,
    subset_source: urlAt('subset.src_url'),
    subset_destination: subset ? shown(() => subsetDestination(configuration, name)?.text) : null,
    subset_tables: subset?.subset_tables?.map(({ table }) => table) ?? [],
    shared_storage_profile: share?.storage_profile_name ?? null,
    sso_groups: sso_groups ?? [],
    allow_destination_of: allow_destination_of ?? [],
    cpus: cpusFor(context, name),
  };
}

/** A URL without its password; of one that cannot be filled in or read, why. */
function shown(read: () => string | undefined): string | null {
  try {
    const text = read();
    return text === undefined ? null : parseUrl(text).display;
  } catch (thrown) {
    return redact(toUserError(thrown).message);
  }
}
