import { bytesOfText, textOfBytes } from '../client-bytes.ts';
import type { Code, CodeDefinitions } from './definitions.ts';
import { lexicalModeOf, significant, type Token } from './tokens.ts';

/** `CREATE EVENT … ON SCHEDULE … [ENABLE | DISABLE …] [COMMENT …] DO …`: the tokens before DO, outside parentheses. */
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

function isWord({ kind, value }: Token, word: string): boolean {
  return kind === 'word' && value === word;
}

/** Whether the event would run as soon as it is created: what says nothing else does. */
export function isEnabled(event: Code): boolean {
  return !headOf(event).some((token) => isWord(token, 'DISABLE'));
}

/** The code with every event disabled: they belong to the source, whose mails they send and whose rows they delete. */
export function withEventsDisabled<Kept extends CodeDefinitions>(code: Kept): Kept {
  return { ...code, events: code.events.map((event) => rewritten(event, disabled)) };
}

/** The events of a copy as they are in the original: those that run there do in the definitions. */
export function withEventsEnabled<Kept extends CodeDefinitions>(code: Kept, names: string[]): Kept {
  const events = code.events.map((event) => (names.includes(event.name) ? rewritten(event, enabled) : event));
  return { ...code, events };
}

/** The event with its statement changed, as text and in the bytes of its client. */
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

/** Whether the server may drop the event at once: it happens once or ends, and is not kept after that. */
export function mayBePast(event: Code): boolean {
  const head = headOf(event);
  const words = head.filter(({ kind }) => kind === 'word').map(({ value }) => value);
  return (words.includes('AT') || words.includes('ENDS')) && !/\bON COMPLETION PRESERVE\b/.test(words.join(' '));
}

/**
 * Events, triggers and routines that name the database they are from: created under another name they still read and
 * write it. Names that the server has quoted are taken out with the definitions; what is left was written by hand, or
 * stands in the text of a prepared statement.
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

/** What stands before a dot in the text of a statement. */
function qualifiersIn(text: string): string[] {
  return [...text.matchAll(/([\p{L}\p{N}_$]+)`?\s*\./gu)].map(([, name]) => name ?? '');
}
