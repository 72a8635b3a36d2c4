import { EXIT, UserError } from '../../runtime/errors.ts';
import { claim, foreignBucket, ownershipOf } from '../claim.ts';
import type { Store } from '../store.ts';
import { SealBroken } from './sealed-format.ts';

/** Says whose a remote repository is, whether it is encrypted, and with which key: what is there is never mixed, nor taken for nothing. */
export interface EncryptionMark {
  /** Throws when the remote repository is not what the storage profile takes it for. */
  check(): Promise<void>;
  /** Marks a new remote repository, before anything is stored in it or removed from it; throws when it is of somebody else. */
  set(): Promise<void>;
}

/** Lies at the top of an encrypted remote repository; whoever can open it has the key of the remote repository. */
const MARK = 'encrypted';

const MARK_TEXT = 'format 1\n';

/** The mark of a remote repository that is not to be encrypted: there must be no `encrypted`. */
export function clearMark(store: Store, profile: string): EncryptionMark {
  const check = async (): Promise<void> => {
    // Asked for as a whole: of a refusal without a body nobody could say the reason.
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

/** The mark of a remote repository that is to be encrypted; `clear` is the bucket as it is. */
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
      // Somebody with another key may have done the same at the same moment; the last one has marked it.
      await isSet();
    },
  };
}

function keyDiffers({ name }: Store): UserError {
  return new UserError(`${name} was encrypted with another key`, {
    code: 'encryption_key_differs',
    exit: EXIT.configuration,
    hint: 'Set encryption_key of the storage profile to the key of those who share the bucket, or use another prefix.',
  });
}

function isEncrypted({ name }: Store, profile: string): UserError {
  return new UserError(`${name} is encrypted, and storage profile "${profile}" is not`, {
    code: 'shelf_encrypted',
    exit: EXIT.configuration,
    hint: `Set storage_profiles.${profile}.encrypt: true, with the encryption_key of those who push to it.`,
  });
}

function isNotEncrypted({ name }: Store, profile: string): UserError {
  return new UserError(`${name} holds snapshots that are not encrypted, and storage profile "${profile}" is`, {
    code: 'shelf_not_encrypted',
    exit: EXIT.configuration,
    hint: `Give it a prefix of its own, and push again what is to be there; or leave storage_profiles.${profile}.encrypt out.`,
  });
}
