import type { S3Client } from '@aws-sdk/client-s3';
import type { StorageProfile } from './providers.ts';
import { retry } from './retry.ts';
import type { Credentials } from './s3-client.ts';
import { attemptsFor, isMissing, storageError } from './s3-errors.ts';

type Sdk = typeof import('@aws-sdk/client-s3');

export interface S3Options {
  /** Name of the storage profile. */
  name: string;
  profile: StorageProfile;
  signal: AbortSignal;
  /** Where the profile has a role: its temporary ones. */
  credentials?: Credentials | undefined;
}

/** A bucket of an S3-compatible service, and how requests to it are made. */
export interface S3Bucket {
  /** For people: `s3://bucket/prefix`. */
  name: string;
  bucket: string;
  client: S3Client;
  sdk: Sdk;
  /** The key in the bucket: below the profile's prefix. */
  keyOf(key: string): string;
  /** What a command about one object begins with. */
  place(key: string): { Bucket: string; Key: string };
  /** Asks until there is an answer or no hope; what is missing is told by `isMissing`, the rest by UserErrors. */
  ask<Answer>(access: 'read' | 'write', request: Request<Answer>, signal?: AbortSignal): Promise<Answer>;
}

export type Request<Answer> = (options: { abortSignal: AbortSignal }) => Promise<Answer>;

export async function openS3Bucket({
  name: profileName,
  profile,
  signal: whole,
  credentials,
}: S3Options): Promise<S3Bucket> {
  const { createS3Client } = await import('./s3-client.ts');
  const [sdk, client] = await Promise.all([import('@aws-sdk/client-s3'), createS3Client(profile, credentials)]);
  const prefix = profile.prefix?.replaceAll(/^\/+|\/+$/g, '') ?? '';
  const name = `s3://${[profile.bucket, prefix].filter(Boolean).join('/')}`;
  const keyOf = (key: string): string => (prefix ? `${prefix}/${key}` : key);
  return {
    name,
    bucket: profile.bucket,
    client,
    sdk,
    keyOf,
    place: (key) => ({ Bucket: profile.bucket, Key: keyOf(key) }),
    async ask(access, request, signal = whole) {
      try {
        return await retry(() => request({ abortSignal: signal }), { signal, attempts: attemptsFor });
      } catch (error) {
        signal.throwIfAborted();
        if (isMissing(error)) throw error;
        throw storageError({ error, profile: profileName, bucket: name, access });
      }
    },
  };
}
