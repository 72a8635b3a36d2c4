import { UserError } from '../../../runtime/errors.ts';
import { quoteName, quoteText } from '../connection/quote.ts';

export interface DatabaseSetting {
  database: string;
  /** Setting as in the catalog and the manifest: `name=value`. */
  setting: string;
  role?: string | null;
}

/** `ALTER DATABASE … SET`, or `ALTER ROLE … IN DATABASE … SET`; refuses other statements. */
export function alterSet({ database, setting, role = null }: DatabaseSetting): string {
  const { name, value } = readSetting(setting);
  const whose =
    role === null ? `DATABASE ${quoteName(database)}` : `ROLE ${quoteName(role)} IN DATABASE ${quoteName(database)}`;
  return `ALTER ${whose} SET ${name.split('.').map(quoteName).join('.')} = ${value}`;
}

/** Why the setting cannot be carried over; `null` when it can. */
export function whyNoSetting(setting: string): string | null {
  try {
    readSetting(setting);
    return null;
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
}

/** Settings whose value is a list of names, which one pair of quotes would make a single name. */
const NAME_LISTS = new Set([
  'search_path',
  'temp_tablespaces',
  'local_preload_libraries',
  'session_preload_libraries',
  'shared_preload_libraries',
  'unix_socket_directories',
]);
const NAME = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/;
const NAME_IN_LIST = /\s*(?:"((?:[^"]|"")+)"|([^\s",]+))\s*(?:,(?=\s*\S)|$)/y;

/** The setting's name, and its value as it stands in SQL. */
function readSetting(setting: string): { name: string; value: string } {
  const at = setting.indexOf('=');
  const name = setting.slice(0, Math.max(0, at));
  const value = setting.slice(at + 1);
  if (!NAME.test(name)) throw refused(setting, 'its name is not that of a setting');
  if (/\p{Cc}/u.test(value)) throw refused(setting, 'its value contains a control character');
  return { name, value: NAME_LISTS.has(name.toLowerCase()) ? listOf(setting, value) : quoteText(value) };
}

function listOf(setting: string, value: string): string {
  if (value.trim() === '') return quoteText('');
  const names: string[] = [];
  NAME_IN_LIST.lastIndex = 0;
  while (NAME_IN_LIST.lastIndex < value.length) {
    const [, quoted, plain] = NAME_IN_LIST.exec(value) ?? [];
    if (quoted === undefined && plain === undefined) throw refused(setting, 'its value is not a list of names');
    names.push(quoted?.replaceAll('""', '"') ?? plain?.toLowerCase() ?? '');
  }
  return names.map(quoteText).join(', ');
}

function refused(setting: string, why: string): UserError {
  return new UserError('content_refused', `The setting ${JSON.stringify(setting)} is refused: ${why}`, {
    hint: 'ALTER DATABASE … RESET it at its source and build again. If it is not set there, do not trust the snapshot.',
  });
}
