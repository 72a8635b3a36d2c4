import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isTrue } from '../../runtime/terminal.ts';
import type { ConfigFile, FileRequest } from '../config-file.ts';
import { userConfigFile } from '../paths.ts';
import { asksForNothing, type TrustRequest, trustRequestOf } from './trust-request.ts';
import { answeredEffects, isTrusted } from './trust-store.ts';
import { UntrustedConfiguration } from './untrusted-configuration.ts';

/**
 * Throws for an untrusted file of the current folder. A file that was named, the user's own file, and every file under
 * `CI=true` are trusted.
 */
export async function requireTrust(file: ConfigFile, surroundings: Surroundings): Promise<void> {
  const { environment, cwd } = surroundings;
  if (isTrue(environment.CI)) return;
  const request = await untrustedPart(file, surroundings);
  if (!request || isGiven(request, { value: environment.TOOL_TRUST ?? '', cwd })) return;
  throw new UntrustedConfiguration(request);
}

type Surroundings = Pick<FileRequest, 'environment' | 'cwd'>;

/** The question about a file of the current folder; `null` where there is nothing to ask. */
export async function untrustedPart(
  file: ConfigFile,
  { environment }: Pick<Surroundings, 'environment'>,
): Promise<TrustRequest | null> {
  if (!file.inFolder) return null;
  const request = await trustRequestOf(file, environment);
  if (asksForNothing(request)) return null;
  const own = userConfigFile(environment);
  if (request.file === (await realpath(own).catch(() => own))) return null;
  if (await isTrusted(request, environment)) return null;
  return { ...request, answered: await answeredEffects(request.file, environment) };
}

/** TOOL_TRUST is the path of a file, the digest of its items, or `true` for every file. */
function isGiven({ file, digest }: TrustRequest, { value, cwd }: { value: string; cwd: string }): boolean {
  if (value === '') return false;
  return (
    isTrue(value) ||
    value === digest ||
    resolve(cwd, value) === file ||
    resolve(cwd, value) === resolve(cwd, 'tool.yml')
  );
}
