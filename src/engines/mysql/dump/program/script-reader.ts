import { ScriptProblem } from '../../../shared/script/script-problem.ts';
import type { ScriptPart } from '../../../shared/script/split-script.ts';
import { createSplitter, type InsertedRows, type MysqlStatement } from '../../restore/script/split.ts';
import type { InsertScanner } from './insert-scanner.ts';

export interface ScriptTaker {
  statement(text: string): Promise<void>;
  rows(bytes: Uint8Array, insert: InsertScanner): Promise<void>;
}

export class ScriptCutShort extends Error {
  override readonly name = 'ScriptCutShort';
}

/** Reads the output of mysqldump; rows pass through in blocks. */
export async function readScript(output: AsyncIterable<Uint8Array>, taker: ScriptTaker): Promise<void> {
  const splitter = createSplitter({ inserts: true });
  const take = async (parts: ScriptPart[]): Promise<void> => {
    for (const part of parts as (MysqlStatement | InsertedRows)[]) {
      if (part.kind === 'rows') await taker.rows(part.bytes, part.insert);
      else if (part.isDelimited) await taker.statement(part.bytes.toString('utf8'));
      else throw new ScriptCutShort();
    }
  };
  for await (const block of output) await take(splitter.push(block));
  await take(lastOf(splitter));
}

function lastOf(splitter: ReturnType<typeof createSplitter>): ScriptPart[] {
  try {
    return splitter.end();
  } catch (error) {
    throw error instanceof ScriptProblem ? new ScriptCutShort() : error;
  }
}
