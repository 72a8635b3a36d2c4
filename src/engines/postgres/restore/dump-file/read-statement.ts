import type { ScriptStatement } from '../../../shared/script/split-script.ts';

/** The treatment of a statement of a dump. */
type DumpStatement =
  /** `isHarmless`: it creates nothing that the script of an extension could take for its own. */
  | { kind: 'run'; isHarmless: boolean }
  /** It means nothing in the new database. */
  | { kind: 'skip' }
  | { kind: 'leave_out'; what: string }
  /** Roles that it names. */
  | { kind: 'policy'; roles: string[] }
  | { kind: 'extension'; name: string; schema: string };

const NAME = String.raw`(?:"(?:[^"]|"")*"|[\w$\u0080-\uffff]+)`;
const NAMES = `${NAME}(?:, ?${NAME})*`;

const EXTENSION = new RegExp(`^CREATE EXTENSION (?:IF NOT EXISTS )?(${NAME})(?: WITH)? SCHEMA (${NAME})$`);
const POLICY = new RegExp(
  String.raw`^CREATE POLICY ${NAME} ON ${NAME}(?:\.${NAME})?(?: AS \w+)?(?: FOR \w+)? TO (${NAMES})(?: USING| WITH|$)`,
);
const SCHEMA = new RegExp(`^CREATE SCHEMA (?:IF NOT EXISTS )?(${NAME})(?: AUTHORIZATION ${NAME})?$`);
const OWNER = new RegExp(String.raw`\sOWNER TO ${NAME}$`);
const SEARCH_PATH = "SELECT pg_catalog.set_config('search_path', '', false)";

const NOT_ROLES = /^(?:public|current_user|current_role|session_user|pg_.*)$/;

/** Bytes of the longest statement of these kinds; others may be much longer. */
const MOST_BYTES = 64 * 1024;

const OWNERS = 'owners';
const GRANTS = 'grants';

/** Statements by their first words. A snapshot has none of them; most need a superuser. */
const LEFT_OUT: [words: string, what: string][] = [
  ['SET SESSION AUTHORIZATION', OWNERS],
  ['RESET SESSION AUTHORIZATION', OWNERS],
  ['SET ROLE', OWNERS],
  ['RESET ROLE', OWNERS],
  ['GRANT', GRANTS],
  ['REVOKE', GRANTS],
  ['ALTER DEFAULT PRIVILEGES', GRANTS],
  ['SECURITY LABEL', 'security labels'],
  ['SET DEFAULT_TABLESPACE', 'tablespaces'],
  ...['DATABASE', 'EVENT TRIGGER', 'PUBLICATION', 'SUBSCRIPTION', 'TABLESPACE'].flatMap((kind) =>
    ['CREATE', 'ALTER', 'COMMENT ON'].map((verb): [string, string] => [
      `${verb} ${kind}`,
      kind === 'DATABASE' ? 'settings of the database' : `${kind.toLowerCase()}s`,
    ]),
  ),
];

/** Their values in a dump are those of a new session; an older server does not know all of them. */
const TIMEOUTS = /^SET \w+_timeout = 0$/;
/** Every database has them. */
const PRESENT = /^(?:COMMENT ON EXTENSION plpgsql |CREATE EXTENSION (?:IF NOT EXISTS )?plpgsql )/;

export function readStatement({ words, bytes }: Pick<ScriptStatement, 'words' | 'bytes'>): DumpStatement {
  const beginning = words.slice(0, 4).join(' ');
  const text = bytes.length > MOST_BYTES ? '' : bytes.toString('utf8');
  if (TIMEOUTS.test(text) || PRESENT.test(text)) return { kind: 'skip' };
  if (/^SET default_tablespace = ''$/.test(text)) return { kind: 'run', isHarmless: true };
  const leftOut = LEFT_OUT.find(([begins]) => beginning === begins || beginning.startsWith(`${begins} `));
  if (leftOut && !beginning.startsWith('CREATE DATABASE')) return { kind: 'leave_out', what: leftOut[1] };
  if (leftOut) return { kind: 'skip' };
  if (words[0] === 'ALTER' && OWNER.test(text)) return { kind: 'leave_out', what: OWNERS };
  const [, extension, schema] = EXTENSION.exec(text) ?? [];
  if (extension !== undefined && schema !== undefined) {
    return { kind: 'extension', name: unquoted(extension), schema: unquoted(schema) };
  }
  const roles = POLICY.exec(text)?.[1];
  if (roles !== undefined) return { kind: 'policy', roles: namesOf(roles).filter((role) => !NOT_ROLES.test(role)) };
  const created = SCHEMA.exec(text)?.[1];
  if (created === 'public') return { kind: 'skip' };
  const isHarmless = created !== undefined || words[0] === 'SET' || /^(?:COMMENT ON|CREATE COLLATION)/.test(beginning);
  return { kind: 'run', isHarmless: isHarmless || text === SEARCH_PATH };
}

function namesOf(list: string): string[] {
  return [...list.matchAll(new RegExp(NAME, 'g'))].map(([name]) => unquoted(name));
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name.toLowerCase();
}
