import { maskValues } from '../../shared/mask-values.ts';
import { firstWord } from '../../shared/rehearse/first-word.ts';
import type { RunningStatement, SessionStatement } from '../../shared/rehearse/recorder.ts';
import { scanMessages } from '../../shared/rehearse/scan-messages.ts';
import {
  LONGEST_TEXT,
  PreparedTexts,
  SessionTracker,
  type TrackerOptions,
} from '../../shared/rehearse/session-tracker.ts';
import { errorFields } from '../connection/wire-messages.ts';

/** Names of prepared statements and portals. */
const LONGEST_NAME = 256;

const CLIENT = {
  ...{ query: 0x51, parse: 0x50, bind: 0x42, execute: 0x45, sync: 0x53, rowsEnd: 0x63, rowsFail: 0x66 },
} as const;
const SERVER = {
  ...{ key: 0x4b, ready: 0x5a, complete: 0x43, error: 0x45, parsed: 0x31, suspended: 0x73, empty: 0x49 },
  copyIn: 0x47,
} as const;

const CLIENT_BYTES = new Map<number, number>([
  [CLIENT.query, LONGEST_TEXT],
  [CLIENT.parse, LONGEST_TEXT + LONGEST_NAME],
  [CLIENT.bind, 2 * LONGEST_NAME],
  [CLIENT.execute, LONGEST_NAME],
]);
const SERVER_BYTES = new Map<number, number>([
  [SERVER.key, 4],
  [SERVER.ready, 1],
  [SERVER.error, LONGEST_TEXT],
]);

export function scanClient(tracker: MessageTracker): (chunk: Buffer) => void {
  return scan(CLIENT_BYTES, (type, beginning) => tracker.fromClient(type, beginning));
}

export function scanServer(tracker: MessageTracker): (chunk: Buffer) => void {
  return scan(SERVER_BYTES, (type, beginning) => tracker.fromServer(type, beginning));
}

/** A header has the type and the length with itself. */
function scan(wanted: Map<number, number>, take: MessageTracker['fromServer']): (chunk: Buffer) => void {
  return scanMessages({
    headerBytes: 5,
    bodyBytes: (header) => header.readInt32BE(1) - 4,
    readBytes: (header) => wanted.get(header.readUInt8(0)) ?? 0,
    take: (header, beginning) => take(header.readUInt8(0), beginning),
  });
}

interface QueuedMessage {
  /** `rows`: the end of the rows of COPY. */
  kind: 'parse' | 'execute' | 'query' | 'sync' | 'rows';
  text: string;
  startedAt: number;
  error: SessionStatement['error'];
}

interface MessageTrackerOptions extends TrackerOptions {
  /** The process of the server is known. */
  began: (pid: number) => void;
}

export class MessageTracker extends SessionTracker<QueuedMessage> {
  readonly #options: MessageTrackerOptions;
  readonly #prepared = new PreparedTexts<string>();
  readonly #portals = new PreparedTexts<string>();
  #status = 'I';
  /** Statements since the last answer that may lock; and calls of functions in the transaction. */
  #mayLock = false;
  #mayCall = false;
  /** The server reads rows of COPY, and skips a Sync before their end. */
  #readsRows = false;

  constructor(options: MessageTrackerOptions) {
    super();
    this.#options = options;
  }

  fromClient(type: number, beginning: Buffer): void {
    const [one = '', two = ''] = type === CLIENT.query ? [textOf(beginning)] : textsOf(beginning);
    if (type === CLIENT.query) this.#push('query', one);
    else if (type === CLIENT.parse) {
      this.#prepared.set(one, two);
      this.#push('parse', two);
    } else if (type === CLIENT.bind) this.#portals.set(one, this.#prepared.get(two) ?? '');
    else if (type === CLIENT.execute) this.#push('execute', this.#portals.get(one) ?? '');
    else if (type === CLIENT.sync && !this.#readsRows) this.#push('sync', '');
    else if (type === CLIENT.rowsEnd || type === CLIENT.rowsFail) {
      if (!this.#readsRows && this.queue.length > 0) this.#push('rows', '');
      this.#readsRows = false;
    }
  }

  fromServer(type: number, beginning: Buffer): void {
    if (type === SERVER.key) this.#options.began(beginning.readInt32BE(0));
    else if (type === SERVER.ready) this.#ready(beginning.toString('latin1'));
    else if (type === SERVER.copyIn) this.#beginRows();
    else if (type === SERVER.error) {
      this.#readsRows = false;
      this.#end(maskedError(beginning));
    } else if (type === SERVER.parsed) {
      if (this.queue[0]?.kind === 'parse') this.#end();
    } else if (type === SERVER.complete || type === SERVER.suspended || type === SERVER.empty) this.#end();
  }

  override running(): RunningStatement | null {
    const isStatement = ({ kind }: QueuedMessage): boolean => kind === 'query' || kind === 'execute';
    return this.queue.find(isStatement) ?? (this.#status === 'I' ? null : this.last);
  }

  #push(kind: QueuedMessage['kind'], text: string): void {
    if (kind === 'query' || kind === 'execute') {
      const word = firstWord(text);
      if (!HARMLESS.has(word)) this.#mayLock = true;
      if (CALLING.has(word)) this.#mayCall = true;
      // The locks are gone after it.
      if (ENDING.has(word) && this.#status === 'T' && this.#mayCall) this.needsLook = true;
    }
    this.queue.push({ kind, text, startedAt: this.#options.now(), error: null });
  }

  #shift(): QueuedMessage | undefined {
    const first = this.queue.shift();
    while (this.queue[0]?.kind === 'rows') this.queue.shift();
    return first;
  }

  #beginRows(): void {
    const end = this.queue.findIndex(({ kind }) => kind === 'rows');
    this.#readsRows = end === -1;
    const skipped = (end === -1 ? this.queue : this.queue.slice(0, end)).filter(({ kind }) => kind === 'sync');
    for (const sync of skipped) this.queue.splice(this.queue.indexOf(sync), 1);
  }

  #end(error: SessionStatement['error'] = null): void {
    const [first] = this.queue;
    if (!first || first.kind === 'sync') return;
    if (first.kind === 'query') {
      // A later answer tells its end.
      first.error ??= error;
      return;
    }
    this.#shift();
    if (first.kind === 'execute' || error) this.#finish({ ...first, error });
    // The server skips all until a Sync.
    if (error) while (this.queue[0] && this.queue[0].kind !== 'sync') this.#shift();
    this.#beginNext();
  }

  #finish({ text, startedAt, error }: QueuedMessage): void {
    this.last = { text, startedAt };
    const inTransaction = this.#status !== 'I';
    this.#options.ended({ text, startedAt, endedAt: this.#options.now(), inTransaction, error });
  }

  #ready(status: string): void {
    const first = this.#shift();
    if (first?.kind === 'query') this.#finish(first);
    if (status === 'T' && this.#mayLock) this.needsLook = true;
    this.#mayLock = false;
    this.#status = status;
    if (status !== 'T') {
      this.#mayCall = false;
      this.#options.released();
    }
    this.#beginNext();
  }

  #beginNext(): void {
    const [next] = this.queue;
    if (next) next.startedAt = Math.max(next.startedAt, this.#options.now());
  }
}

/** Take no lock that is stronger than ROW EXCLUSIVE, unless a function of theirs does. */
const CALLING = new Set(['SELECT', 'WITH', 'VALUES', 'EXECUTE', 'TABLE', 'FETCH']);
const HARMLESS = new Set([
  ...CALLING,
  ...['INSERT', 'UPDATE', 'DELETE', 'MERGE', 'COPY', 'SET', 'SHOW', 'RESET', 'BEGIN', 'START', 'COMMIT', 'END'],
  ...['ROLLBACK', 'ABORT', 'SAVEPOINT', 'RELEASE', 'DEALLOCATE', 'PREPARE', 'DECLARE', 'CLOSE', 'EXPLAIN', ''],
]);
const ENDING = new Set(['COMMIT', 'END', 'ROLLBACK', 'ABORT']);

function textsOf(beginning: Buffer): string[] {
  const at = beginning.indexOf(0);
  return at === -1 ? [textOf(beginning)] : [textOf(beginning.subarray(0, at)), textOf(beginning.subarray(at + 1))];
}

/** Up to the first NUL. */
function textOf(bytes: Buffer): string {
  const at = bytes.indexOf(0);
  return bytes.toString('utf8', 0, at === -1 ? bytes.length : at);
}

/** Code and message of an error message of the server, whose details have values of rows. */
function maskedError(body: Buffer): { code: string; message: string } {
  const fields = errorFields(body);
  const detail = fields.get('D');
  const lines = [fields.get('M') ?? 'unknown error', ...(detail === undefined ? [] : [detail])];
  return { code: fields.get('C') ?? '', message: maskValues(lines.join('\n')) };
}
