import { createReadStream } from 'node:fs';
import { scriptRefused } from './script-errors.ts';
import { ScriptProblem } from './script-problem.ts';
import type { ScriptPosition, TextWindow } from './text-window.ts';

/** A statement of a script, without its end. */
export interface ScriptStatement extends ScriptPosition {
  kind: 'statement';
  /** From 1. */
  number: number;
  bytes: Buffer;
  /** In upper case, outside quotes and comments. */
  words: string[];
  hasRows: boolean;
}

/** Rows that follow the statement before them (`COPY … FROM STDIN`). */
export interface ScriptRows {
  kind: 'rows';
  bytes: Buffer;
  /** The last ones of the statement. */
  isLast: boolean;
}

export type ScriptPart = ScriptStatement | ScriptRows;

/** Splits a script whose bytes arrive in chunks that end anywhere. */
export interface ScriptSplitter {
  push(chunk: Uint8Array): ScriptPart[];
  end(): ScriptPart[];
}

/** In bytes; a larger one does not fit into the memory of most servers. */
export const MOST_STATEMENT = 256 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** Reads an SQL file, or the text that is given instead; an error names file, line and column. */
export async function* readScript(
  file: string,
  splitter: ScriptSplitter,
  text: AsyncIterable<Uint8Array> = createReadStream(file, { highWaterMark: CHUNK_BYTES }),
): AsyncGenerator<ScriptPart> {
  try {
    for await (const chunk of text) yield* splitter.push(chunk);
    yield* splitter.end();
  } catch (error) {
    if (error instanceof ScriptProblem) throw scriptRefused(file, error);
    throw error;
  }
}

export function splitText(text: string, splitter: ScriptSplitter): ScriptStatement[] {
  return [...splitter.push(Buffer.from(text)), ...splitter.end()].filter((part) => part.kind === 'statement');
}

export function unterminated(what: string, position: ScriptPosition): ScriptProblem {
  return new ScriptProblem(`a ${what} without an end`, { position, hint: 'Close it.' });
}

export function tooLong(position: ScriptPosition): ScriptProblem {
  return new ScriptProblem('a statement of more than 256 MB', { position, hint: 'Write it as several statements.' });
}

/** The text from an offset to the end of its line, shortened. */
export function lineFrom({ bytes }: TextWindow, offset: number): string {
  const shown = bytes.subarray(offset, offset + SHOWN_BYTES).toString('utf8');
  return (/^[^\r\n]*/.exec(shown)?.[0] ?? '').trim();
}

const SHOWN_BYTES = 120;
