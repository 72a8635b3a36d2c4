// Placeholder of the contract: replaced by types inferred from the valibot schema.
export interface Settings {
  secret_key?: string;
  working_directory: string;
  debug: boolean;
  authtoken?: string;
  override: { san_query?: string; dst_db_url?: string };
  defaults: { shared_target_dst_db_url?: string; cpus?: number };
  storage_profiles: Record<string, { provider: string; bucket: string }>;
  targets: Record<string, TargetSettings>;
}
export interface TargetSettings {
  name?: string;
  cpus?: number;
  storage_profile?: string;
  snapshot?: { src_url?: string; dst_url?: string; schema_config?: SchemaConfig };
  share?: { dst_url?: string; storage_profile_name?: string };
}
export interface SchemaConfig {
  include_schemas?: string[];
  exclude_schemas?: string[];
  use_default_schema?: boolean;
}
