import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The statements of each, in order. Each is compatible with the previous release, which serves until it is replaced: a
 * release adds, the next one removes.
 */
const STATEMENTS: Record<string, RawBuilder<unknown>[]> = {
  '0001-hub': [
    sql`CREATE TABLE users (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      issuer text NOT NULL, subject text NOT NULL, name text NOT NULL,
      groups text[] NOT NULL, disabled_at timestamptz, signed_in_at timestamptz NOT NULL,
      UNIQUE (issuer, subject))`,
    sql`CREATE TABLE tokens (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      hash bytea NOT NULL UNIQUE, name text NOT NULL,
      user_id uuid REFERENCES users ON DELETE CASCADE,
      role text CHECK (role IN ('owner', 'builder', 'reader')), target_ids uuid[],
      created_at timestamptz(3) NOT NULL DEFAULT now(), expires_at timestamptz NOT NULL, revoked_at timestamptz,
      CHECK ((user_id IS NULL) <> (role IS NULL)))`,
    sql`CREATE INDEX tokens_of_services ON tokens (created_at DESC, id DESC) WHERE user_id IS NULL`,
    sql`CREATE TABLE spent_id_tokens (hash bytea PRIMARY KEY, expires_at timestamptz NOT NULL)`,
    sql`CREATE TABLE storage_profiles (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      name text NOT NULL UNIQUE, settings jsonb NOT NULL, applied jsonb, revision bigint NOT NULL DEFAULT 1)`,
    sql`CREATE TABLE secrets (
      owner text NOT NULL CHECK (owner IN ('target', 'storage_profile')), owner_id uuid NOT NULL, field text NOT NULL,
      key_id text NOT NULL, wrapped_key bytea NOT NULL, nonce bytea NOT NULL, sealed bytea NOT NULL,
      salt text NOT NULL, digest text NOT NULL,
      PRIMARY KEY (owner, owner_id, field))`,
    sql`CREATE TABLE targets (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      name text NOT NULL, settings jsonb NOT NULL, applied jsonb,
      original_profile_id uuid REFERENCES storage_profiles, sanitized_profile_id uuid REFERENCES storage_profiles,
      reader_groups text[] NOT NULL, original_groups text[] NOT NULL, builder_groups text[] NOT NULL,
      revision bigint NOT NULL DEFAULT 1, removed_at timestamptz)`,
    sql`CREATE UNIQUE INDEX targets_by_name ON targets (name) WHERE removed_at IS NULL`,
    sql`CREATE INDEX targets_by_readers ON targets USING gin (reader_groups) WHERE removed_at IS NULL`,
    sql`CREATE INDEX targets_by_original_groups ON targets USING gin (original_groups) WHERE removed_at IS NULL`,
    sql`CREATE INDEX targets_by_builders ON targets USING gin (builder_groups) WHERE removed_at IS NULL`,
    sql`CREATE TABLE objects (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      target_id uuid NOT NULL REFERENCES targets, profile_id uuid NOT NULL REFERENCES storage_profiles,
      sha256 text NOT NULL, stored_sha256 text NOT NULL, stored_bytes bigint NOT NULL,
      state text NOT NULL CHECK (state IN ('expected', 'stored', 'removing')),
      touched_at timestamptz NOT NULL DEFAULT now(),
      UNIQUE (target_id, profile_id, sha256))`,
    sql`CREATE TABLE snapshots (
      pk bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      target_id uuid NOT NULL REFERENCES targets, profile_id uuid NOT NULL REFERENCES storage_profiles,
      id text NOT NULL, created_at timestamptz(3) NOT NULL, sanitized boolean NOT NULL, headline jsonb NOT NULL,
      manifest_key text NOT NULL, manifest_sha256 text NOT NULL, removed_at timestamptz,
      UNIQUE (target_id, id))`,
    sql`CREATE INDEX snapshots_newest ON snapshots (target_id, created_at DESC, pk DESC) WHERE removed_at IS NULL`,
    sql`CREATE INDEX snapshots_newest_sanitized ON snapshots (target_id, created_at DESC, pk DESC)
      WHERE removed_at IS NULL AND sanitized`,
    sql`CREATE INDEX snapshots_to_remove ON snapshots (removed_at) WHERE removed_at IS NOT NULL`,
    sql`CREATE TABLE snapshot_objects (
      snapshot_pk bigint NOT NULL REFERENCES snapshots ON DELETE CASCADE,
      object_id bigint NOT NULL REFERENCES objects ON DELETE RESTRICT,
      PRIMARY KEY (snapshot_pk, object_id))`,
    sql`CREATE INDEX snapshot_objects_by_object ON snapshot_objects (object_id)`,
    sql`CREATE TABLE audit_events (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      at timestamptz NOT NULL DEFAULT now(), actor text NOT NULL, action text NOT NULL,
      target text, object text, outcome text NOT NULL CHECK (outcome IN ('done', 'refused')), address text)`,
    sql`CREATE INDEX audit_events_newest ON audit_events (at DESC, id DESC)`,
    sql`CREATE INDEX audit_events_by_target ON audit_events (target, at DESC, id DESC)`,
  ],
  '0002-sweep': [
    // The manifest of an imported snapshot does not have it.
    sql`ALTER TABLE objects ALTER COLUMN stored_sha256 DROP NOT NULL, ADD COLUMN deleted_at timestamptz`,
    sql`CREATE INDEX objects_removing ON objects (target_id, deleted_at) WHERE state = 'removing'`,
    sql`ALTER TABLE snapshots ADD COLUMN missing_at timestamptz`,
    sql`CREATE TABLE sweeps (target_id uuid PRIMARY KEY REFERENCES targets, swept_at timestamptz NOT NULL)`,
    sql`CREATE TABLE refused_sign_ins (
      address text PRIMARY KEY, since timestamptz NOT NULL, refused integer NOT NULL)`,
  ],
  '0003-expected-every': [
    sql`ALTER TABLE targets ADD COLUMN expected_every text CHECK (expected_every ~ '^[1-9][0-9]{0,3}[hdw]$')`,
  ],
  '0004-retention': [
    sql`ALTER TABLE targets ADD COLUMN keep jsonb`,
    // Earlier snapshots get the time of the migration, so that their creation time counts.
    sql`ALTER TABLE snapshots ADD COLUMN published_at timestamptz(3) NOT NULL DEFAULT now()`,
  ],
  '0005-scheduled-builds': [
    sql`ALTER TABLE targets
      ADD COLUMN schedule jsonb, ADD COLUMN pool text, ADD COLUMN webhook_url text,
      ADD COLUMN expected_since timestamptz NOT NULL DEFAULT now(), ADD COLUMN late_since timestamptz`,
    sql`CREATE TABLE builds (
      lease uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      job_id uuid NOT NULL, retry_count integer NOT NULL, pool text NOT NULL,
      target_id uuid NOT NULL REFERENCES targets, caller_id uuid NOT NULL, actor text NOT NULL,
      claimed_at timestamptz NOT NULL DEFAULT now(), ended_at timestamptz,
      outcome text CHECK (outcome IN ('done', 'failed', 'released')), snapshot text, code text, message text)`,
    sql`CREATE INDEX builds_of_job ON builds (job_id, claimed_at DESC)`,
    sql`CREATE INDEX builds_by_age ON builds (claimed_at)`,
  ],
  '0006-object-checks': [
    sql`ALTER TABLE objects
      ADD COLUMN stored_by text, ADD COLUMN verified_at timestamptz,
      ADD COLUMN reported_at timestamptz, ADD COLUMN checked_at timestamptz`,
    sql`CREATE INDEX objects_reported ON objects (reported_at) WHERE reported_at IS NOT NULL`,
  ],
  '0007-permissions': [
    sql`ALTER TABLE audit_events ADD COLUMN subject text, ADD COLUMN issuer text`,
    sql`ALTER TABLE tokens ADD COLUMN subject text, ADD COLUMN issuer text`,
    sql`ALTER TABLE storage_profiles ADD COLUMN target_groups text[]`,
    sql`ALTER TABLE targets ADD COLUMN webhook_private boolean NOT NULL DEFAULT false`,
    // Owners alone could write them.
    sql`UPDATE targets SET webhook_private = true WHERE webhook_url LIKE 'http:%'`,
    sql`CREATE INDEX targets_by_any_name ON targets (name, removed_at)`,
  ],
  '0008-trusted-keys': [sql`ALTER TABLE targets ADD COLUMN trusted_keys text[]`],
  '0009-restores': [
    sql`ALTER TABLE targets
    ADD COLUMN restore_expected_every text CHECK (restore_expected_every ~ '^[1-9][0-9]{0,3}[hdw]$'),
    ADD COLUMN restore_expected_since timestamptz NOT NULL DEFAULT now(), ADD COLUMN restore_late_since timestamptz,
    ADD COLUMN restored_at timestamptz(3), ADD COLUMN restored_snapshot text, ADD COLUMN restored_sanitized boolean`,
  ],
  '0010-images': [
    sql`CREATE TABLE images (
      snapshot_pk bigint NOT NULL REFERENCES snapshots ON DELETE CASCADE, name text NOT NULL,
      manifest_key text NOT NULL, manifest_sha256 text NOT NULL, chunks integer NOT NULL,
      PRIMARY KEY (snapshot_pk, name))`,
    // The sweep of the previous release removes chunks: the image is incomplete then, and not offered.
    sql`CREATE TABLE image_objects (
      snapshot_pk bigint NOT NULL, name text NOT NULL, object_id bigint NOT NULL REFERENCES objects ON DELETE CASCADE,
      PRIMARY KEY (snapshot_pk, name, object_id),
      FOREIGN KEY (snapshot_pk, name) REFERENCES images ON DELETE CASCADE)`,
    sql`CREATE INDEX image_objects_by_object ON image_objects (object_id)`,
  ],
  // Pools of earlier releases have no event, so that they count for no member.
  '0011-pools': [sql`CREATE INDEX audit_events_of_pools ON audit_events (subject) WHERE action = 'pool.create'`],
};

export const MIGRATIONS: Record<string, Migration> = Object.fromEntries(
  Object.entries(STATEMENTS).map(([name, statements]) => [
    name,
    {
      async up(db: Kysely<unknown>) {
        for (const statement of statements) await statement.execute(db);
      },
    },
  ]),
);
