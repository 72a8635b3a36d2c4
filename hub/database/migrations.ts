import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The statements of each, in order. Each is compatible with the previous release, which serves until it is replaced: a
 * release adds, the next one removes.
 */
const STATEMENTS: Record<string, RawBuilder<unknown>[]> = {
  '0001-initial-schema': [
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
      subject text, issuer text,
      created_at timestamptz(3) NOT NULL DEFAULT now(), expires_at timestamptz NOT NULL, revoked_at timestamptz,
      CHECK ((user_id IS NULL) <> (role IS NULL)))`,
    sql`CREATE INDEX tokens_of_services ON tokens (created_at DESC, id DESC) WHERE user_id IS NULL`,
    sql`CREATE TABLE spent_id_tokens (hash bytea PRIMARY KEY, expires_at timestamptz NOT NULL)`,
    sql`CREATE TABLE storage_profiles (
      id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      name text NOT NULL UNIQUE, target_groups text[], settings jsonb NOT NULL, applied jsonb,
      revision bigint NOT NULL DEFAULT 1)`,
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
      trusted_keys text[], keep jsonb, schedule jsonb, pool text,
      webhook_url text, webhook_private boolean NOT NULL DEFAULT false,
      expected_every text CHECK (expected_every ~ '^[1-9][0-9]{0,3}[hdw]$'),
      expected_since timestamptz NOT NULL DEFAULT now(), late_since timestamptz,
      restore_expected_every text CHECK (restore_expected_every ~ '^[1-9][0-9]{0,3}[hdw]$'),
      restore_expected_since timestamptz NOT NULL DEFAULT now(), restore_late_since timestamptz,
      restored_at timestamptz(3), restored_snapshot text, restored_sanitized boolean,
      revision bigint NOT NULL DEFAULT 1, removed_at timestamptz)`,
    sql`CREATE UNIQUE INDEX targets_by_name ON targets (name) WHERE removed_at IS NULL`,
    sql`CREATE INDEX targets_by_any_name ON targets (name, removed_at)`,
    sql`CREATE INDEX targets_by_readers ON targets USING gin (reader_groups) WHERE removed_at IS NULL`,
    sql`CREATE INDEX targets_by_original_groups ON targets USING gin (original_groups) WHERE removed_at IS NULL`,
    sql`CREATE INDEX targets_by_builders ON targets USING gin (builder_groups) WHERE removed_at IS NULL`,
    sql`CREATE TABLE objects (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      target_id uuid NOT NULL REFERENCES targets, profile_id uuid NOT NULL REFERENCES storage_profiles,
      sha256 text NOT NULL, stored_sha256 text, stored_bytes bigint NOT NULL,
      state text NOT NULL CHECK (state IN ('expected', 'stored', 'removing')),
      touched_at timestamptz NOT NULL DEFAULT now(), deleted_at timestamptz,
      stored_by text, verified_at timestamptz, reported_at timestamptz, checked_at timestamptz,
      UNIQUE (target_id, profile_id, sha256))`,
    sql`CREATE INDEX objects_removing ON objects (target_id, deleted_at) WHERE state = 'removing'`,
    sql`CREATE INDEX objects_reported ON objects (reported_at) WHERE reported_at IS NOT NULL`,
    sql`CREATE TABLE snapshots (
      pk bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      target_id uuid NOT NULL REFERENCES targets, profile_id uuid NOT NULL REFERENCES storage_profiles,
      id text NOT NULL, created_at timestamptz(3) NOT NULL, sanitized boolean NOT NULL, headline jsonb NOT NULL,
      manifest_key text NOT NULL, manifest_sha256 text NOT NULL,
      published_at timestamptz(3) NOT NULL DEFAULT now(), missing_at timestamptz, removed_at timestamptz,
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
      at timestamptz NOT NULL DEFAULT now(), actor text NOT NULL, subject text, issuer text, action text NOT NULL,
      target text, object text, outcome text NOT NULL CHECK (outcome IN ('done', 'refused')), address text)`,
    sql`CREATE INDEX audit_events_newest ON audit_events (at DESC, id DESC)`,
    sql`CREATE INDEX audit_events_by_target ON audit_events (target, at DESC, id DESC)`,
    sql`CREATE TABLE sweeps (target_id uuid PRIMARY KEY REFERENCES targets, swept_at timestamptz NOT NULL)`,
    sql`CREATE TABLE refused_sign_ins (
      address text PRIMARY KEY, since timestamptz NOT NULL, refused integer NOT NULL)`,
    sql`CREATE TABLE builds (
      lease uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      job_id uuid NOT NULL, retry_count integer NOT NULL, pool text NOT NULL,
      target_id uuid NOT NULL REFERENCES targets, caller_id uuid NOT NULL, actor text NOT NULL,
      claimed_at timestamptz NOT NULL DEFAULT now(), ended_at timestamptz,
      outcome text CHECK (outcome IN ('done', 'failed', 'released')), snapshot text, code text, message text)`,
    sql`CREATE INDEX builds_of_job ON builds (job_id, claimed_at DESC)`,
    sql`CREATE INDEX builds_by_age ON builds (claimed_at)`,
  ],
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
