import { closest } from 'fastest-levenshtein';
import type { FileRequest } from '../config/config-file.ts';
import { editFile } from '../config/edit/edit-file.ts';
import { invalidConfiguration } from '../config/invalid-configuration.ts';
import { type Inspection, inspectConfiguration } from '../config/load.ts';
import { settingsSchema } from '../config/schema/settings.ts';
import { shapeOf } from '../config/schema/shape.ts';
import { ENCRYPTED } from '../config/secrets/cipher.ts';
import { encryptText, type TextValue, textsOf } from '../config/secrets/sensitive-values.ts';
import { dotted } from '../config/tree.ts';
import { parseYaml } from '../config/yaml-source.ts';
import { EXIT, UserError } from '../errors.ts';

export interface EncryptRequest extends FileRequest {
  /** Dotted; none means every sensitive value that the file holds in plain. */
  keys: string[];
  /** Says what would be done, and writes nothing. */
  dryRun: boolean;
}

export interface EncryptResult {
  file: string;
  /** Dotted keys. */
  encrypted: string[];
  /** Keys whose value holds nothing to encrypt: it is encrypted already, empty, or a template. */
  skipped: string[];
}

/** Encrypts values of the configuration file where they stand; of a URL the password. */
export async function encryptValues({ keys, dryRun, ...request }: EncryptRequest): Promise<EncryptResult> {
  const inspection = await inspectConfiguration(request);
  const secretKey = secretKeyOf(inspection);
  const { file } = inspection;
  if (file === null) throw noFile();
  const shape = shapeOf(settingsSchema);
  const result: EncryptResult = { file, encrypted: [], skipped: [] };
  const edit = (text: string) => {
    const chosen = choose(textsOf(parseYaml(text).tree, shape), keys);
    return chosen.flatMap(({ path, text: plain }) => {
      const value = encryptText(plain, secretKey);
      const done = value === null ? result.skipped : result.encrypted;
      done.push(dotted(path));
      return value === null ? [] : [{ path, value }];
    });
  };
  if (dryRun) edit(inspection.text);
  else await editFile(file, edit);
  return result;
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

/** The file must open before anything can be said about its values. */
function secretKeyOf({ problems, values }: Inspection): string {
  const inTheWay = problems.filter(({ key, file, line, code }) => {
    const isSyntax = key === '' && file !== null && line !== null && code !== 'file_readable_by_others';
    return isSyntax || key === 'secret_key' || code === 'no_configuration';
  });
  const secretKey = values?.secret_key;
  if (secretKey !== undefined && inTheWay.length === 0) return secretKey;
  throw invalidConfiguration(inTheWay.length > 0 ? inTheWay : problems);
}

function choose(values: TextValue[], keys: string[]): TextValue[] {
  if (keys.length > 0) return keys.map((key) => named(values, key));
  return values.filter(({ secret, text }) => secret && !text.startsWith(ENCRYPTED));
}

function named(values: TextValue[], key: string): TextValue {
  const found = values.find(({ path }) => dotted(path) === key);
  if (found) return found;
  const known = values.map(({ path }) => dotted(path));
  const suggestion = known.length > 0 ? `Did you mean ${closest(key, known)}? ` : '';
  const isKey = key === 'secret_key';
  throw new UserError(
    isKey ? 'secret_key opens all the others, and is not encrypted itself' : `The configuration has no text at ${key}`,
    {
      code: 'key_unknown',
      exit: EXIT.usage,
      hint: isKey
        ? "tool config init --keychain keeps it in the system's keychain."
        : `${suggestion}tool config show lists all keys.`,
    },
  );
}

function noFile(): UserError {
  return new UserError('There is no configuration file to encrypt values in', {
    code: 'no_configuration',
    exit: EXIT.configuration,
    hint: 'tool config init writes one.',
  });
}
