import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { placeOf } from '../../../config/rules/shared-originals.ts';
import type { Manifest } from '../../../repository/manifest/manifest.ts';
import type { ClearStorage } from '../../../results/configuration/configuration-results.ts';
import type { Context } from '../../../runtime/context.ts';
import { EXIT, UserError } from '../../../runtime/errors.ts';
import { shell } from '../../../text/shell-word.ts';
import { readState, writeState } from '../../working-state.ts';
import { locationFor } from '../remote-repositories.ts';

const fileSchema = v.strictObject({
  format: v.literal(1),
  encrypted: v.array(
    v.strictObject({ target: v.string(), sanitized: v.boolean(), profile: v.string(), place: v.string() }),
  ),
});

type EncryptedPush = v.InferOutput<typeof fileSchema>['encrypted'][number];

const FILE = { name: 'encrypted.json', schema: fileSchema };

type PushedSnapshot = Pick<Manifest, 'target' | 'sanitized'>;

/**
 * Refuses a push without encryption where earlier ones were encrypted: of the same target, to the same storage profile,
 * or to the same place. Independent of whether the configuration is trusted.
 */
export async function assertEncryptedPush(context: Context, pushed: PushedSnapshot, profile: string): Promise<void> {
  if (isEncrypted(context, profile)) return;
  const push = pushTo(context, pushed, profile);
  const before = (await readPushes(context)).find((one) => isSameStorage(one, push));
  if (before) throw notEncrypted(before, push);
}

export async function rememberEncryptedPush(context: Context, pushed: PushedSnapshot, profile: string): Promise<void> {
  if (!isEncrypted(context, profile)) return;
  const push = pushTo(context, pushed, profile);
  const known = await readPushes(context);
  if (known.some((one) => isDeepStrictEqual(one, push))) return;
  await writeState(context, FILE, { format: 1, encrypted: [...known, push] });
}

function isEncrypted({ configuration }: Context, profile: string): boolean {
  return configuration.settings.storage_profiles[profile]?.encrypt === true;
}

function pushTo({ configuration }: Context, { target, sanitized }: PushedSnapshot, profile: string): EncryptedPush {
  return { target, sanitized, profile, place: placeOf(configuration.settings, profile) };
}

function isSameStorage(one: EncryptedPush, other: EncryptedPush): boolean {
  const isSameTarget = one.target === other.target && one.sanitized === other.sanitized;
  return isSameTarget || one.profile === other.profile || one.place === other.place;
}

/** Accepts pushes to a storage profile without encryption, although earlier ones were encrypted. */
export async function allowClearStorage(context: Context, profile: string): Promise<ClearStorage> {
  const { configuration } = context;
  const { settings } = configuration;
  if (!Object.hasOwn(settings.storage_profiles, profile)) {
    throw new UserError('storage_profile_not_found', `storage profile '${profile}' not found`, {
      exit: EXIT.usage,
      hint: 'Define it below storage_profiles in the configuration.',
    });
  }
  const place = placeOf(settings, profile);
  const goesThere = ({ target, sanitized }: EncryptedPush): boolean => {
    if (!Object.hasOwn(settings.targets, target)) return false;
    const location = locationFor(context, target, { sanitized });
    return location !== null && 'profile' in location && location.profile === profile;
  };
  const known = await readPushes(context);
  const kept = known.filter((one) => one.profile !== profile && one.place !== place && !goesThere(one));
  await writeState(context, FILE, { format: 1, encrypted: kept });
  return { clear_storage: profile };
}

async function readPushes(context: Context): Promise<EncryptedPush[]> {
  try {
    return (await readState(context, FILE))?.encrypted ?? [];
  } catch (cause) {
    throw new UserError('encryption_unknown', `Earlier pushes are unknown: ${(cause as Error).message}`, {
      hint: 'Remove the file if storage profiles without encrypt were never encrypted.',
      cause,
    });
  }
}

function notEncrypted(before: EncryptedPush, { target, profile }: EncryptedPush): UserError {
  const earlier = `snapshots of "${before.target}" were stored encrypted with storage profile "${before.profile}"`;
  return new UserError(
    'encryption_removed',
    `Storage profile "${profile}" is not encrypted, but ${earlier}: "${target}" is not pushed`,
    {
      hint: `Set storage_profiles.${profile}.encrypt: true, or allow it: ${shell`tool trust --clear-storage ${profile}`}`,
    },
  );
}
