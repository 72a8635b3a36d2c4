import { type Database, readCommittedState } from '../database/database.ts';
import { jsonOf } from '../http/json.ts';
import { createSharedWork, type SharedWork } from './shared-work.ts';

/** Bytes of all remembered pages, and of one of them. */
const MOST_BYTES = 32 * 1024 * 1024;
const MOST_PAGE_BYTES = 1024 * 1024;
/** Bytes of an entry besides its page and its key. */
const BYTES_OF_ENTRY = 4096;

interface ReadPage<Page> {
  page: Page;
  /** The page changes with time, after these milliseconds since the epoch. */
  validUntil: number;
}

/**
 * Answers lists, and reads each of them again when anything in the database has changed. A request is answered as the
 * database is after its arrival.
 */
export class ListCache<Page extends object> {
  readonly #db: Database;
  readonly #clock: () => Date;
  readonly #reads: SharedWork<Page> = createSharedWork();
  readonly #states: SharedWork<string> = createSharedWork();
  #state = '';
  #pages = new Map<string, ReadPage<Page>>();
  #bytes = 0;

  constructor(db: Database, clock: () => Date) {
    this.#db = db;
    this.#clock = clock;
  }

  /** `key` names all that the page depends on besides the database. */
  find(key: string, read: () => Promise<ReadPage<Page>>): Promise<Page> {
    return this.#reads(key, async () => {
      const state = await this.#readState();
      const known = this.#pages.get(key);
      if (known && known.validUntil >= this.#clock().getTime()) return known.page;
      const found = await read();
      if ((await this.#readState()) === state) this.#remember(key, found);
      return found.page;
    });
  }

  #remember(key: string, found: ReadPage<Page>): void {
    const bytes = Buffer.byteLength(jsonOf(found.page).text) + 2 * key.length + BYTES_OF_ENTRY;
    if (bytes > MOST_PAGE_BYTES) return;
    if (this.#bytes + bytes > MOST_BYTES) this.#forget();
    this.#pages.set(key, found);
    this.#bytes += bytes;
  }

  #forget(): void {
    this.#pages = new Map();
    this.#bytes = 0;
  }

  async #readState(): Promise<string> {
    const state = await this.#states('', () => readCommittedState(this.#db));
    if (state !== this.#state) {
      this.#state = state;
      this.#forget();
    }
    return state;
  }
}
