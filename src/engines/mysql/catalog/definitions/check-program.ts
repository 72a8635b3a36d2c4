import { type Definition, definitionOf, isNamed, refused } from './checked-definition.ts';
import { asLexed, hasTokensOf, textOfBytes } from './client-bytes.ts';
import type { Code } from './definitions.ts';
import { definerLength, isWord, lexicalModeOf, type Token } from './tokens.ts';

const HEADS: Record<string, RegExp> = {
  VIEW: /^(OR REPLACE )?(ALGORITHM = \w+ )?(SQL SECURITY (DEFINER|INVOKER) )?VIEW$/,
  TRIGGER: /^(OR REPLACE )?TRIGGER$/,
  EVENT: /^(OR REPLACE )?EVENT$/,
  PROCEDURE: /^(OR REPLACE )?PROCEDURE$/,
  FUNCTION: /^(OR REPLACE )?(AGGREGATE )?FUNCTION$/,
  PACKAGE: /^(OR REPLACE )?PACKAGE$/,
  'PACKAGE BODY': /^(OR REPLACE )?PACKAGE BODY$/,
};

export function checkProgram(code: Code, database: string | null): void {
  const { kind, name, create, sql_mode, charset, bytes } = code;
  const mode = lexicalModeOf(sql_mode);
  const statement = bytes === undefined || charset === null ? create : asLexed(create, charset);
  const definition = definitionOf(`${kind.toLowerCase()} ${name}`, statement, mode);
  checkBytes(definition, code);
  const tokens = definition.tokens.filter((token) => token.kind !== 'comment');
  const notOne = `it is not one CREATE ${kind} of this name`;
  const start = headEnd(tokens, kind);
  if (start === -1 || tokens[0]?.value !== 'CREATE') throw refused(definition, notOne);
  checkDefiner(definition, tokens.slice(0, start));
  const head = tokens.slice(1, start).filter((_, at) => !inDefiner(tokens, at + 1));
  const words = head.map((token) => (token.kind === 'word' || token.text === '=' ? token.value : '?'));
  if (!HEADS[kind]?.test(words.join(' '))) throw refused(definition, notOne);
  const [named, ...rest] = withoutOwn(afterExists(tokens.slice(start)), database);
  if (!isNamed(named, name)) throw refused(definition, notOne);
  if (rest[0]?.text === '.') throw refused(definition, `it names the database ${named?.text}`);
  BODIES[kind]?.({ ...definition, tokens: rest }, database);
  const isOracle = kind.startsWith('PACKAGE') || /\bORACLE\b/i.test(sql_mode ?? '');
  if (!isOracle && !isOneStatement(rest)) throw refused(definition, 'it is more than one statement');
}

/** The bytes are executed, the text is checked. */
function checkBytes(definition: Definition, { create, sql_mode, charset, bytes }: Code): void {
  if (bytes === undefined) return;
  const text = textOfBytes(Buffer.from(bytes, 'base64'), charset ?? '');
  if (charset === null || !hasTokensOf(create, text, { charset, mode: lexicalModeOf(sql_mode) })) {
    throw refused(definition, 'its bytes are another statement than its text');
  }
}

/** After the words of the kind; -1 without them. */
function headEnd(tokens: Token[], kind: string): number {
  const words = kind.split(' ');
  const at = tokens.findIndex(
    (token, index) => token.value === words[0] && token.kind === 'word' && !inDefiner(tokens, index),
  );
  const isWhole = words.every(
    (word, index) => tokens[at + index]?.kind === 'word' && tokens[at + index]?.value === word,
  );
  return at === -1 || !isWhole ? -1 : at + words.length;
}

function inDefiner(tokens: Token[], at: number): boolean {
  const from = tokens.findIndex((token) => isWord(token, 'DEFINER'));
  if (from === -1 || tokens[from + 1]?.text !== '=') return false;
  return at >= from && at < from + definerLength(tokens.slice(from));
}

/** SHOW CREATE quotes accounts; without quotes a name may be a word of a clause. */
function checkDefiner(definition: Definition, head: Token[]): void {
  const from = head.findIndex((token) => isWord(token, 'DEFINER'));
  if (from === -1) return;
  const [, , user, , host] = head.slice(from, from + definerLength(head.slice(from)));
  const isQuoted = [user, host ?? user].every((token) => token?.kind === 'name' || token?.kind === 'text');
  const isCurrent = user?.kind === 'word' && user.value === 'CURRENT_USER';
  if (!isQuoted && !isCurrent) throw refused(definition, 'its definer is not a quoted account');
}

function withoutOwn(tokens: Token[], database: string | null): Token[] {
  const isOwn = database !== null && tokens[1]?.text === '.' && isNamed(tokens[0], database);
  return isOwn ? tokens.slice(2) : tokens;
}

function afterExists(tokens: Token[]): Token[] {
  const words = tokens.slice(0, 3).map(({ kind, value }) => (kind === 'word' ? value : ''));
  return words.join(' ') === 'IF NOT EXISTS' ? tokens.slice(3) : tokens;
}

const BODIES: Record<string, (definition: Definition, database: string | null) => void> = {
  VIEW(definition) {
    for (const { kind, value, text } of definition.tokens) {
      if (kind === 'version' || kind === 'versionEnd') throw refused(definition, 'it holds a comment');
      if (text === ';') throw refused(definition, 'it is more than one statement');
      if (kind === 'word' && ['INTO', 'OUTFILE', 'DUMPFILE'].includes(value))
        throw refused(definition, `it holds ${value}`);
    }
  },
  TRIGGER(definition, database) {
    const [time, what, on, ...target] = definition.tokens;
    const [, after] = withoutOwn(target, database);
    const isTrigger = /^(BEFORE|AFTER) (INSERT|UPDATE|DELETE) ON$/.test(
      [time, what, on].map((one) => one?.value).join(' '),
    );
    if (!isTrigger) throw refused(definition, 'it is not one CREATE TRIGGER of this name');
    if (after?.text === '.') throw refused(definition, 'it names the database of its table');
  },
  EVENT(definition) {
    const shape = definition.tokens.map(({ kind, value }) => (kind === 'text' ? 'T' : kind === 'name' ? 'N' : value));
    if (!EVENT_HEAD.test(shape.join(' '))) throw refused(definition, 'it is not one CREATE EVENT of this name');
  },
  // Without parameters it is a library function: RETURNS … SONAME.
  FUNCTION(definition) {
    const [first] = definition.tokens;
    if (first?.text !== '(' && first?.value !== 'RETURN') throw refused(definition, 'it has no parameters');
  },
};

/** Clauses in the order of SHOW CREATE: the state of an event is where `events.ts` reads and sets it. */
const EVENT_HEAD =
  /^ON SCHEDULE (?:AT T|EVERY (?:\d+|T) [A-Z_]+(?: STARTS T)?(?: ENDS T)?)(?: ON COMPLETION (?:NOT )?PRESERVE)?(?: ENABLE| DISABLE(?: ON (?:SLAVE|REPLICA))?)?(?: COMMENT T)? DO /;

/**
 * Reports whether a stored program, from behind its name, is one statement: semicolons are within blocks only, and nothing
 * follows the last block but its label. MySQL takes the programs of a swap in one packet with other statements. Not for
 * Oracle's mode, of MariaDB, which takes each of them by EXECUTE IMMEDIATE.
 */
function isOneStatement(tokens: Token[]): boolean {
  const body = tokens.at(-1)?.text === ';' ? tokens.slice(0, -1) : tokens;
  const first = body.findIndex(({ text }) => text === ';');
  if (first === -1) return true;
  const start = blockStart(body.slice(0, first));
  return start !== -1 && endOfBlocks(body, start) === body.length;
}

const BLOCKS = new Set('BEGIN IF CASE LOOP REPEAT WHILE FOR'.split(' '));

/** First words of statements that are no block. */
const SIMPLE = new Set(
  [
    'SELECT INSERT UPDATE DELETE REPLACE SET RETURN CALL DROP CREATE ALTER TRUNCATE GRANT REVOKE EXECUTE PREPARE',
    'DEALLOCATE TABLE VALUES WITH LOAD RENAME LOCK UNLOCK SIGNAL RESIGNAL KILL FLUSH SHOW USE ANALYZE OPTIMIZE REPAIR',
    'START COMMIT ROLLBACK SAVEPOINT PURGE RESET CHANGE INSTALL UNINSTALL GET',
  ].flatMap((words) => words.split(' ')),
);

/** The block that the program begins with; -1 where it begins with another statement. */
function blockStart(tokens: Token[]): number {
  const from = bodyStart(tokens);
  const at = isLabel(tokens[from]) && tokens[from + 1]?.text === ':' ? from + 2 : from;
  return isWord(tokens[at], ...BLOCKS) ? at : -1;
}

/** The first token behind the head of a trigger, an event or a routine; the number of tokens where there is none. */
function bodyStart(tokens: Token[]): number {
  if (isWord(tokens[0], 'BEFORE', 'AFTER')) return behindTriggerHead(tokens);
  if (isWord(tokens[0], 'ON')) return behindWord(tokens, 'DO');
  return behindRoutineHead(tokens);
}

function behindTriggerHead(tokens: Token[]): number {
  const at = tokens.findIndex(
    (token, index) => isWord(token, 'EACH') && isWord(tokens[index - 1], 'FOR') && isWord(tokens[index + 1], 'ROW'),
  );
  if (at === -1) return tokens.length;
  return isWord(tokens[at + 2], 'FOLLOWS', 'PRECEDES') ? at + 4 : at + 2;
}

function behindWord(tokens: Token[], word: string): number {
  const at = tokens.findIndex((token) => isWord(token, word));
  return at === -1 ? tokens.length : at + 1;
}

/** Parameters, the type of a result, and characteristics, as SHOW CREATE writes them. */
function behindRoutineHead(tokens: Token[]): number {
  let at = behindParentheses(tokens, 0);
  if (isWord(tokens[at], 'RETURNS')) at = behindType(tokens, at + 1);
  while (isWord(tokens[at], ...CHARACTERISTICS) || (tokens[at]?.kind === 'text' && isWord(tokens[at - 1], 'COMMENT')))
    at += 1;
  return at;
}

const CHARACTERISTICS =
  'COMMENT LANGUAGE SQL NOT DETERMINISTIC CONTAINS NO READS MODIFIES DATA SECURITY DEFINER INVOKER'.split(' ');

function behindType(tokens: Token[], from: number): number {
  let at = from + 1;
  while (at < tokens.length) {
    if (tokens[at]?.text === '(') at = behindParentheses(tokens, at);
    else if (isWord(tokens[at], ...NAMED_PARTS)) at += 2;
    else if (isWord(tokens[at], ...TYPE_PARTS)) at += 1;
    else break;
  }
  return at;
}

/** Parts of a type that a name follows. */
const NAMED_PARTS = ['CHARSET', 'SET', 'COLLATE'];
const TYPE_PARTS = 'UNSIGNED SIGNED ZEROFILL BINARY PRECISION VARYING CHARACTER CHAR VARCHAR'.split(' ');

function behindParentheses(tokens: Token[], from: number): number {
  let depth = 0;
  for (let at = from; at < tokens.length; at += 1) {
    if (tokens[at]?.text === '(') depth += 1;
    if (tokens[at]?.text === ')') depth -= 1;
    if (depth === 0) return tokens[at]?.text === ')' ? at + 1 : at;
  }
  return tokens.length;
}

/** The place behind the last block and its label; -1 where it never ends. */
function endOfBlocks(tokens: Token[], from: number): number {
  const open: string[] = [];
  let isStart = true;
  let handles = false;
  for (let at = from; at < tokens.length; at += 1) {
    const { kind, text, value: upper } = tokens[at] as Token;
    const value = kind === 'word' ? upper : text;
    const top = open.at(-1);
    const wasStart = isStart || (handles && value !== 'FOR' && !namesCondition(tokens, at));
    isStart = value === ';' || value === ':';
    if (value === ';' || SIMPLE.has(value) || (wasStart && BLOCKS.has(value))) handles = false;
    if (value === 'CASE' && !wasStart) open.push('expression');
    else if (wasStart && BLOCKS.has(value)) {
      open.push(value);
      isStart = value === 'BEGIN' || value === 'LOOP' || value === 'REPEAT';
      if (value === 'BEGIN' && tokens[at + 1]?.value === 'NOT') at += 2;
    } else if (value === 'HANDLER') handles = isWord(tokens[at - 2], 'DECLARE');
    else if (value === 'THEN' || value === 'ELSE') isStart = top !== 'expression';
    else if (value === 'DO') isStart = top === 'WHILE' || top === 'FOR';
    else if (value === 'END') {
      const closed = open.pop();
      if (closed !== 'expression' && closed !== 'BEGIN') {
        if (closed === undefined || tokens[at + 1]?.value !== closed) return -1;
        at += 1;
      }
      if (open.length === 0) return at + (isLabel(tokens[at + 1]) ? 2 : 1);
    }
  }
  return -1;
}

/** A condition may have the name of a block: `HANDLER FOR begin, 1062 …`. */
function namesCondition(tokens: Token[], at: number): boolean {
  const before = tokens[at - 1];
  return before?.text === ',' || isWord(before, 'FOR');
}

function isLabel(token: Token | undefined): boolean {
  return token?.kind === 'word' || token?.kind === 'name';
}
