export interface Statement {
  /** From 1. */
  number: number;
  /** From 1. */
  line: number;
  text: string;
}

const SHOWN = 120;

/** `statement 3 (line 12): UPDATE customer SET …`, on one line, shortened. */
export function describeStatement({ number, line, text }: Statement): string {
  const words = text.replaceAll(/\s+/g, ' ').trim();
  return `statement ${number} (line ${line}): ${words.length > SHOWN ? `${words.slice(0, SHOWN)}…` : words}`;
}
