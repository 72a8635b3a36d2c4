import type { ColumnType, Generated, JSONColumnType, Selectable } from 'kysely';
import type { Schedule } from '../../src/cloud/contract/builds.ts';
import type { Keep } from '../../src/cloud/contract/keep-policy.ts';
import type { Headline } from '../../src/repository/headlines/headline.ts';

type Time = ColumnType<Date, Date | string, Date | string>;
type OptionalTime = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>;

interface Users {
  id: Generated<string>;
  issuer: string;
  subject: string;
  name: string;
  groups: string[];
  disabled_at: OptionalTime;
  signed_in_at: Time;
}

interface Tokens {
  id: Generated<string>;
  /** SHA-256 of the token. */
  hash: Buffer;
  name: string;
  /** The user of a session; a service token has a role and targets instead. */
  user_id: string | null;
  role: 'owner' | 'builder' | 'reader' | null;
  target_ids: string[] | null;
  /** Identity of the job of a service that signed in. */
  subject: string | null;
  issuer: string | null;
  created_at: Generated<Date>;
  expires_at: Time;
  revoked_at: OptionalTime;
}

interface SpentIdTokens {
  hash: Buffer;
  expires_at: Time;
}

interface StorageProfiles {
  id: Generated<string>;
  name: string;
  /** Groups whose members may put targets into it, besides owners; `null`: every member. */
  target_groups: string[] | null;
  settings: JSONColumnType<Record<string, unknown>>;
  applied: JSONColumnType<Record<string, unknown> | null>;
  revision: Generated<number>;
}

interface Secrets {
  owner: 'target' | 'storage_profile';
  owner_id: string;
  field: string;
  key_id: string;
  wrapped_key: Buffer;
  nonce: Buffer;
  sealed: Buffer;
  salt: string;
  digest: string;
}

interface Targets {
  id: Generated<string>;
  name: string;
  settings: JSONColumnType<Record<string, unknown>>;
  applied: JSONColumnType<Record<string, unknown> | null>;
  original_profile_id: string | null;
  sanitized_profile_id: string | null;
  reader_groups: string[];
  original_groups: string[];
  builder_groups: string[];
  /** One of which signs each sanitized snapshot; `null`: those of the hub. */
  trusted_keys: string[] | null;
  /** `24h`, `1d`, `2w`: an older newest snapshot is late. */
  expected_every: string | null;
  schedule: ColumnType<Schedule | null, string | null, string | null>;
  /** `null`: the default one. */
  pool: string | null;
  /** The shown part of the URL; the whole URL is sealed. */
  webhook_url: string | null;
  /** An owner wrote the webhook: it may lead to a private address. */
  webhook_private: Generated<boolean>;
  /** A target without a snapshot is due from here on. */
  expected_since: Generated<Date>;
  /** Set for a late target whose lateness was notified. */
  late_since: OptionalTime;
  /** An older last proved restore is late, as by `expected_every`. */
  restore_expected_every: string | null;
  restore_expected_since: Generated<Date>;
  restore_late_since: OptionalTime;
  /** Time of the last proved restore. */
  restored_at: OptionalTime;
  restored_snapshot: string | null;
  /** The proved snapshot is sanitized. */
  restored_sanitized: boolean | null;
  /** The policy that selects the snapshots to keep after a publication; `null` keeps all. */
  keep: ColumnType<Keep | null, string | null, string | null>;
  revision: Generated<number>;
  removed_at: OptionalTime;
}

interface Objects {
  id: Generated<number>;
  target_id: string;
  profile_id: string;
  sha256: string;
  /** `null` for an object that was imported: its manifest does not have it. */
  stored_sha256: string | null;
  stored_bytes: number;
  state: 'expected' | 'stored' | 'removing';
  touched_at: Generated<Date>;
  /** Time when the bucket deleted an object that is being removed. */
  deleted_at: OptionalTime;
  /** User or service that sent it. */
  stored_by: string | null;
  /** Time of the last check in which the content matched the name. */
  verified_at: OptionalTime;
  /** Reported as damaged, and not yet checked. */
  reported_at: OptionalTime;
  /** End of the last check of a report. */
  checked_at: OptionalTime;
}

interface Snapshots {
  pk: Generated<number>;
  target_id: string;
  profile_id: string;
  id: string;
  created_at: Time;
  sanitized: boolean;
  headline: JSONColumnType<Headline>;
  manifest_key: string;
  manifest_sha256: string;
  removed_at: OptionalTime;
  /** Since when the bucket lacks its manifest or an object; `removed_at` is set, too. */
  missing_at: OptionalTime;
  /** By the clock of the database. */
  published_at: Generated<Date>;
}

interface Sweeps {
  target_id: string;
  swept_at: Time;
}

interface RefusedSignIns {
  address: string;
  since: Time;
  refused: number;
}

interface SnapshotObjects {
  snapshot_pk: number;
  object_id: number;
}

interface Images {
  snapshot_pk: number;
  /** `15-linux-x64` */
  name: string;
  manifest_key: string;
  manifest_sha256: string;
  /** Distinct chunks. With fewer stored ones the image is not offered. */
  chunks: number;
}

interface ImageObjects {
  snapshot_pk: number;
  name: string;
  object_id: number;
}

/** One row a claim; the job is pg-boss's. */
interface Builds {
  lease: Generated<string>;
  job_id: string;
  /** Retry count of the job when it was claimed. */
  retry_count: number;
  pool: string;
  target_id: string;
  /** User or service. */
  caller_id: string;
  actor: string;
  claimed_at: Generated<Date>;
  ended_at: OptionalTime;
  /** `null` while it runs, or after its lease was lost. */
  outcome: 'done' | 'failed' | 'released' | null;
  snapshot: string | null;
  code: string | null;
  message: string | null;
}

interface AuditEvents {
  id: Generated<number>;
  at: Generated<Date>;
  actor: string;
  /** Identity of the actor; `null` in events of earlier releases and of the hub itself. */
  subject: string | null;
  /** Provider of the subject; `null` where the subject is the id of a service token. */
  issuer: string | null;
  action: string;
  target: string | null;
  object: string | null;
  outcome: 'done' | 'refused';
  address: string | null;
}

/** A row as it is read. */
export type RowOf<Table extends keyof Tables> = Selectable<Tables[Table]>;

/** The tables as `migrations.ts` makes them. */
export interface Tables {
  users: Users;
  tokens: Tokens;
  spent_id_tokens: SpentIdTokens;
  storage_profiles: StorageProfiles;
  secrets: Secrets;
  targets: Targets;
  objects: Objects;
  snapshots: Snapshots;
  snapshot_objects: SnapshotObjects;
  images: Images;
  image_objects: ImageObjects;
  sweeps: Sweeps;
  refused_sign_ins: RefusedSignIns;
  audit_events: AuditEvents;
  builds: Builds;
}
