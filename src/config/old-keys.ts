/** Keys of former versions and of kindred programs, with what has replaced them. */
interface OldKey {
  /** Where it stood; `*` is any name. */
  at: string;
  /** What to write instead. */
  instead: string;
}

const OLD_KEYS: OldKey[] = [
  // `schema_config` replaces earlier database-specific schema filtering.
  ...['schemas', 'include_schemas', 'pg_schemas', 'schema'].map((key) => ({
    at: `targets.*.snapshot.${key}`,
    instead: 'schema_config.include_schemas',
  })),
  { at: 'targets.*.snapshot.exclude_schemas', instead: 'schema_config.exclude_schemas' },
  { at: 'targets.*.snapshot.use_default_schema', instead: 'schema_config.use_default_schema' },
  { at: 'targets.*.schema_config', instead: 'snapshot.schema_config' },
  // 2.6.0: global overrides.
  { at: 'san_query', instead: 'override.san_query' },
  { at: 'dst_db_url', instead: 'override.dst_db_url' },
  { at: 'targets.*.san_query', instead: 'sanitize.override_query' },
  { at: 'targets.*.sanitize.query', instead: 'sanitize.override_query, or sanitize.query_file for a file' },
  { at: 'targets.*.sanitize.san_query', instead: 'sanitize.override_query' },
  { at: 'targets.*.sanitize.dst_db_url', instead: 'sanitize.dst_url' },
  { at: 'targets.*.sanitize.storage_profile_name', instead: 'sanitize.storage_profile' },
  { at: 'targets.*.snapshot.src_db_url', instead: 'snapshot.src_url' },
  { at: 'targets.*.snapshot.dst_db_url', instead: 'snapshot.dst_url' },
  { at: 'targets.*.snapshot.storage_profile', instead: 'storage_profile of the target, beside snapshot' },
  { at: 'targets.*.share.storage_profile', instead: 'share.storage_profile_name' },
  // 2.7.0 and 3.0: defaults.
  { at: 'shared_target_dst_db_url', instead: 'defaults.shared_target_dst_db_url' },
  { at: 'cpus', instead: 'defaults.cpus' },
  ...['threads', 'jobs', 'cpu'].flatMap((key) => [
    { at: key, instead: 'defaults.cpus' },
    { at: `targets.*.${key}`, instead: 'cpus' },
  ]),
];

/** What has replaced the key; `null` when nobody remembers it. */
export function replacementOf(path: readonly (string | number)[]): string | null {
  const place = path.map((part, index) => (path[0] === 'targets' && index === 1 ? '*' : part)).join('.');
  return OLD_KEYS.find(({ at }) => at === place)?.instead ?? null;
}
