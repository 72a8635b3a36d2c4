/** Lines or values of the URL by key, as bytes; `null` for a missing one. */
export type Lines = Record<string, string | null>;

/** The state of a tree's file before the link. */
export interface Former {
  key: string;
  /** `null`: there was no file. */
  before: Lines | null;
  /** The file had no line feed at its end. */
  unended: boolean;
  /** The keys that the link wrote, where there was no file. Default: the key. */
  keys?: string[];
}

/** Reads and writes the URL of the application in files of one kind, whose contents are bytes in characters. Refuses a file that it could not restore. */
export interface FileFormat {
  /** The URL, for the parser of URLs; `null` without one. */
  urlIn(bytes: string, key: string): string | null;
  /** The lines or values for another tree. */
  linesOf(bytes: string, key: string): Lines;
  /** The lines or values that are restored later. */
  formerOf(bytes: string, key: string): Lines;
  /** Lines with another database. */
  linesFor(lines: Lines, choice: { key: string; database: string }): Lines;
  /** The content with these lines in place of its own; `null` where there is no file. */
  withLines(bytes: string | null, lines: Lines): string;
  /** The content of before; `null` where nothing remains of a file that did not exist. */
  withoutLines(bytes: string, former: Former): string | null;
}
