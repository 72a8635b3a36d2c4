import type { Code, Definitions } from '../../catalog/definitions/definitions.ts';
import { inOwnDatabase, splitTable, withoutDatabase } from '../../catalog/definitions/statement-text.ts';
import {
  type LexicalMode,
  lexicalModeOf,
  significant,
  type Token,
  tokensOf,
} from '../../catalog/definitions/tokens.ts';
import type { Collations } from '../../catalog/introspect.ts';

/** Session settings and preparations for rows, which a load does itself. */
const PASSED_OVER = new Set('SET DROP LOCK UNLOCK SELECT PREPARE EXECUTE DEALLOCATE USE START COMMIT'.split(' '));
const KINDS = ['TABLE', 'SEQUENCE', 'VIEW', 'TRIGGER', 'PROCEDURE', 'FUNCTION', 'EVENT', 'PACKAGE'];
const LISTS = { VIEW: 'views', TRIGGER: 'triggers', EVENT: 'events' } as const;

/** The last one that is put back: MariaDB has had the second since 11. */
const LAST_SETTING = /SET (?:SQL_NOTES\s*=\s*@OLD_SQL_NOTES|NOTE_VERBOSITY\s*=\s*@OLD_NOTE_VERBOSITY)/i;

export class StatementUnknown extends Error {
  override readonly name = 'StatementUnknown';
}

/** The definitions in the output of mysqldump. */
export class ScriptDefinitions {
  readonly found: Definitions;
  /** A complete script restores the session's settings last. */
  ended = false;
  readonly #database: string;
  readonly #settings: Record<string, string> = {};

  constructor(database: string, collations: Collations) {
    this.#database = database;
    this.found = { ...collations, tables: [], sequences: [], routines: [], views: [], triggers: [], events: [] };
  }

  /** Returns the name of the table that the statement creates. */
  take(statement: string): string | null {
    const mode = lexicalModeOf(this.#settings.sql_mode ?? null);
    const tokens = significant(statement, mode);
    const first = tokens.find(({ kind }) => kind === 'word')?.value ?? '';
    const counted = /\bSETVAL\s*\(\s*(?:`[^`]*`\.)?`((?:[^`]|``)*)`\s*,\s*(-?\d+)\s*,/i.exec(statement);
    if (counted && (first === 'DO' || first === 'SELECT')) {
      const name = String(counted[1]).replaceAll('``', '`');
      const sequence = this.found.sequences.find((each) => each.name === name);
      if (sequence) sequence.next = String(counted[2]);
      return null;
    }
    if (first === 'SET') this.#takeSetting(statement);
    if (PASSED_OVER.has(first) || isAlteration(tokens)) return null;
    const kind = first === 'CREATE' ? kindOf(tokens) : undefined;
    if (kind === undefined) throw new StatementUnknown(statement.slice(0, 200));
    if (kind === 'TABLE') {
      if (tokens[0]?.kind === 'version') return null;
      const name = nameOf(statement, kind, mode);
      this.found.tables.push(splitTable(name, statement));
      return name;
    }
    if (kind === 'SEQUENCE') {
      const create = withoutDatabase(statement, this.#database, mode);
      this.found.sequences.push({ name: nameOf(create, kind, mode), create, next: '1' });
    } else this.#takeCode(kind, unwrapped(statement, { kind, mode }), mode);
    return null;
  }

  #takeSetting(statement: string): void {
    const assigned = /SET ([a-z_]+)\s*=\s*(?:'([^']*)'|([A-Za-z0-9_]+)|@)/i.exec(statement);
    if (assigned) this.#settings[String(assigned[1]).toLowerCase()] = assigned[2] ?? assigned[3] ?? '';
    if (LAST_SETTING.test(statement)) this.ended = true;
  }

  #takeCode(kind: string, create: string, mode: LexicalMode): void {
    const own = inOwnDatabase(create, { kind, databases: [this.#database], mode });
    const { sql_mode = '', character_set_client, collation_connection, time_zone = null } = this.#settings;
    const code: Code = {
      kind,
      name: nameOf(own, kind, mode),
      create: own,
      sql_mode: kind === 'VIEW' ? null : sql_mode,
      charset: character_set_client || null,
      collation: collation_connection || null,
      time_zone: kind === 'EVENT' ? time_zone : null,
    };
    const list: Code[] = this.found[LISTS[kind as keyof typeof LISTS] ?? 'routines'];
    // A view comes twice: first as a placeholder for views that read it.
    const earlier = list.findIndex((other) => other.kind === kind && other.name === code.name);
    if (earlier === -1) list.push(code);
    else list[earlier] = code;
  }
}

/** `ALTER TABLE … DISABLE KEYS`; `ALTER DATABASE … COLLATE` around code. */
function isAlteration(tokens: Token[]): boolean {
  const words = tokens.filter(({ kind }) => kind === 'word').map(({ value }) => value);
  if (words[0] !== 'ALTER') return false;
  return words[1] === 'DATABASE' || (words[1] === 'TABLE' && words.at(-1) === 'KEYS');
}

/** Definers are quoted, so that the first unquoted kind is the object's. */
function kindOf(tokens: Token[]): string | undefined {
  const at = tokens.findIndex(({ kind, value }) => kind === 'word' && KINDS.includes(value));
  const kind = tokens[at]?.value;
  return kind === 'PACKAGE' && tokens[at + 1]?.value === 'BODY' ? 'PACKAGE BODY' : kind;
}

/** Removes the version comments around head and body; inner ones belong to the object. */
function unwrapped(statement: string, { kind, mode }: { kind: string; mode: LexicalMode }): string {
  const tokens = significant(statement, mode);
  const last = tokens.at(-1);
  if (tokens[0]?.kind !== 'version') return statement;
  const word = kind.split(' ')[0];
  const head = tokens.find((token) => token.kind === 'word' && token.value === word);
  const kept = [...tokensOf(statement, mode)].filter((token) => {
    const isWrapping = token.kind === 'version' || token.kind === 'versionEnd';
    return !(isWrapping && (token.at < (head?.at ?? 0) || token.at === last?.at));
  });
  return kept
    .map(({ text }) => text)
    .join('')
    .trim();
}

function nameOf(create: string, kind: string, mode: LexicalMode): string {
  const tokens = significant(create, mode);
  const word = kind.split(' ').at(-1);
  let at = tokens.findIndex((token) => token.kind === 'word' && token.value === word) + 1;
  if (tokens[at]?.value === 'IF') at += 3;
  const name = tokens[at];
  if (!name || (name.kind !== 'name' && name.kind !== 'word')) throw new StatementUnknown(create.slice(0, 200));
  return name.kind === 'name' ? name.value : name.text;
}
