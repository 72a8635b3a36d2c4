import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

export const IN_KEYCHAIN = 'keychain';

const SERVICE = 'tool';
/** A keychain may prompt its owner to unlock it. */
const TIMEOUT_MS = 30_000;

class KeychainUnavailable extends Error {
  override readonly name = 'KeychainUnavailable';
}

export async function readFromKeychain(file: string, secret?: string): Promise<string | null> {
  const account = await accountOf(file, secret);
  return withKeychain((keychain) => keychain.getPassword(SERVICE, account));
}

/** Stores a value and reads it back: some keychains forget at once. */
export async function writeToKeychain(file: string, value: string, secret?: string): Promise<void> {
  const account = await accountOf(file, secret);
  const kept = await withKeychain(async (keychain) => {
    await keychain.setPassword(SERVICE, account, value);
    return keychain.getPassword(SERVICE, account);
  });
  if (kept !== value) throw new KeychainUnavailable('it did not keep the key');
}

export async function removeFromKeychain(file: string, secret: string): Promise<void> {
  const account = await accountOf(file, secret);
  await withKeychain((keychain) => keychain.deletePassword(SERVICE, account));
}

export async function findKeychain(): Promise<{ ok: boolean; reason: string | null }> {
  try {
    await withKeychain((keychain) => keychain.getPassword(SERVICE, 'is anybody there'));
    return { ok: true, reason: null };
  } catch (error) {
    return { ok: false, reason: (error as Error).message };
  }
}

/** One name per file, also through links, and before it exists. */
async function accountOf(file: string, secret?: string): Promise<string> {
  const folder = await realpath(dirname(file)).catch(() => dirname(file));
  const path = await realpath(file).catch(() => join(folder, basename(file)));
  return secret === undefined ? path : `${path}#${secret}`;
}

type Keychain = typeof import('keytar');

async function withKeychain<T>(use: (keychain: Keychain) => Promise<T>): Promise<T> {
  if (process.platform === 'linux' && !hasSessionBus()) {
    throw new KeychainUnavailable('there is no D-Bus session (DBUS_SESSION_BUS_ADDRESS is not set)');
  }
  const keychain = await loadKeychain();
  const waiting = new AbortController();
  const tooLong = setTimeout(TIMEOUT_MS, undefined, { signal: waiting.signal }).then(() => {
    throw new KeychainUnavailable(`it has not answered for ${TIMEOUT_MS / 1000} seconds`);
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

/** Without a bus, libsecret would try to start one, which requires a display. */
function hasSessionBus(): boolean {
  const { DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: folder } = process.env;
  return Boolean(address) || (folder !== undefined && existsSync(join(folder, 'bus')));
}

/** An optional package, which requires a system library. */
async function loadKeychain(): Promise<Keychain> {
  try {
    const loaded: Keychain & { default?: Keychain } = await import('keytar');
    return loaded.default ?? loaded;
  } catch (error) {
    const [reason] = (error as Error).message.split('\n');
    throw new KeychainUnavailable(`the package keytar cannot be loaded: ${reason}`);
  }
}
