import { readFile } from 'node:fs/promises';
import type { Configuration } from '../config/configuration.ts';
import { EXIT, UserError } from '../runtime/errors.ts';
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

export async function chooseQuery(configuration: Configuration, target: string): Promise<SanitizeQuery | null> {
  const chosen = chosenQuery(configuration, target);
  if (chosen === null) return null;
  return decoded(chosen.file === null ? chosen : { ...chosen, text: await readQueryFile(chosen.file) });
}

function decoded(query: Omit<SanitizeQuery, 'base64'>): SanitizeQuery {
  const text = decodeQuery(query.text);
  return text === null ? { ...query, base64: false } : { ...query, text, base64: true };
}

async function readQueryFile(file: string): Promise<string> {
  const bytes = await readFile(file).catch((cause: NodeJS.ErrnoException) => {
    const missing = cause.code === 'ENOENT';
    throw new UserError(`Cannot read the sanitization query ${file}: ${missing ? 'file not found' : cause.message}`, {
      code: missing ? 'query_file_not_found' : 'query_file_unreadable',
      exit: EXIT.configuration,
      hint: 'Check query_file in the configuration; a relative path starts at the folder of the configuration, the current one or working_directory.',
      cause,
    });
  });
  const text = decodeText(bytes);
  if (text !== null) return text;
  throw new UserError(`The sanitization query ${file} is not UTF-8`, {
    code: 'query_file_unreadable',
    exit: EXIT.configuration,
    hint: 'Save it as UTF-8.',
  });
}
