import { bytesOfText, textOfBytes } from './client-bytes.ts';
import type { Code, CodeDefinitions } from './definitions.ts';
import { isWord, lexicalModeOf, significant, type Token } from './tokens.ts';

/** The tokens before DO, outside parentheses: `CREATE EVENT … ON SCHEDULE … [ENABLE | DISABLE …] [COMMENT …] DO …`. */
function headOf({ create, sql_mode }: Code): Token[] {
  const tokens = significant(create, lexicalModeOf(sql_mode));
  const schedule = tokens.findIndex((token) => isWord(token, 'SCHEDULE'));
  const head: Token[] = [];
  let depth = 0;
  for (const token of tokens.slice(schedule + 1)) {
    if (token.text === '(') depth += 1;
    if (token.text === ')') depth -= 1;
    if (depth > 0) continue;
    head.push(token);
    if (isWord(token, 'DO')) break;
  }
  return head;
}

export function isEnabled(event: Code): boolean {
  return !headOf(event).some((token) => isWord(token, 'DISABLE'));
}

/** Disables every event: it would act for the source, send its mail, delete rows. */
export function withEventsDisabled<Kept extends CodeDefinitions>(code: Kept): Kept {
  return { ...code, events: code.events.map((event) => rewritten(event, disabled)) };
}

export function withEventsEnabled<Kept extends CodeDefinitions>(code: Kept, names: string[]): Kept {
  const events = code.events.map((event) => (names.includes(event.name) ? rewritten(event, enabled) : event));
  return { ...code, events };
}

function rewritten(event: Code, change: (event: Code) => string): Code {
  const create = change(event);
  if (event.bytes === undefined) return { ...event, create };
  const text = textOfBytes(Buffer.from(event.bytes, 'base64'), event.charset ?? '');
  return { ...event, create, bytes: bytesOfText(change({ ...event, create: text })).toString('base64') };
}

function enabled(event: Code): string {
  const disable = headOf(event).find((token) => isWord(token, 'DISABLE'));
  return disable ? replaced(event.create, disable, 'ENABLE') : event.create;
}

function disabled(event: Code): string {
  const { create } = event;
  if (!isEnabled(event)) return create;
  const head = headOf(event);
  const enable = head.findLast((token) => isWord(token, 'ENABLE'));
  if (enable) return replaced(create, enable, 'DISABLE');
  const next = head.find((token) => isWord(token, 'COMMENT')) ?? head.at(-1);
  return next ? replaced(create, next, `DISABLE ${next.text}`) : create;
}

function replaced(text: string, { at, text: old }: Token, by: string): string {
  return text.slice(0, at) + by + text.slice(at + old.length);
}

/**
 * Reports whether the server may have dropped the event already: a single or last run, without ON COMPLETION PRESERVE.
 */
export function mayBePast(event: Code): boolean {
  const head = headOf(event);
  const words = head.filter(({ kind }) => kind === 'word').map(({ value }) => value);
  return (words.includes('AT') || words.includes('ENDS')) && !/\bON COMPLETION PRESERVE\b/.test(words.join(' '));
}

/**
 * Code that names its own database, and so would act on the source under any other name. Names quoted by the server
 * are removed with the definitions; the rest is hand-written, or in the text of a prepared statement.
 */
export function namersOf(code: Pick<CodeDefinitions, 'events' | 'triggers' | 'routines'>, database: string): string[] {
  const isOwn = (name: string): boolean => name.toLowerCase() === database.toLowerCase();
  return [...code.events, ...code.triggers, ...code.routines].flatMap((each) => {
    const tokens = significant(each.create, lexicalModeOf(each.sql_mode));
    const prepares = tokens.some((token) => isWord(token, 'PREPARE') || isWord(token, 'IMMEDIATE'));
    const names = tokens.some(({ kind, text, value }, at) => {
      if (kind === 'text') return prepares && qualifiersIn(text).some(isOwn);
      const name = kind === 'name' ? value : kind === 'word' ? text : null;
      return name !== null && isOwn(name) && tokens[at + 1]?.text === '.' && tokens[at - 1]?.text !== '.';
    });
    return names ? [`${each.kind.toLowerCase()} ${each.name}`] : [];
  });
}

function qualifiersIn(text: string): string[] {
  return [...text.matchAll(/([\p{L}\p{N}_$]+)`?\s*\./gu)].map(([, name]) => name ?? '');
}
