import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isTrue } from '../../runtime/terminal.ts';
import type { ConfigFile, FileRequest } from '../config-file.ts';
import { userConfigFile } from '../paths.ts';
import type { CoveredFile } from './covered-files.ts';
import { type TrustRequest, trustRequestOf } from './trust-request.ts';
import { answeredEffects, isTrusted } from './trust-store.ts';
import { UntrustedConfiguration } from './untrusted-configuration.ts';

/**
 * Throws for an untrusted file of the current folder. A file that was named, the user's own file, and every file under
 * `CI=true` are trusted. Returns the files that are trusted with their present content only.
 */
export async function requireTrust(file: ConfigFile, { environment, cwd }: Surroundings): Promise<CoveredFile[]> {
  if (isTrue(environment.CI)) return [];
  const request = await requestOf(file, environment);
  const value = environment.TOOL_TRUST ?? '';
  if (!request || isNamed(request, { value, cwd })) return [];
  if (value !== request.digest && !(await isTrusted(request, environment))) {
    throw new UntrustedConfiguration({ ...request, answered: await answeredEffects(request.file, environment) });
  }
  return request.files;
}

type Surroundings = Pick<FileRequest, 'environment' | 'cwd'>;

/** The question about a file of the current folder; `null` where there is nothing to ask. */
export async function untrustedPart(
  file: ConfigFile,
  { environment }: Pick<Surroundings, 'environment'>,
): Promise<TrustRequest | null> {
  const request = await requestOf(file, environment);
  if (!request || (await isTrusted(request, environment))) return null;
  return { ...request, answered: await answeredEffects(request.file, environment) };
}

/** Returns the permissions that a file requests; `null` for one that is always trusted. */
async function requestOf(
  file: ConfigFile,
  environment: NodeJS.ProcessEnv,
): Promise<Omit<TrustRequest, 'answered'> | null> {
  if (!file.inFolder) return null;
  const request = await trustRequestOf(file, environment);
  const own = userConfigFile(environment);
  const isOwn = request.file === (await realpath(own).catch(() => own));
  return isOwn || request.effects.length === 0 ? null : request;
}

/** TOOL_TRUST is the path of a file, the digest of its items, or `true` for every file. */
function isNamed({ file }: Pick<TrustRequest, 'file'>, { value, cwd }: { value: string; cwd: string }): boolean {
  if (value === '') return false;
  return isTrue(value) || resolve(cwd, value) === file || resolve(cwd, value) === resolve(cwd, 'tool.yml');
}
