import { maskValues } from '../../shared/mask-values.ts';
import { firstWord } from '../../shared/rehearse/first-word.ts';
import type { RunningStatement, SessionStatement } from '../../shared/rehearse/recorder.ts';
import { scanMessages } from '../../shared/rehearse/scan-messages.ts';

/** Bytes of a statement's text that are kept. */
const LONGEST_TEXT = 8 * 1024;
/** Names of prepared statements and portals. */
const LONGEST_NAME = 256;
const MOST_PREPARED = 2000;

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

export function scanClient({ fromClient }: StatementTracker): (chunk: Buffer) => void {
  return scan(CLIENT_BYTES, fromClient);
}

export function scanServer({ fromServer }: StatementTracker): (chunk: Buffer) => void {
  return scan(SERVER_BYTES, fromServer);
}

/** A header has the type and the length with itself. */
function scan(wanted: Map<number, number>, take: StatementTracker['fromServer']): (chunk: Buffer) => void {
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

interface StatementTracker {
  fromClient: (type: number, beginning: Buffer) => void;
  fromServer: (type: number, beginning: Buffer) => void;
  /** The statement that runs, else the last one of an open transaction, whose locks are held. */
  running: () => RunningStatement | null;
  /** The locks of the session are to be read before its next bytes are passed on. Reading it resets it. */
  takeLook: () => boolean;
}

interface TrackerOptions {
  now: () => number;
  /** The process of the server is known. */
  began: (pid: number) => void;
  ended: (statement: SessionStatement) => void;
  /** No transaction holds locks any more. */
  released: () => void;
}

/** Follows the statements of one session by its messages; those of a pipeline are answered in their order. */
export function trackStatements({ now, began, ended, released }: TrackerOptions): StatementTracker {
  const prepared = new Map<string, string>();
  const portals = new Map<string, string>();
  const queue: QueuedMessage[] = [];
  let status = 'I';
  let last: RunningStatement | null = null;
  let look = false;
  /** Statements since the last answer that may lock; and calls of functions in the transaction. */
  let mayLock = false;
  let mayCall = false;
  /** The server reads rows of COPY, and skips a Sync before their end. */
  let readsRows = false;

  const shift = (): QueuedMessage | undefined => {
    const first = queue.shift();
    while (queue[0]?.kind === 'rows') queue.shift();
    return first;
  };
  const beginRows = (): void => {
    const end = queue.findIndex(({ kind }) => kind === 'rows');
    readsRows = end === -1;
    const skipped = (readsRows ? queue : queue.slice(0, end)).filter(({ kind }) => kind === 'sync');
    for (const sync of skipped) queue.splice(queue.indexOf(sync), 1);
  };
  const push = (kind: QueuedMessage['kind'], text: string): void => {
    if (kind === 'query' || kind === 'execute') {
      const word = firstWord(text);
      if (!HARMLESS.has(word)) mayLock = true;
      if (CALLING.has(word)) mayCall = true;
      // The locks are gone after it.
      if (ENDING.has(word) && status === 'T' && mayCall) look = true;
    }
    queue.push({ kind, text, startedAt: now(), error: null });
  };
  const end = (error: SessionStatement['error'] = null): void => {
    const [first] = queue;
    if (!first || first.kind === 'sync') return;
    if (first.kind === 'query') {
      // A later answer tells its end.
      first.error ??= error;
      return;
    }
    shift();
    if (first.kind === 'execute' || error) finish({ ...first, error });
    // The server skips all until a Sync.
    if (error) while (queue[0] && queue[0].kind !== 'sync') shift();
    if (queue[0]) queue[0].startedAt = Math.max(queue[0].startedAt, now());
  };
  const finish = ({ text, startedAt, error }: QueuedMessage): void => {
    last = { text, startedAt };
    ended({ text, startedAt, endedAt: now(), inTransaction: status !== 'I', error });
  };
  const ready = (next: string): void => {
    const first = shift();
    if (first?.kind === 'query') finish(first);
    if (next === 'T' && mayLock) look = true;
    mayLock = false;
    status = next;
    if (next !== 'T') {
      mayCall = false;
      released();
    }
    if (queue[0]) queue[0].startedAt = Math.max(queue[0].startedAt, now());
  };
  return {
    fromClient(type, beginning) {
      const [one = '', two = ''] = type === CLIENT.query ? [textOf(beginning)] : textsOf(beginning);
      if (type === CLIENT.query) push('query', one);
      else if (type === CLIENT.parse) {
        remember(prepared, one, two);
        push('parse', two);
      } else if (type === CLIENT.bind) remember(portals, one, prepared.get(two) ?? '');
      else if (type === CLIENT.execute) push('execute', portals.get(one) ?? '');
      else if (type === CLIENT.sync && !readsRows) push('sync', '');
      else if (type === CLIENT.rowsEnd || type === CLIENT.rowsFail) {
        if (!readsRows && queue.length > 0) push('rows', '');
        readsRows = false;
      }
    },
    fromServer(type, beginning) {
      if (type === SERVER.key) began(beginning.readInt32BE(0));
      else if (type === SERVER.ready) ready(beginning.toString('latin1'));
      else if (type === SERVER.copyIn) beginRows();
      else if (type === SERVER.error) {
        readsRows = false;
        end(maskedError(beginning));
      } else if (type === SERVER.parsed) {
        if (queue[0]?.kind === 'parse') end();
      } else if (type === SERVER.complete || type === SERVER.suspended || type === SERVER.empty) end();
    },
    running: () => queue.find(({ kind }) => kind === 'query' || kind === 'execute') ?? (status === 'I' ? null : last),
    takeLook() {
      const wanted = look;
      look = false;
      return wanted;
    },
  };
}

/** Take no lock that is stronger than ROW EXCLUSIVE, unless a function of theirs does. */
const CALLING = new Set(['SELECT', 'WITH', 'VALUES', 'EXECUTE', 'TABLE', 'FETCH']);
const HARMLESS = new Set([
  ...CALLING,
  ...['INSERT', 'UPDATE', 'DELETE', 'MERGE', 'COPY', 'SET', 'SHOW', 'RESET', 'BEGIN', 'START', 'COMMIT', 'END'],
  ...['ROLLBACK', 'ABORT', 'SAVEPOINT', 'RELEASE', 'DEALLOCATE', 'PREPARE', 'DECLARE', 'CLOSE', 'EXPLAIN', ''],
]);
const ENDING = new Set(['COMMIT', 'END', 'ROLLBACK', 'ABORT']);

/** The oldest are forgotten: their statements have no text then. */
function remember(map: Map<string, string>, name: string, text: string): void {
  map.delete(name);
  map.set(name, text);
  const [oldest] = map.keys();
  if (map.size > MOST_PREPARED && oldest !== undefined) map.delete(oldest);
}

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
  const fields = new Map(
    body
      .toString('utf8')
      .split('\0')
      .map((field) => [field[0], field.slice(1)]),
  );
  const detail = fields.get('D');
  const lines = [fields.get('M') ?? 'unknown error', ...(detail === undefined ? [] : [detail])];
  return { code: fields.get('C') ?? '', message: maskValues(lines.join('\n')) };
}
