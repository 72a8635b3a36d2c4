/** What a file says about the URL, by key, as bytes; `null` for a missing one. */
export type Lines = Record<string, string | null>;

/** What a tree's file had before the link. */
export interface Former {
  key: string;
  /** `null`: there was no file. */
  before: Lines | null;
  /** The file had no line feed at its end. */
  unended: boolean;
}

/** How files of one kind state the URL of the application. Contents are bytes in characters. Each refuses what it cannot keep. */
export interface FileFormat {
  /** The URL, for the parser of URLs; `null` without one. */
  urlIn(bytes: string, key: string): string | null;
  /** What another tree gets from this file. */
  linesOf(bytes: string, key: string): Lines;
  /** What this file gets back. */
  formerOf(bytes: string, key: string): Lines;
  /** The same with another database. */
  linesFor(lines: Lines, choice: { key: string; database: string }): Lines;
  /** The content with these lines in place of its own; `null` where there is no file. */
  withLines(bytes: string | null, lines: Lines): string;
  /** The content of before; `null` where nothing remains of a file that did not exist. */
  withoutLines(bytes: string, former: Former): string | null;
}
