import type { Token } from './tokens.ts';

/**
 * Reports whether a stored program, from behind its name, is one statement: semicolons are within blocks only, and nothing
 * follows the last block but its label. MySQL takes the programs of a swap in one packet with other statements. Not for
 * Oracle's mode, of MariaDB, which takes each of them by EXECUTE IMMEDIATE.
 */
export function isOneStatement(tokens: Token[]): boolean {
  const body = tokens.at(-1)?.text === ';' ? tokens.slice(0, -1) : tokens;
  const first = body.findIndex(({ text }) => text === ';');
  if (first === -1) return true;
  const start = startOfBlocks(body.slice(0, first));
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

function startOfBlocks(tokens: Token[]): number {
  let depth = 0;
  for (const [at, { kind, text, value }] of tokens.entries()) {
    if (text === '(') depth += 1;
    if (text === ')') depth -= 1;
    if (depth > 0 || kind !== 'word' || isOfHead(tokens, at)) continue;
    if (BLOCKS.has(value)) return at;
    if (SIMPLE.has(value)) return -1;
  }
  return -1;
}

/** `BEFORE INSERT ON … FOR EACH ROW` of a trigger, `RETURNS … CHARACTER SET …` and `RETURNS set(…)` of a function. */
function isOfHead(tokens: Token[], at: number): boolean {
  const [before, { value }, after] = [tokens[at - 1], tokens[at] as Token, tokens[at + 1]];
  if (value === 'FOR') return after?.value === 'EACH';
  if (value === 'SET') return before?.value === 'CHARACTER' || before?.value === 'RETURNS';
  return at === 1 && (before?.value === 'BEFORE' || before?.value === 'AFTER');
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
    const wasStart = isStart || (handles && value !== 'FOR');
    isStart = value === ';' || value === ':';
    if (value === ';' || SIMPLE.has(value) || (wasStart && BLOCKS.has(value))) handles = false;
    if (value === 'CASE' && !wasStart) open.push('expression');
    else if (wasStart && BLOCKS.has(value)) {
      open.push(value);
      isStart = value === 'BEGIN' || value === 'LOOP' || value === 'REPEAT';
      if (value === 'BEGIN' && tokens[at + 1]?.value === 'NOT') at += 2;
    } else if (value === 'HANDLER') handles = true;
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

function isLabel(token: Token | undefined): boolean {
  return token?.kind === 'word' || token?.kind === 'name';
}
