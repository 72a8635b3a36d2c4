import { readFile } from 'node:fs/promises';
import type { Configuration } from '../config/configuration.ts';
import { isContentOf } from '../config/trust/covered-files.ts';
import { trustedFiles } from '../config/trust/trust-store.ts';
import { UserError } from '../runtime/errors.ts';
import { decodeQuery, decodeText } from './base64.ts';

export interface SanitizeQuery {
  text: string;
  chosenBy: string;
  file: string | null;
  base64: boolean;
}

export type ChosenQuery = { chosenBy: string } & ({ text: string; file: null } | { file: string });

/** Highest first: the target's `override_query`, `override.san_query`, the target's `query_file`. */
export function chosenQuery({ settings }: Configuration, target: string): ChosenQuery | null {
  const own = settings.targets[target]?.sanitize;
  const candidates = [
    { chosenBy: `targets.${target}.sanitize.override_query`, text: own?.override_query },
    { chosenBy: 'override.san_query', text: settings.override.san_query },
  ];
  for (const { chosenBy, text } of candidates) if (text !== undefined) return { text, chosenBy, file: null };
  if (own?.query_file === undefined) return null;
  return { chosenBy: `targets.${target}.sanitize.query_file`, file: own.query_file };
}

interface QuerySource {
  configuration: Configuration;
  environment: NodeJS.ProcessEnv;
}

/** Throws for a file whose content is another than that which was trusted. */
export async function chooseQuery(source: QuerySource, target: string): Promise<SanitizeQuery | null> {
  const chosen = chosenQuery(source.configuration, target);
  if (chosen === null) return null;
  return decoded(chosen.file === null ? chosen : { ...chosen, text: await readQueryFile(chosen.file, source) });
}

function decoded(query: Omit<SanitizeQuery, 'base64'>): SanitizeQuery {
  const text = decodeQuery(query.text);
  return text === null ? { ...query, base64: false } : { ...query, text, base64: true };
}

async function readQueryFile(file: string, source: QuerySource): Promise<string> {
  const bytes = await readFile(file).catch((cause: NodeJS.ErrnoException) => {
    const missing = cause.code === 'ENOENT';
    throw new UserError(
      missing ? 'query_file_not_found' : 'query_file_unreadable',
      `Cannot read the sanitization query ${file}: ${missing ? 'file not found' : cause.message}`,
      {
        hint: 'Check query_file in the configuration; a relative path starts at the folder of the configuration, the current one or working_directory.',
        cause,
      },
    );
  });
  if (!(await isTrustedContent(file, bytes, source))) throw queryFileChanged(`sanitization query ${file}`);
  const text = decodeText(bytes);
  if (text !== null) return text;
  throw new UserError('query_file_unreadable', `The sanitization query ${file} is not UTF-8`, {
    hint: 'Save it as UTF-8.',
  });
}

/** Refuses an SQL file of a trusted configuration whose content is another one by now. */
export async function refuseUntrustedContent(file: string, source: QuerySource): Promise<void> {
  if (!source.configuration.queryFiles?.has(file)) return;
  if (!(await isTrustedContent(file, await readFile(file), source))) throw queryFileChanged(`file ${file}`);
}

/** A program of ours, or a new answer, may have trusted another content since the configuration was read. */
async function isTrustedContent(
  file: string,
  bytes: Uint8Array,
  { configuration, environment }: QuerySource,
): Promise<boolean> {
  const covered = configuration.queryFiles?.get(file);
  if (!covered || configuration.file === null || isContentOf(covered, bytes)) return true;
  const now = await trustedFiles(configuration.file, environment);
  return now.some((one) => one.name === covered.name && isContentOf(one, bytes));
}

function queryFileChanged(what: string): UserError {
  return new UserError('configuration_untrusted', `The ${what} is not the one that was trusted`, {
    hint: 'It has changed since the command began. Read it, and run the command again, which asks.',
  });
}
