import type {
  EncryptResult,
  ImportReport,
  InitResult,
  SavedTarget,
} from '../../results/configuration/configuration-results.ts';
import type { Tour } from '../../results/demo-results.ts';
import { formatBytes, formatCount, formatDuration, formatPartOf } from '../../text/format.ts';
import { joinLines } from '../../text/printable.ts';
import { shell } from '../../text/shell-word.ts';

// What setting up tells: a new configuration file, encrypted values, the demo.

export function initializedText(result: InitResult): string {
  const { file, secret_key_in, working_directory } = result;
  return [
    `Wrote ${file}`,
    ...(secret_key_in === 'keychain' ? ['The secret_key is stored in the system keychain'] : []),
    ...replacedAndShadowed(result),
    `Snapshots will be stored in ${working_directory}`,
    'Next: add a target, then run: tool config check',
  ].join('\n');
}

export function savedTargetText({ target, file }: SavedTarget): string {
  return `Saved target "${target}" in ${file}. Next: ${shell`tool load ${target}`}`;
}

/** After a load of two URLs. */
export function unsavedTargetText(): string {
  return 'For later commands, save the target with the same URLs: tool config save-target --from URL --to URL';
}

function replacedAndShadowed({
  file,
  replaced,
  shadowed_by,
}: Pick<InitResult, 'file' | 'replaced' | 'shadowed_by'>): string[] {
  return [
    ...(replaced ? [`The old file is kept as ${replaced}`] : []),
    ...(shadowed_by
      ? [`Not read in this folder because of ${shadowed_by}: remove that file, or pass --config ${file}`]
      : []),
  ];
}

export function importedConfigurationText(report: ImportReport): string {
  const { from, file, replaced, shadowed_by, changed, left_out, variables, problems } = report;
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  return joinLines([
    ...changed.map(({ key, does }) => `${key}: ${does.charAt(0).toLowerCase()}${does.slice(1)}`),
    ...left_out.map(({ key, reason }) => `${key}: left out: ${WHY_LEFT_OUT[reason]}`),
    ...variables.map((variable) => `Set the variable ${variable.to} instead of ${variable.from}`),
    `Wrote ${file} from ${from}`,
    ...replacedAndShadowed({ file, replaced, shadowed_by }),
    errors === 0
      ? 'Next: tool config check, then: tool build TARGET'
      : `It still has ${errors} ${errors === 1 ? 'error' : 'errors'}. Show ${errors === 1 ? 'it' : 'them'}: tool config check`,
  ]);
}

const WHY_LEFT_OUT: Record<ImportReport['left_out'][number]['reason'], string> = {
  cloud: 'it belongs to DBSnapper Cloud. Sign in to a hub: tool auth login',
  working_directory: 'snapshots of DBSnapper have another format. They stay there',
  client_programs: 'the client programs of PATH are used',
  unknown: 'there is no such key here',
  empty: 'it is empty',
};

export function wouldBeCommittedText(file: string): string {
  return `git does not ignore ${file}, which contains the secret_key. Add it to .gitignore, or store the key in the keychain (--keychain)`;
}

export function keychainFailed(reason: string): string {
  return `The keychain cannot store the key: ${reason}. The secret_key is in the file, which only you can read`;
}

export function encryptedText({ file, encrypted, skipped }: EncryptResult, { dryRun }: { dryRun: boolean }): string {
  const lines = [
    ...encrypted.map((key) => `${dryRun ? 'Would encrypt' : 'Encrypted'} ${key}`),
    ...skipped.map(({ key, reason }) => `Skipped ${key}: ${SKIPPED[reason]}`),
  ];
  return joinLines(lines.length > 0 ? lines : [`${file} has no sensitive values`]);
}

const SKIPPED: Record<EncryptResult['skipped'][number]['reason'], string> = {
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
    `Sanitized it by ${sanitized.statements} statements: ${formatPartOf(changed, tables.length, 'table')} changed, no personal data is left`,
    `Created a subset in ${subset.destination}: 1 % of the customers and all related rows, ${formatCount(subset.rows)} rows, ${formatCount(subset.proof.length)} foreign keys verified`,
    'The demo has been removed. To see it on a terminal: tool demo',
  ].join('\n');
}
