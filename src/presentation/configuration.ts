import type { Skipped } from '../config/secrets/sensitive-values.ts';
import type { UntrustedConfiguration } from '../config/trust/untrusted-configuration.ts';
import type { Tour } from '../operations/demo.ts';
import { formatBytes, formatCount, formatDuration } from '../text/format.ts';

// What setting up tells: trust, a new configuration file, encrypted values, the demo.

/** What is read before a configuration of the current folder is trusted. */
export function trustAbout({ request }: UntrustedConfiguration): string[] {
  return [
    `You have not trusted this configuration yet: ${request.file}`,
    'It has not been used so far. If you trust it, the program may:',
  ];
}

export const TRUST_QUESTION = 'Trust this configuration?';

export interface Initialized {
  file: string;
  secret_key_in: 'file' | 'keychain';
  replaced: string | null;
  shadowed_by: string | null;
  working_directory: string;
}

export function initializedText(result: Initialized): string {
  const { file, secret_key_in, replaced, shadowed_by, working_directory } = result;
  return [
    `Wrote ${file}`,
    ...(secret_key_in === 'keychain' ? ['The secret_key is stored in the system keychain'] : []),
    ...(replaced ? [`The old file is kept as ${replaced}`] : []),
    ...(shadowed_by
      ? [`Not read in this folder because of ${shadowed_by}: remove that file, or pass --config ${file}`]
      : []),
    `Snapshots will be stored in ${working_directory}`,
    'Next: add a target, then run: tool config check',
  ].join('\n');
}

export function keychainFailed(reason: string): string {
  return `The keychain cannot store the key: ${reason}. The secret_key is in the file, which only you can read`;
}

interface Encryption {
  file: string;
  encrypted: string[];
  skipped: { key: string; reason: Skipped }[];
}

export function encryptedText({ file, encrypted, skipped }: Encryption, { dryRun }: { dryRun: boolean }): string {
  const lines = [
    ...encrypted.map((key) => `${dryRun ? 'Would encrypt' : 'Encrypted'} ${key}`),
    ...skipped.map(({ key, reason }) => `Skipped ${key}: ${SKIPPED[reason]}`),
  ];
  return (lines.length > 0 ? lines : [`${file} has no sensitive values`]).join('\n');
}

const SKIPPED: Record<Skipped, string> = {
  encrypted: 'it is encrypted already',
  template: 'the password comes from a template',
  no_password: 'it has no password',
};

export const DEMO_ENDED = 'The demo has ended: its server, databases and files are removed.';

export function tourText(source: string, tour: Tour): string {
  const { built, again, verified, loaded, reloaded, undone, sanitized, subset } = tour;
  const { tables } = sanitized.coverage;
  const changed = tables.filter(({ state }) => state !== 'untouched').length;
  return [
    `Built snapshot ${built.id} of ${source}: ${formatCount(built.tables)} tables, ${formatCount(built.rows)} rows, ${formatBytes(built.size_bytes)} in ${formatBytes(built.stored_bytes)}`,
    `Built it again: unchanged tables are stored once, so ${again.id} added ${formatBytes(again.stored_bytes)}`,
    `Verified every byte: ${formatCount(verified.files)} files, ${formatBytes(verified.bytes)}`,
    `Loaded it into ${loaded.destination}: ${formatCount(loaded.rows)} rows, verified`,
    `Loaded it again: the database was unavailable for ${formatDuration(reloaded.swap_ms ?? 0)}, and its previous version was kept`,
    `Restored the previous ${undone.destination}`,
    `Sanitized it by ${sanitized.statements} statements: ${formatCount(changed)} of ${formatCount(tables.length)} tables changed, no personal data is left`,
    `Created a subset in ${subset.destination}: 1 % of the customers and all related rows, ${formatCount(subset.rows)} rows, ${formatCount(subset.proof.length)} foreign keys verified`,
    'The demo has been removed. To see it on a terminal: tool demo',
  ].join('\n');
}
