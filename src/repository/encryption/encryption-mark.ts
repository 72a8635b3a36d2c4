import { UserError } from '../../runtime/errors.ts';
import { claim, foreignBucket, ownershipOf } from '../store/claim.ts';
import type { Store } from '../store/store.ts';
import { SealBroken } from './sealed-format.ts';

/** Marks a bucket's prefix as owned and as encrypted with one key, so that encrypted and plain content never mix. */
export interface EncryptionMark {
  check(): Promise<void>;
  /** Marks a new prefix before anything in it changes; throws when it has foreign files. */
  set(): Promise<void>;
}

/** At the top of an encrypted prefix; decrypting it verifies the key. */
const MARK = 'encrypted';

const MARK_TEXT = 'format 1\n';

/** For a storage profile without encryption: the file `encrypted` must not exist. */
export function clearMark(store: Store, profile: string): EncryptionMark {
  const check = async (): Promise<void> => {
    // GET instead of HEAD: an error without a body has no reason.
    if ((await store.read(MARK)) !== null) throw isEncrypted(store, profile);
  };
  return {
    check,
    async set() {
      await check();
      await claim(store, { refusal: (foreign) => foreignBucket({ name: store.name, profile, foreign }) });
    },
  };
}

export function sealedMark(store: Store, clear: Store, profile: string): EncryptionMark {
  async function isSet(): Promise<boolean> {
    const text = await store.read(MARK).catch((error) => {
      throw error instanceof SealBroken ? keyDiffers(store) : error;
    });
    return text !== null;
  }

  async function check(): Promise<void> {
    if (await isSet()) return;
    if ((await clear.list('snapshots')).length > 0) throw isNotEncrypted(store, profile);
  }

  return {
    check,
    async set() {
      if (await isSet()) return;
      await check();
      if ((await ownershipOf(clear)) === 'foreign') throw foreignBucket({ name: store.name, profile });
      await store.write(MARK, MARK_TEXT);
      // Another machine with another key may have written at the same time; the last writer wins.
      await isSet();
    },
  };
}

function keyDiffers({ name }: Store): UserError {
  return new UserError('encryption_key_differs', `${name} was encrypted with another key`, {
    hint: 'Set encryption_key of the storage profile to the key of this bucket, or use another prefix.',
  });
}

function isEncrypted({ name }: Store, profile: string): UserError {
  return new UserError('encryption_differs', `${name} is encrypted, and storage profile "${profile}" is not`, {
    hint: `Set storage_profiles.${profile}.encrypt: true and the encryption_key of this bucket.`,
  });
}

function isNotEncrypted({ name }: Store, profile: string): UserError {
  return new UserError(
    'encryption_differs',
    `${name} contains unencrypted snapshots, and storage profile "${profile}" has encrypt: true`,
    { hint: `Set another prefix and push again, or remove storage_profiles.${profile}.encrypt.` },
  );
}
