/** A larger text is not the program's. */
export const MOST_TEXT_BYTES = 64 * 1024 * 1024;

export class TooLarge extends Error {
  override name = 'TooLarge';

  constructor() {
    super('it is larger than it may be');
  }
}

/** Keys with bytes: a local folder or a bucket, with the same layout. */
export interface Store {
  name: string;
  list(prefix: string): Promise<StoredFile[]>;
  /** The first names at the top of the store; a name with `/` has keys below it. */
  top(): Promise<string[]>;
  find(key: string): Promise<StoredFile | null>;
  /** `null` when the key does not exist. Rejects with TooLarge above 64 MB. */
  read(key: string): Promise<string | null>;
  /** Atomic, and durable when it resolves. */
  write(key: string, text: string): Promise<void>;
  /** The existing ones of keys with one prefix. */
  present(keys: string[]): Promise<Set<string>>;
  /** Copies a file into the store, atomically. Rejects with ContentDiffers for another SHA-256. */
  put(key: string, file: string, transfer: Transfer & { sha256?: string | undefined }): Promise<void>;
  /**
   * Copies an object into a new file, not yet synced; rejects when it is missing, and with TooLarge above `maxBytes`.
   * Returns its SHA-256 when it was computed on the way.
   */
  get(key: string, file: string, transfer: Transfer & { maxBytes?: number | undefined }): Promise<string | null>;
  /** A missing key is not an error. The signal is for cleaning up after an interruption. */
  remove(key: string, signal?: AbortSignal): Promise<void>;
  /** Removes remains of unfinished transfers that began before the given time. */
  removeUnfinished(before: Date): Promise<void>;
}

export type ObjectStore = Pick<Store, 'present' | 'put' | 'get'>;

export interface StoredFile {
  key: string;
  bytes: number;
  modified: Date;
  version: string;
}

export interface Transfer {
  signal: AbortSignal;
  /** Bytes moved; negative when they are moved again. */
  onBytes: (bytes: number) => void;
}
