import { chmod, readFile } from 'node:fs/promises';
import type { Configuration } from '../config/configuration.ts';
import type { Edit } from '../config/edit/change.ts';
import { editFile } from '../config/edit/edit-file.ts';
import { decrypt, ENCRYPTED, encrypt } from '../config/secrets/cipher.ts';
import { IN_KEYCHAIN, readFromKeychain, removeFromKeychain, writeToKeychain } from '../config/secrets/keychain.ts';
import { requireSecretKey } from '../config/secrets/require-secret-key.ts';
import { isTree, valueAt } from '../config/tree.ts';
import { parseYaml } from '../config/yaml/yaml-source.ts';
import { UserError } from '../runtime/errors.ts';
import type { Report } from '../runtime/events.ts';
import type { SignInSession } from './session.ts';

export interface SessionStore {
  /** Absolute path of the configuration file; processes lock it to refresh. */
  file: string;
  /** Another process may have refreshed it. */
  read(provider: string): Promise<SignInSession | null>;
  write(provider: string, session: SignInSession): Promise<void>;
  remove(provider: string): Promise<void>;
}

/** The keychain when the file has `secret_key: keychain`, otherwise the file. */
export function createSessionStore(
  { file, settings }: Configuration,
  { report, environment }: { report: Report; environment: NodeJS.ProcessEnv },
): SessionStore {
  if (file === null) throw noFile();
  const inFile = fileStore(file, { settings, environment });

  async function saysKeychain(): Promise<boolean> {
    return parseYaml(await readFile(file as string, 'utf8')).tree.secret_key === IN_KEYCHAIN;
  }

  return {
    file,
    async read(provider) {
      const written = await inFile.read(provider);
      if (written !== null || !(await saysKeychain())) return written;
      const kept = await readFromKeychain(file, secretOf(provider)).catch(() => null);
      return kept === null ? null : (JSON.parse(kept) as SignInSession);
    },
    async write(provider, session) {
      if (!(await saysKeychain())) return inFile.write(provider, session);
      try {
        await writeToKeychain(file, JSON.stringify(session), secretOf(provider));
      } catch (error) {
        const message = `The keychain cannot keep the sign-in: ${(error as Error).message}. It is in ${file}, encrypted`;
        report({ event: 'warning', code: 'keychain_unavailable', message });
        return inFile.write(provider, session);
      }
      // The file would take precedence.
      await inFile.remove(provider);
    },
    async remove(provider) {
      await inFile.remove(provider);
      if (await saysKeychain()) await removeFromKeychain(file, secretOf(provider)).catch(() => {});
    },
  };
}

const secretOf = (provider: string): string => `sso.${provider}`;

const SECRETS = ['access_token', 'refresh_token', 'id_token', 'user_info'] as const;

function fileStore(
  file: string,
  { settings, environment }: Pick<Configuration, 'settings'> & { environment: NodeJS.ProcessEnv },
): Omit<SessionStore, 'file'> {
  const open = (value: unknown): string | null => {
    if (typeof value !== 'string') return null;
    return value.startsWith(ENCRYPTED) ? decrypt(value, requireSecretKey(settings)) : value;
  };
  return {
    async read(provider) {
      const stored = valueAt(parseYaml(await readFile(file, 'utf8')).tree, ['sso', provider]);
      if (!isTree(stored)) return null;
      const [access_token, refresh_token = null, id_token = null, user_info = null] = SECRETS.map((key) =>
        open(stored[key]),
      );
      if (!access_token) return null;
      const { expires } = stored;
      const life = typeof expires === 'number' ? expires : 0;
      return { access_token, refresh_token, id_token, user_info, expires: life };
    },
    async write(provider, session) {
      await chmod(file, 0o600);
      const secrets = SECRETS.map((key): Edit => {
        const plain = session[key];
        return {
          path: ['sso', provider, key],
          value: plain === null ? undefined : encrypt(plain, requireSecretKey(settings)),
        };
      });
      const expires = { path: ['sso', provider, 'expires'], value: session.expires };
      const edits = (text: string) => [...secrets, expires].filter((edit) => changes(text, edit));
      await editFile({ file, environment, edits });
    },
    async remove(provider) {
      const all = [...SECRETS, 'expires'].map((key) => ({ path: ['sso', provider, key], value: undefined }));
      const edits = (text: string) => all.filter((edit) => changes(text, edit));
      await editFile({ file, environment, edits });
    },
  };
}

function changes(text: string, { path, value }: Edit): boolean {
  return value !== undefined || valueAt(parseYaml(text).tree, path) !== undefined;
}

function noFile(): UserError {
  return new UserError('no_configuration', 'No configuration file to store the sign-in in', {
    hint: 'Create one: tool config init',
  });
}
