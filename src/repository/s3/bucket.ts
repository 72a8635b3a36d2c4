import type { S3Client } from '@aws-sdk/client-s3';
import { clearEnvelope, type Envelope } from '../encryption/envelope.ts';
import { SealBroken } from '../encryption/sealed-format.ts';
import { TooLarge } from '../store/store.ts';
import type { Credentials } from './client.ts';
import type { BucketProfile } from './connection.ts';
import { attemptsFor, isMissing, storageError } from './errors.ts';
import { retry } from './retry.ts';

type Sdk = typeof import('./sdk.ts').sdk;

export interface S3Options {
  name: string;
  profile: BucketProfile;
  envelope?: Envelope;
  /** Default: a new one, which costs time and a connection. */
  client?: S3Client;
  signal: AbortSignal;
  credentials?: Credentials | undefined;
}

export interface S3Bucket {
  name: string;
  bucket: string;
  client: S3Client;
  sdk: Sdk;
  envelope: Envelope;
  /** The name in the bucket: prefix and envelope. */
  nameOf(key: string): string;
  keyOf(name: string): string | null;
  place(key: string): { Bucket: string; Key: string };
  /**
   * Retries until success or a permanent error. Rejects with an error that `isMissing` recognises, with SealBroken,
   * TooLarge or a UserError.
   */
  ask<Answer>(access: 'read' | 'write', request: Request<Answer>, signal?: AbortSignal): Promise<Answer>;
}

export type Request<Answer> = (options: { abortSignal: AbortSignal }) => Promise<Answer>;

export async function openS3Bucket(options: S3Options): Promise<S3Bucket> {
  const { name: profileName, profile, envelope = clearEnvelope, signal: whole, credentials } = options;
  const { createS3Client } = await import('./client.ts');
  const [{ sdk }, client] = await Promise.all([
    import('./sdk.ts'),
    options.client ?? createS3Client(profile, credentials),
  ]);
  const prefix = profile.prefix?.replaceAll(/^\/+|\/+$/g, '') ?? '';
  const name = `s3://${[profile.bucket, prefix].filter(Boolean).join('/')}`;
  const before = prefix ? `${prefix}/` : '';
  const nameOf = (key: string): string => `${before}${envelope.nameOf(key)}`;
  return {
    name,
    bucket: profile.bucket,
    client,
    sdk,
    envelope,
    nameOf,
    keyOf: (name) => envelope.keyOf(name.slice(before.length)),
    place: (key) => ({ Bucket: profile.bucket, Key: nameOf(key) }),
    async ask(access, request, signal = whole) {
      try {
        return await retry(() => request({ abortSignal: signal }), { signal, attempts: attemptsFor });
      } catch (error) {
        signal.throwIfAborted();
        if (isMissing(error) || error instanceof SealBroken || error instanceof TooLarge) throw error;
        throw storageError({ error, profile: profileName, bucket: name, access });
      }
    },
  };
}
