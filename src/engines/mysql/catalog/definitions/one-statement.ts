import { isWord, type Token } from './tokens.ts';

/**
 * Reports whether a stored program, from behind its name, is one statement: semicolons are within blocks only, and nothing
 * follows the last block but its label. MySQL takes the programs of a swap in one packet with other statements. Not for
 * Oracle's mode, of MariaDB, which takes each of them by EXECUTE IMMEDIATE.
 */
export function isOneStatement(tokens: Token[]): boolean {
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
