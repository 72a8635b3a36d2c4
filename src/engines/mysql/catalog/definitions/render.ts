import { refused, refusedAt } from './checked-definition.ts';
import { bytesOfText, escapesPair, hasWholeLetters, isClientCharset, textOfBytes } from './client-bytes.ts';
import type { Code, DanglingKey, SequenceDefault, TableDefinition } from './definitions.ts';
import { lexicalModeOf, type Token, tokensOf, unclearIn } from './tokens.ts';

/**
 * Texts that a server executes, made from the tokens that the checks read: what one of them skips and the other runs is
 * in no rendered text. Statements of tables lose their comments, and keep version comments of the clauses that SHOW
 * CREATE writes; those that every supported server runs become plain text.
 */
export function renderTable({ name, create, indexes, foreignKeys }: TableDefinition): TableDefinition {
  return {
    name,
    create: renderStatement(`table ${name}`, create),
    indexes: indexes.map((clauses) => clauses.map((clause) => renderStatement(`index of table ${name}`, clause))),
    foreignKeys: foreignKeys.map((clause) => renderStatement(`foreign key of table ${name}`, clause)),
  };
}

export function renderDangling(key: DanglingKey): DanglingKey {
  return { ...key, clause: renderStatement(`foreign key of table ${key.table}`, key.clause) };
}

export function renderDefault({ table, column }: SequenceDefault): SequenceDefault {
  return { table, column: renderStatement(`column of table ${table}`, column) };
}

/** Clauses in version comments of SHOW CREATE: a name is N, a text T. */
const CLAUSES: Record<string, RegExp> = {
  50100: /^(?:PARTITION BY .+|\( .+|TABLESPACE (?:= )?N|WITH PARSER (?:N|\w+))$/,
  50120: /^(?:COLUMN_FORMAT \w+|STORAGE \w+)$/,
  50500: /^(?:PARTITION BY .+|\( .+)$/,
  50606: /^(?:STORAGE (?:DISK|MEMORY)|COLUMN_FORMAT (?:FIXED|DYNAMIC))$/,
  50611: /^ALGORITHM = [12]$/,
  80000: /^INVISIBLE$/,
  80003: /^SRID \d+$/,
  80013: /^NOT SECONDARY$/,
  80016: /^(?:NOT ENFORCED|(?:DEFAULT )?ENCRYPTION (?:= )?T)$/,
  80021: /^(?:SECONDARY_)?ENGINE_ATTRIBUTE (?:= )?T$/,
  80023: /^(?:INVISIBLE|AUTOEXTEND_SIZE (?:= )?\w+)$/,
  100301: /^COMPRESSED(?: \w+)?$/,
};

/** Version from which on a server of either flavour may skip a comment. */
const MAY_BE_SKIPPED = 50_700;
/** Version from which on MariaDB writes comments of its own. */
const MARIADB = 100_000;

export function renderStatement(what: string, sql: string): string {
  const tokens = [...tokensOf(sql)];
  assertClearTokens({ what, sql }, tokens);
  const parts: string[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as Token;
    if (token.kind === 'versionEnd') throw refusedAt({ what, sql }, token, 'no version comment is open');
    if (token.kind !== 'version') {
      parts.push(token.kind === 'space' || token.kind === 'comment' ? ' ' : token.text);
      continue;
    }
    const end = tokens.findIndex(({ kind }, place) => place > at && kind !== 'space' && !isPlain(kind));
    const inner = tokens.slice(at + 1, end === -1 ? undefined : end);
    if (tokens[end]?.kind !== 'versionEnd')
      throw refusedAt({ what, sql }, tokens[end] ?? token, 'a version comment has no end');
    const [, flavour = '', version = ''] = /^\/\*(M?)!(\d+)$/.exec(token.text) ?? [];
    const isWritten = CLAUSES[version]?.test(shapeOf(inner)) === true && (flavour === '' || Number(version) >= MARIADB);
    if (!isWritten) {
      throw refusedAt({ what, sql }, token, 'SHOW CREATE writes no such version comment');
    }
    const text = textOf(inner);
    if (Number(version) < MAY_BE_SKIPPED) parts.push(' ', text, ' ');
    else if (/\*\/|\/\*/.test(text)) throw refusedAt({ what, sql }, token, 'its text may end the version comment');
    else parts.push(`/*${flavour}!${version} ${text} */`);
    at = end;
  }
  return parts.join('').replace(/ $/, '').replace(/^ /, '');
}

function isPlain(kind: Token['kind']): boolean {
  return kind !== 'version' && kind !== 'versionEnd' && kind !== 'comment' && kind !== 'open';
}

function textOf(tokens: Token[]): string {
  return tokens
    .map(({ kind, text }) => (kind === 'space' ? ' ' : text))
    .join('')
    .trim();
}

function shapeOf(tokens: Token[]): string {
  return tokens
    .filter(({ kind }) => kind !== 'space')
    .map(({ kind, value }) => (kind === 'name' ? 'N' : kind === 'text' ? 'T' : value))
    .join(' ');
}

/**
 * Views and stored programs keep plain comments, which every server reads alike. Servers store no version comments in
 * them. The end has no blanks and no semicolon: a packet adds one, and a copy of a copy would gain one more.
 */
export function renderCode(code: Code): Code {
  const { kind, name, create, sql_mode, bytes, charset } = code;
  const what = `${kind.toLowerCase()} ${name}`;
  const mode = lexicalModeOf(sql_mode);
  const render = (sql: string): string => {
    const tokens = [...tokensOf(sql, mode)];
    assertClearTokens({ what, sql }, tokens);
    const version = tokens.find((token) => token.kind === 'version' || token.kind === 'versionEnd');
    if (version) throw refusedAt({ what, sql }, version, 'servers store no version comments in views and programs');
    const last = tokens.findLast(({ kind: found, text }) => found !== 'space' && text !== ';');
    return last ? sql.slice(0, last.at + last.text.length) : '';
  };
  if (charset !== null && !isClientCharset(charset)) {
    throw refused({ what }, `no client writes statements in the character set ${charset}`);
  }
  if (bytes === undefined) return { ...code, create: render(create) };
  const text = textOfBytes(Buffer.from(bytes, 'base64'), charset ?? '');
  const names = [...tokensOf(text, mode)].filter((token) => token.kind === 'name');
  const isBroken = names.some(({ value }) => !hasWholeLetters(value, charset ?? ''));
  if (isBroken || (mode.plainBackslash !== true && escapesPair(text))) {
    throw refused({ what }, 'the server would end a quote in its bytes elsewhere');
  }
  return { ...code, create: render(create), bytes: bytesOfText(render(text)).toString('base64') };
}

function assertClearTokens(statement: { what: string; sql: string }, tokens: Token[]): void {
  const unclear = unclearIn(tokens);
  if (!unclear) return;
  const isOpen = unclear.kind === 'open';
  throw refusedAt(statement, unclear, isOpen ? 'a quote or comment in it never ends' : 'servers read it differently');
}
