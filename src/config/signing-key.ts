import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UserError } from '../runtime/errors.ts';
import { createFile, ignoreMissing } from '../runtime/write-file.ts';
import { userConfigFile } from './paths.ts';

export function signingKeyFile(environment: NodeJS.ProcessEnv): string {
  return join(dirname(userConfigFile(environment)), 'signing-key.pem');
}

export async function signingKey(environment: NodeJS.ProcessEnv): Promise<KeyObject> {
  const path = signingKeyFile(environment);
  try {
    return (await readKey(path)) ?? (await makeKey(path));
  } catch (cause) {
    throw new UserError('signing_key_unusable', `The signing key ${path} is not usable: ${(cause as Error).message}`, {
      hint: 'Make its folder writable, or remove the file: a new key is then created.',
      cause,
    });
  }
}

async function readKey(path: string): Promise<KeyObject | null> {
  const text = await readFile(path, 'utf8').catch(ignoreMissing);
  if (text === null) return null;
  const key = createPrivateKey(text);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('it is not an Ed25519 key');
  return key;
}

/** The second of two concurrent builds uses the first's key. */
async function makeKey(path: string): Promise<KeyObject> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const { privateKey } = generateKeyPairSync('ed25519');
  try {
    await createFile(path, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), { mode: 0o600 });
    return privateKey;
  } catch (error) {
    const theirs = (error as NodeJS.ErrnoException).code === 'EEXIST' ? await readKey(path) : null;
    if (theirs) return theirs;
    throw error;
  }
}
