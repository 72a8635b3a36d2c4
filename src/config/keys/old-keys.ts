import type { KeyPath } from '../tree.ts';

interface OldKey {
  /** The former path; `*` is any name. */
  at: string;
  /** The replacement, from the top or, behind a `*`, from there. */
  instead: string;
}

/** Keys of former versions, and common wrong guesses, with their replacement. */
const OLD_KEYS: OldKey[] = [
  // `schema_config` replaced the schema filters of single engines.
  ...['schema', 'schemas', 'include_schemas', 'pg_schemas'].map((key) => ({
    at: `targets.*.snapshot.${key}`,
    instead: 'snapshot.schema_config.include_schemas',
  })),
  { at: 'targets.*.snapshot.exclude_schemas', instead: 'snapshot.schema_config.exclude_schemas' },
  { at: 'targets.*.snapshot.use_default_schema', instead: 'snapshot.schema_config.use_default_schema' },
  { at: 'targets.*.schemas', instead: 'snapshot.schema_config.include_schemas' },
  { at: 'targets.*.schema_config', instead: 'snapshot.schema_config' },
  // Since 2.6, queries and destinations of all targets are below `override`.
  { at: 'san_query', instead: 'override.san_query' },
  { at: 'dst_db_url', instead: 'override.dst_db_url' },
  { at: 'targets.*.san_query', instead: 'sanitize.override_query' },
  { at: 'targets.*.override_query', instead: 'sanitize.override_query' },
  { at: 'targets.*.sanitize.san_query', instead: 'sanitize.override_query' },
  { at: 'targets.*.sanitize.query', instead: 'sanitize.override_query, or sanitize.query_file for a file' },
  // Since 2.7 the destination of shared snapshots has a default.
  { at: 'shared_target_dst_db_url', instead: 'defaults.shared_target_dst_db_url' },
  // Since 3.0 there are `cpus`.
  { at: 'cpus', instead: 'defaults.cpus' },
  ...['cpu', 'threads', 'jobs'].flatMap((key) => [
    { at: key, instead: 'defaults.cpus' },
    { at: `defaults.${key}`, instead: 'defaults.cpus' },
    { at: `targets.*.${key}`, instead: 'cpus' },
  ]),
  // URLs have the same name in all operations of a target; names of storage profiles differ.
  ...['snapshot', 'subset'].map((operation) => ({
    at: `targets.*.${operation}.src_db_url`,
    instead: `${operation}.src_url`,
  })),
  ...['snapshot', 'sanitize', 'subset', 'share'].map((operation) => ({
    at: `targets.*.${operation}.dst_db_url`,
    instead: `${operation}.dst_url`,
  })),
  { at: 'targets.*.share.storage_profile', instead: 'share.storage_profile_name' },
  { at: 'targets.*.sanitize.storage_profile_name', instead: 'sanitize.storage_profile' },
  { at: 'targets.*.snapshot.storage_profile', instead: 'storage_profile, beside snapshot' },
  { at: 'targets.*.snapshot.storage_profile_name', instead: 'storage_profile, beside snapshot' },
  { at: 'targets.*.storage_profile_name', instead: 'storage_profile' },
  ...['src_url', 'src_db_url'].map((key) => ({ at: `targets.*.${key}`, instead: 'snapshot.src_url' })),
  ...['dst_url', 'dst_db_url'].map((key) => ({ at: `targets.*.${key}`, instead: 'snapshot.dst_url' })),
  // Storage profiles name provider and credentials independently of a client.
  ...['type', 'kind'].map((key) => ({ at: `storage_profiles.*.${key}`, instead: 'provider' })),
  ...['awscli_profile', 'aws_cli_profile', 'aws_profile', 'profile'].map((key) => ({
    at: `storage_profiles.*.${key}`,
    instead: 'cli_profile',
  })),
  { at: 'storage_profiles.*.access_key_id', instead: 'access_key' },
  { at: 'storage_profiles.*.secret_access_key', instead: 'secret_key' },
];

const MAPS = new Set<unknown>(['targets', 'storage_profiles']);

export function replacementOf(path: KeyPath): string | null {
  const isNamed = MAPS.has(path[0]) && path.length > 2;
  const place = path.map((part, index) => (isNamed && index === 1 ? '*' : part)).join('.');
  const known = OLD_KEYS.find(({ at }) => at === place);
  if (!known) return null;
  return isNamed ? `${path[0]}.${path[1]}.${known.instead}` : known.instead;
}
