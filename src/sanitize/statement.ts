/** One statement of a sanitization query, as an error names it. */
export interface Statement {
  /** From 1, as a person counts them in the query. */
  number: number;
  /** Where it begins in the query, from 1. */
  line: number;
  /** Without the semicolon that ends it. */
  text: string;
}

const SHOWN = 120;

/** `statement 3 (line 12): UPDATE customer SET …`: in one line, cut where it gets long. */
export function describeStatement({ number, line, text }: Statement): string {
  const words = text.replaceAll(/\s+/g, ' ').trim();
  return `statement ${number} (line ${line}): ${words.length > SHOWN ? `${words.slice(0, SHOWN)}…` : words}`;
}
