import { type FileRequest, readConfigFile } from '../../config/config-file.ts';
import type { Edit } from '../../config/edit/change.ts';
import { editFile } from '../../config/edit/edit-file.ts';
import { editConfigurationText } from '../../config/edit/edit-text.ts';
import { type Inspection, inspectConfiguration } from '../../config/load.ts';
import { invalidConfiguration } from '../../config/problems/invalid-configuration.ts';
import { settingsSchema } from '../../config/schema/settings.ts';
import { shapeOf } from '../../config/schema/shape.ts';
import { requireSecretKey } from '../../config/secrets/require-secret-key.ts';
import { encryptText, type TextValue, textsOf } from '../../config/secrets/sensitive-values.ts';
import { dotted } from '../../config/tree.ts';
import { createSpotFinder } from '../../config/yaml/find-spot.ts';
import { parseText } from '../../config/yaml/parse-text.ts';
import { parseYaml } from '../../config/yaml/yaml-source.ts';
import type { EncryptResult } from '../../results/configuration/configuration-results.ts';
import { UserError } from '../../runtime/errors.ts';
import { nearest } from '../../text/nearest.ts';
import { noConfigurationFile } from './edit-configuration.ts';

export interface EncryptRequest extends FileRequest {
  /** Dotted; none means every sensitive value that the file holds in plain. */
  keys: string[];
  /** Says what would be done, and writes nothing. */
  dryRun: boolean;
}

/** Encrypts values of the configuration file where they stand; of a URL the password. */
export async function encryptValues({ keys, dryRun, ...request }: EncryptRequest): Promise<EncryptResult> {
  const inspection = await inspectConfiguration(request);
  const secretKey = secretKeyOf(inspection);
  const { file } = inspection;
  if (file === null) throw noConfigurationFile('encrypt values in');
  let result: EncryptResult = { file, encrypted: [], skipped: [] };
  const edits = (text: string): Edit[] => {
    const changes = encryptIn(text, { keys, secretKey });
    result = { file, encrypted: [], skipped: [] };
    for (const { key, ...change } of changes) {
      if ('skipped' in change) result.skipped.push({ key, reason: change.skipped });
      else result.encrypted.push(key);
    }
    return editsOf(changes);
  };
  if (dryRun) edits(inspection.text);
  else await editFile({ file, environment: request.environment, edits });
  return result;
}

/** Dotted keys of the sensitive values that stand in the file in plain, though its `secret_key` could encrypt them. */
export function plainSecrets({ text, values }: Pick<Inspection, 'text' | 'values'>): string[] {
  const secretKey = values?.secret_key;
  if (secretKey === undefined) return [];
  return encryptIn(text, { keys: [], secretKey }).flatMap(({ key, ...change }) => ('encrypted' in change ? [key] : []));
}

/** The text with every sensitive value encrypted that it holds in plain. */
export function encryptSecrets(text: string, secretKey: string): string {
  return editConfigurationText(text, editsOf(encryptIn(text, { keys: [], secretKey })));
}

function editsOf(changes: ReturnType<typeof encryptIn>): Edit[] {
  return changes.flatMap(({ path, ...change }) => ('encrypted' in change ? [{ path, value: change.encrypted }] : []));
}

/** Encrypts values of a file. A value that several keys share, by an alias or a merge key, stays shared. */
function encryptIn(text: string, { keys, secretKey }: { keys: string[]; secretKey: string }) {
  const { document } = parseText(text);
  if (!document) return [];
  const find = createSpotFinder(document);
  const values = textsOf(parseYaml(text).tree, shapeOf(settingsSchema));
  const chosen = keys.length > 0 ? keys.map((key) => named(values, key)) : values.filter(({ secret }) => secret);
  const outcomes = new Map<unknown, ReturnType<typeof encryptText>>();
  for (const value of chosen) outcomes.set(find(value.path).meant, encryptText(value, secretKey));
  return values.flatMap(({ path }) => {
    const outcome = outcomes.get(find(path).meant);
    return outcome ? [{ key: dotted(path), path, ...outcome }] : [];
  });
}

/** The value in force of a key, decrypted and with its templates filled in. */
export async function decryptValue({ key, ...request }: FileRequest & { key: string }): Promise<string> {
  const inspection = await inspectConfiguration(request);
  secretKeyOf(inspection);
  const problem = inspection.problems.find((one) => one.key === key && one.severity === 'error');
  if (problem) throw invalidConfiguration([problem]);
  const values = textsOf(inspection.values ?? {}, shapeOf(settingsSchema));
  return named(values, key).text;
}

/** The keys of the file that `encrypt` and `decrypt` are for; the values are not looked at. */
export async function sensitiveKeys(request: FileRequest): Promise<string[]> {
  const file = await readConfigFile(request);
  if (!file) return [];
  const values = textsOf(file.source.tree, shapeOf(settingsSchema));
  return values.filter(({ secret }) => secret).map(({ path }) => dotted(path));
}

/** The file must open before anything can be said about its values. */
function secretKeyOf({ problems, values }: Inspection): string {
  const inTheWay = problems.filter(({ key, file, line, code }) => {
    const isSyntax = key === '' && file !== null && line !== null && code !== 'file_readable_by_others';
    return isSyntax || key === 'secret_key' || code === 'no_configuration';
  });
  if (inTheWay.length > 0 || values === null) throw invalidConfiguration(inTheWay.length > 0 ? inTheWay : problems);
  return requireSecretKey({ secret_key: values.secret_key });
}

function named(values: TextValue[], key: string): TextValue {
  const found = values.find(({ path }) => dotted(path) === key);
  if (found) return found;
  const known = nearest(
    key,
    values.map(({ path }) => dotted(path)),
  );
  const suggestion = known === null ? '' : `Did you mean ${known}? `;
  const isKey = key === 'secret_key';
  throw new UserError(
    'key_unknown',
    isKey
      ? 'secret_key decrypts the others and is not encrypted itself'
      : `The configuration has no text value at ${key}`,
    {
      hint: isKey
        ? "tool config init --keychain keeps it in the system's keychain."
        : `${suggestion}tool config show lists all keys.`,
    },
  );
}
