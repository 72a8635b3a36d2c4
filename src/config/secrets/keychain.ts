import { setTimeout } from 'node:timers/promises';

/** In the place of `secret_key`: the system's keychain holds it. */
export const IN_KEYCHAIN = 'keychain';

const SERVICE = 'tool';
/** A keychain may ask its owner to unlock it; one that says nothing for so long has nobody to ask. */
const PATIENCE = 30_000;

class KeychainUnavailable extends Error {
  override readonly name = 'KeychainUnavailable';
}

/** The key of a configuration file, by its absolute path; `null` when the keychain has none for it. */
export function readFromKeychain(file: string): Promise<string | null> {
  return withKeychain((keychain) => keychain.getPassword(SERVICE, file));
}

/** Keeps the key, and reads it back: a keychain that forgets at once is none. */
export async function writeToKeychain(file: string, secretKey: string): Promise<void> {
  const kept = await withKeychain(async (keychain) => {
    await keychain.setPassword(SERVICE, file, secretKey);
    return keychain.getPassword(SERVICE, file);
  });
  if (kept !== secretKey) throw new KeychainUnavailable('it did not keep the key');
}

/** Whether there is one that answers; the reason when there is none. */
export async function findKeychain(): Promise<{ ok: boolean; reason: string | null }> {
  try {
    await withKeychain((keychain) => keychain.getPassword(SERVICE, 'is anybody there'));
    return { ok: true, reason: null };
  } catch (error) {
    return { ok: false, reason: (error as Error).message };
  }
}

type Keychain = typeof import('keytar');

/** Rejects with KeychainUnavailable, in words, for whatever goes wrong. */
async function withKeychain<T>(use: (keychain: Keychain) => Promise<T>): Promise<T> {
  const loaded = await import('keytar').catch(() => null);
  if (loaded === null) throw new KeychainUnavailable('the package keytar is not installed for this system');
  const keychain = (loaded as { default?: Keychain }).default ?? loaded;
  if (process.platform === 'linux' && !process.env.DBUS_SESSION_BUS_ADDRESS) {
    throw new KeychainUnavailable('there is no D-Bus session (DBUS_SESSION_BUS_ADDRESS is not set)');
  }
  const waiting = new AbortController();
  const tooLong = setTimeout(PATIENCE, undefined, { signal: waiting.signal }).then(() => {
    throw new KeychainUnavailable(`it has not answered for ${PATIENCE / 1000} seconds`);
  });
  try {
    return await Promise.race([use(keychain), tooLong]);
  } catch (error) {
    if (error instanceof KeychainUnavailable) throw error;
    throw new KeychainUnavailable((error as Error).message.replaceAll('\n', ' '));
  } finally {
    waiting.abort();
    tooLong.catch(() => {});
  }
}
