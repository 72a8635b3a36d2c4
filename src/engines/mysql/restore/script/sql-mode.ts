import type { ScriptStatement } from '../../../shared/script/split-script.ts';
import { type LexicalMode, lexicalModeOf } from '../../catalog/definitions/tokens.ts';

const MOST_BYTES = 4096;
const ASSIGNED = /\bsql_mode\s*:?=\s*(?:'([^']*)'|"([^"]*)"|@(\w+)|\w+)|@(\w+)\s*:?=\s*@@(?:session\.)?sql_mode\b/gi;

export interface FollowedModes {
  first: LexicalMode;
  /** The mode behind a statement, which may set it or save it in a variable, as dumps do. */
  after(statement: Pick<ScriptStatement, 'words' | 'bytes'>): LexicalMode;
}

export function followModes(sqlMode: string): FollowedModes {
  const first = lexicalModeOf(sqlMode);
  const saved = new Map<string, LexicalMode>();
  let mode = first;
  return {
    first,
    after({ words, bytes }) {
      if (words[0] !== 'SET' || bytes.length > MOST_BYTES) return mode;
      for (const [, single, double, from, to] of bytes.toString('latin1').matchAll(ASSIGNED)) {
        const text = single ?? double;
        if (to !== undefined) saved.set(to.toUpperCase(), mode);
        else if (text !== undefined) mode = lexicalModeOf(text);
        else mode = (from === undefined ? undefined : saved.get(from.toUpperCase())) ?? first;
      }
      return mode;
    },
  };
}
