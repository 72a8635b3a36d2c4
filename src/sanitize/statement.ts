import { splitName } from '../text/table-names.ts';

export interface Statement {
  /** From 1. */
  number: number;
  /** From 1. */
  line: number;
  text: string;
}

/** Reports whether a statement names a table of the snapshot, in whatever spelling. */
export function tablesNamedBy(statements: Statement[]): (table: string) => boolean {
  const words = new Set(statements.flatMap(({ text }) => text.toLowerCase().match(/[\p{L}\p{N}_$]+/gu) ?? []));
  const texts = statements.map(({ text }) => text.toLowerCase());
  return (table) => {
    const name = splitName(table).rest.toLowerCase();
    return /^[\p{L}\p{N}_$]+$/u.test(name) ? words.has(name) : texts.some((text) => text.includes(name));
  };
}

const SHOWN = 120;

/** `statement 3 (line 12): UPDATE customer SET …`, on one line, shortened. */
export function describeStatement({ number, line, text }: Statement): string {
  const words = text.replaceAll(/\s+/g, ' ').trim();
  return `statement ${number} (line ${line}): ${words.length > SHOWN ? `${words.slice(0, SHOWN)}…` : words}`;
}
