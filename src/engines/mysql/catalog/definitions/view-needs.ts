import type { WarningEvent } from '../../../../results/events.ts';
import type { Code, CodeDefinitions } from './definitions.ts';
import { isWord, type LexicalMode, significant, type Token } from './tokens.ts';

interface ViewNeeds {
  tables: Set<string>;
  routines: Set<string>;
}

/** `create`: from SHOW CREATE VIEW, with all names quoted, without the own database. */
export function viewNeeds(create: string, mode: LexicalMode = {}): ViewNeeds {
  const tokens = significant(create, mode);
  const start = tokens.findIndex((token) => isWord(token, 'VIEW')) + 2;
  const needs: ViewNeeds = { tables: new Set(), routines: new Set() };
  const own = new Set<string>();
  const joins: boolean[] = [false];
  for (let at = start; at < tokens.length; at += 1) {
    const token = tokens[at];
    const before = tokens[at - 1];
    if (!token) continue;
    if (token.text === '(') joins.push(startsTables(tokens, at - 1) || (before?.text === '(' && joins.at(-1) === true));
    if (token.text === ')') joins.pop();
    if (token.kind !== 'name' || tokens[at + 1]?.text === '.' || before?.text === '.') continue;
    if (isCommonTable(tokens, at)) own.add(token.value);
    else if (startsTables(tokens, at - 1) || (before?.text === '(' && joins.at(-1) === true))
      needs.tables.add(token.value);
    else if (before?.text === '(' && isWord(tokens[at - 2], 'NEXTVAL', 'LASTVAL', 'SETVAL'))
      needs.tables.add(token.value);
    else if (tokens[at + 1]?.text === '(' && isCall(before)) needs.routines.add(token.value.toLowerCase());
  }
  for (const name of own) needs.tables.delete(name);
  return needs;
}

/** `FROM` or `JOIN`, but not the FROM of `extract(year from …)`. */
function startsTables(tokens: Token[], at: number): boolean {
  if (isWord(tokens[at], 'JOIN', 'STRAIGHT_JOIN')) return true;
  return isWord(tokens[at], 'FROM') && isOfQuery(tokens, at);
}

function isOfQuery(tokens: Token[], from: number): boolean {
  let depth = 0;
  for (let at = from - 1; at >= 0; at -= 1) {
    const token = tokens[at];
    if (token?.text === ')') depth += 1;
    if (token?.text === '(') {
      if (depth === 0) return isWord(tokens[at + 1], 'SELECT', 'WITH');
      depth -= 1;
    }
  }
  return true;
}

function isCommonTable(tokens: Token[], at: number): boolean {
  let next = at + 1;
  if (tokens[next]?.text === '(') {
    while (next < tokens.length && tokens[next]?.text !== ')') next += 1;
    next += 1;
  }
  return isWord(tokens[next], 'AS') && tokens[next + 1]?.text === '(';
}

/** Not the column list of a derived table. */
function isCall(before: Token | undefined): boolean {
  return before?.text !== ')' && before?.kind !== 'name' && !isWord(before, 'AS');
}

/** The server keeps views of missing objects, but cannot create them. */
export function invalidViewsOf({ views }: Pick<CodeDefinitions, 'views'>): string[] {
  return views.filter(({ invalid }) => invalid).map(({ name }) => name);
}

const REASON = 'they reference missing tables, columns or functions, or their user lacks a privilege';

export function invalidViewsFound(names: string[]): WarningEvent[] {
  const message = `Views that are not valid: ${names.join(', ')}. Their definitions are stored, and a load creates them only where they are valid: ${REASON}`;
  return names.length === 0 ? [] : [{ event: 'warning', code: 'view_invalid', message }];
}

export function viewsNotCreated(views: Pick<Code, 'name'>[]): WarningEvent[] {
  const names = views.map(({ name }) => name).join(', ');
  const message = `Views that were not created: ${names}: ${REASON}`;
  return views.length === 0 ? [] : [{ event: 'warning', code: 'view_invalid', message }];
}
