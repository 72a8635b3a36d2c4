import { maskValues } from '../../shared/mask-values.ts';
import { firstWord } from '../../shared/rehearse/first-word.ts';
import type { RunningStatement, SessionStatement } from '../../shared/rehearse/recorder.ts';
import { okPacket, STATUS } from './packets.ts';

/** Results of one text whose rows are counted. */
const MOST_RESULTS = 1000;
const MOST_PREPARED = 2000;
/** Bytes of a text that are kept, with its command. */
const LONGEST_TEXT = 8 * 1024 + 1;

/** https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_command_phase.html */
export const COMMAND = {
  ...{ quit: 0x01, initDatabase: 0x02, query: 0x03, fieldList: 0x04, createDatabase: 0x05, dropDatabase: 0x06 },
  ...{
    processInfo: 0x0a,
    changeUser: 0x11,
    binlogDump: 0x12,
    prepare: 0x16,
    execute: 0x17,
    longData: 0x18,
    close: 0x19,
    fetch: 0x1c,
    bulk: 0xfa,
  },
} as const;

/** Have no answer. */
const SILENT = new Set<number>([COMMAND.quit, COMMAND.longData, COMMAND.close]);
const STATEMENTS = new Set<number>([COMMAND.query, COMMAND.execute, COMMAND.bulk]);

const HEADS = { ok: 0x00, file: 0xfb, end: 0xfe, error: 0xff } as const;
/** The number of a progress report, which is no error. https://mariadb.com/kb/en/progress-reporting/ */
const PROGRESS = 0xffff;
/** The statement that was prepared last, of MariaDB. */
const LAST_PREPARED = 0xffffffff;

interface Command {
  command: number;
  text: string;
  startedAt: number;
  inTransaction: boolean;
  affected: number[];
}

interface StatementTracker {
  /** Reports whether the next packet of the client is a command, and not content of a file. */
  isCommand: () => boolean;
  /** `beginning`: of a packet of the client. */
  fromClient: (beginning: Buffer) => void;
  /** `bytes`: the length of the whole packet. */
  fromServer: (beginning: Buffer, bytes: number) => void;
  /** The statement that runs, else the last one of an open transaction or of LOCK TABLES. */
  running: () => RunningStatement | null;
  /** The locks of the session are to be read before its next bytes are passed on. Reading it resets it. */
  takeLook: () => boolean;
}

interface TrackerOptions {
  now: () => number;
  /** The client has agreed that results end with an OK packet, without an end behind their columns. */
  withoutEndOfColumns: boolean;
  ended: (statement: SessionStatement) => void;
  /** No transaction holds locks any more. */
  released: () => void;
}

/** Follows the statements of one session by its packets; those of a pipeline are answered in their order. */
export function trackStatements({ now, withoutEndOfColumns, ended, released }: TrackerOptions): StatementTracker {
  const prepared = new Map<number, string>();
  const queue: Command[] = [];
  let lastPrepared = '';
  let last: RunningStatement | null = null;
  let inTransaction = false;
  let holdsTables = false;
  let look = false;
  /** The part of an answer that comes next: `ends` of a result set, or so many packets. */
  let rest: { ends: number } | { packets: number } | null = null;
  let sendsFile = false;

  const next = (): void => {
    queue.shift();
    rest = null;
    if (queue[0]) Object.assign(queue[0], { startedAt: Math.max(queue[0].startedAt, now()), inTransaction });
  };
  const follow = (status: number, { command, text }: Command): void => {
    inTransaction = (status & STATUS.inTransaction) !== 0;
    if (!STATEMENTS.has(command)) return;
    const word = firstWord(text);
    if (word === 'LOCK') [holdsTables, look] = [true, true];
    if (UNLOCKING.has(word)) holdsTables = false;
  };
  const finish = (error: SessionStatement['error']): void => {
    const [first] = queue;
    if (first && (STATEMENTS.has(first.command) || (first.command === COMMAND.prepare && error))) {
      const { command: _, ...statement } = first;
      last = statement;
      ended({ ...statement, endedAt: now(), error });
    }
    next();
    if (!inTransaction && !holdsTables) released();
  };
  /** A result has ended; another one may follow. */
  const endResult = (status: number, first: Command): void => {
    rest = null;
    follow(status, first);
    if ((status & STATUS.moreResults) === 0) finish(null);
  };
  const begin = (first: Command, beginning: Buffer, bytes: number): void => {
    const head = beginning[0];
    if (first.command === COMMAND.prepare && head === HEADS.ok) {
      const [columns, parameters] = [beginning.readUInt16LE(5), beginning.readUInt16LE(7)];
      remember(prepared, beginning.readUInt32LE(1), first.text);
      lastPrepared = first.text;
      const ends = withoutEndOfColumns ? 0 : 1;
      const packets = [columns, parameters].reduce((sum, count) => sum + (count > 0 ? count + ends : 0), 0);
      if (packets > 0) rest = { packets };
      else finish(null);
    } else if (first.command === COMMAND.fieldList || first.command === COMMAND.fetch) {
      rest = { ends: 1 };
      continueAnswer(first, beginning, bytes);
    } else if (head === HEADS.file && first.command === COMMAND.query) sendsFile = true;
    else if (head === HEADS.ok) {
      const { affected, status } = okPacket(beginning);
      if (first.affected.length < MOST_RESULTS) first.affected.push(affected);
      endResult(status, first);
    } else if (STATEMENTS.has(first.command) || first.command === COMMAND.processInfo) {
      rest = { ends: withoutEndOfColumns ? 1 : 2 };
      if (first.affected.length < MOST_RESULTS) first.affected.push(0);
    } else finish(null);
  };
  const continueAnswer = (first: Command, beginning: Buffer, bytes: number): void => {
    if (!rest) return;
    if ('packets' in rest) {
      rest.packets -= 1;
      if (rest.packets === 0) finish(null);
      return;
    }
    if (beginning[0] !== HEADS.end || bytes >= LONGEST_PACKET || (!withoutEndOfColumns && bytes >= LONGEST_END)) return;
    const status = withoutEndOfColumns ? okPacket(beginning).status : beginning.readUInt16LE(3);
    rest.ends -= 1;
    // Rows of a cursor are fetched by other commands.
    if (rest.ends === 0 || (status & STATUS.cursor) !== 0) endResult(status, first);
  };
  return {
    isCommand: () => !sendsFile,
    fromClient(beginning) {
      if (sendsFile) {
        sendsFile = beginning.length > 0;
        return;
      }
      const command = beginning[0] ?? 0;
      if (command === COMMAND.close) prepared.delete(beginning.readUInt32LE(1));
      if (SILENT.has(command)) return;
      queue.push({ command, text: textOf(command, beginning), startedAt: now(), inTransaction, affected: [] });
    },
    fromServer(beginning, bytes) {
      const [first] = queue;
      if (!first) return;
      if (beginning[0] === HEADS.error && bytes > 2) {
        if (beginning.readUInt16LE(1) === PROGRESS) return;
        sendsFile = false;
        finish(maskedError(beginning));
      } else if (rest) continueAnswer(first, beginning, bytes);
      else begin(first, beginning, bytes);
    },
    running: () => queue.find(({ command }) => STATEMENTS.has(command)) ?? (inTransaction || holdsTables ? last : null),
    takeLook() {
      const wanted = look;
      look = false;
      return wanted;
    },
  };

  function textOf(command: number, beginning: Buffer): string {
    if (command === COMMAND.query || command === COMMAND.prepare) return beginning.toString('utf8', 1, LONGEST_TEXT);
    if (!STATEMENTS.has(command) || beginning.length < 5) return '';
    const number = beginning.readUInt32LE(1);
    if (number !== LAST_PREPARED) return prepared.get(number) ?? '';
    return queue.findLast(({ command: before }) => before === COMMAND.prepare)?.text ?? lastPrepared;
  }
}

/** Begin a transaction, which unlocks tables, too. */
const UNLOCKING = new Set(['UNLOCK', 'START', 'BEGIN']);

/** Payload of a packet that continues in the next one. */
const LONGEST_PACKET = 0xffffff;
/** An end of columns or rows has fewer bytes; a longer packet is a row with a value of 16 MB. */
const LONGEST_END = 9;

/** The oldest are forgotten: their statements have no text then. */
function remember(map: Map<number, string>, key: number, text: string): void {
  map.delete(key);
  map.set(key, text);
  const [oldest] = map.keys();
  if (map.size > MOST_PREPARED && oldest !== undefined) map.delete(oldest);
}

/** The number and the message of an error packet. */
function maskedError(body: Buffer): { code: string; message: string } {
  const text = body.toString('utf8', 3);
  // `#23000` is the SQLSTATE.
  const message = text.startsWith('#') ? text.slice(6) : text;
  return { code: String(body.readUInt16LE(1)), message: maskValues(message) };
}
