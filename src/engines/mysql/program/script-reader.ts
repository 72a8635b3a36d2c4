import { createLexer, type LexicalMode, lexicalModeOf } from '../definitions/tokens.ts';
import { createInsertScanner, type InsertScanner } from './insert-scanner.ts';

export interface ScriptTaker {
  statement(text: string): Promise<void>;
  rows(bytes: Uint8Array, insert: InsertScanner): Promise<void>;
}

export class ScriptCutShort extends Error {
  override readonly name = 'ScriptCutShort';
}

const INSERT = 'INSERT INTO ';
const MOST_STATEMENT = 64 * 1024 * 1024;
const SANDBOX = /^\/\*M?!999999\\- enable the sandbox mode \*\/ ?/;

/** Splits the output of mysqldump as the client does, with `DELIMITER`; rows pass through in blocks. */
export async function readScript(output: AsyncIterable<Uint8Array>, taker: ScriptTaker): Promise<void> {
  let text = '';
  let delimiter = ';';
  let mode: LexicalMode = {};
  let insert: InsertScanner | null = null;
  let isFirst = true;

  function cut(ended: boolean): { statement: string; next: number } | null {
    const lexer = createLexer(mode);
    for (let at = 0; at < text.length; ) {
      const token = lexer(text, at);
      const end = at + token.text.length;
      // A token at the end of the text may continue, but a delimiter is complete.
      const isWhole = token.kind !== 'open' && (end < text.length || ended);
      if (!isWhole && !text.startsWith(delimiter, at)) return null;
      if (text.startsWith(delimiter, at)) return { statement: text.slice(0, at), next: at + delimiter.length };
      at = end;
    }
    return null;
  }

  async function takeStatements(ended: boolean): Promise<void> {
    while (true) {
      text = text.trimStart();
      if (isFirst && text.length > 0) {
        if (!ended && text.length < 100) return;
        text = text.replace(SANDBOX, '').trimStart();
        isFirst = false;
      }
      const comment = /^--[^\n]*\n/.exec(text);
      if (comment) {
        text = text.slice(comment[0].length);
        continue;
      }
      if (text.startsWith(INSERT)) {
        insert = createInsertScanner();
        return;
      }
      if (!ended && text.length < INSERT.length) return;
      const command = /^DELIMITER[ \t]+(\S+)[^\n]*(\n|$)/i.exec(text);
      if (command) {
        if (command[2] === '' && !ended) return;
        delimiter = command[1] ?? ';';
        text = text.slice(command[0].length);
        continue;
      }
      const found = cut(ended);
      if (!found) {
        if (text.length > MOST_STATEMENT) throw new Error('a statement of the script has no end');
        return;
      }
      text = text.slice(found.next);
      const statement = Buffer.from(found.statement, 'latin1').toString('utf8').trim();
      if (statement === '') continue;
      const sqlMode = /^(?:\/\*!\d+ )?SET sql_mode\s*=\s*'([A-Za-z0-9_,]*)'/i.exec(statement)?.[1];
      if (sqlMode !== undefined) mode = lexicalModeOf(sqlMode);
      else if (/^(?:\/\*!\d+ )?SET sql_mode\s*=\s*@/i.test(statement)) mode = {};
      await taker.statement(statement);
    }
  }

  for await (const part of output) {
    let block: Uint8Array = part;
    while (block.length > 0) {
      if (!insert) {
        text += Buffer.from(block.buffer, block.byteOffset, block.byteLength).toString('latin1');
        block = block.subarray(block.length);
        await takeStatements(false);
        if (!insert) continue;
        block = Buffer.from(text, 'latin1');
        text = '';
      }
      const scanner: InsertScanner = insert;
      const end = scanner.scan(block, 0);
      if (scanner.table !== null) {
        await taker.rows(block.subarray(0, end), scanner);
        block = block.subarray(end);
        if (scanner.done) insert = null;
        continue;
      }
      // An incomplete head is read again with the next block.
      text = Buffer.from(block.buffer, block.byteOffset, block.byteLength).toString('latin1');
      block = block.subarray(block.length);
      insert = null;
    }
  }
  await takeStatements(true);
  if (insert || text.trim() !== '') throw new ScriptCutShort();
}
