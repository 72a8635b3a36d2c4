/** No text of ours is larger: what is, was put there by somebody else. */
export const MOST_TEXT_BYTES = 64 * 1024 * 1024;

/** What lies under a key is larger than it may be. */
export class TooLarge extends Error {
  override name = 'TooLarge';

  constructor() {
    super('it is larger than it may be');
  }
}

/** A place where keys hold bytes: a folder on this machine or a bucket. A snapshot lies in both in the same way. */
export interface Store {
  /** For people: a path, or `s3://bucket/prefix`. */
  name: string;
  /** What lies below `prefix/`, by key. */
  list(prefix: string): Promise<StoredFile[]>;
  /** What is at the top of the store, the beginning of a long list: a name with `/` has keys below it. */
  top(): Promise<string[]>;
  /** What lies under a key now; `null` when nothing does. */
  find(key: string): Promise<StoredFile | null>;
  /** The text under a key; `null` when there is none. Rejects with TooLarge instead of reading more than 64 MB. */
  read(key: string): Promise<string | null>;
  /** Whole or not at all, and durable when it resolves. */
  write(key: string, text: string): Promise<void>;
  /** Those of the keys, all of one prefix, under which there is something. */
  present(keys: string[]): Promise<Set<string>>;
  /** Copies a file into the store: whole or not at all. Rejects with ContentDiffers when its SHA-256 is not the given. */
  put(key: string, file: string, transfer: Transfer & { sha256?: string | undefined }): Promise<void>;
  /**
   * Copies what lies under a key into a new file; rejects when there is none, and with TooLarge when it has more than
   * `maxBytes`. The file is not yet synced. Resolves with its SHA-256 where that was seen on the way.
   */
  get(key: string, file: string, transfer: Transfer & { maxBytes?: number | undefined }): Promise<string | null>;
  /** Removing what is not there is no error. The signal is for what must still be done after an interruption. */
  remove(key: string, signal?: AbortSignal): Promise<void>;
  /** Removes what transfers that never ended have left, if they began before the given time. */
  removeUnfinished(before: Date): Promise<void>;
}

export interface StoredFile {
  /** With `/` between its parts, relative to the store. */
  key: string;
  bytes: number;
  modified: Date;
  /** Another one whenever the content is another. */
  version: string;
}

export interface Transfer {
  signal: AbortSignal;
  /** Bytes that have moved; what is given up and moved again is taken back as a negative number. */
  onBytes: (bytes: number) => void;
}
