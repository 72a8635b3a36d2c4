import { maskValues } from '../../shared/mask-values.ts';
import { firstWord } from '../../shared/rehearse/first-word.ts';
import type { RunningStatement, SessionStatement } from '../../shared/rehearse/recorder.ts';
import {
  LONGEST_TEXT,
  PreparedTexts,
  SessionTracker,
  type TrackerOptions,
} from '../../shared/rehearse/session-tracker.ts';
import { okPacket, STATUS } from './packets.ts';

/** Results of one text whose rows are counted. */
const MOST_RESULTS = 1000;

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

interface PacketTrackerOptions extends TrackerOptions {
  /** The client has agreed that results end with an OK packet, without an end behind their columns. */
  withoutEndOfColumns: boolean;
}

export class PacketTracker extends SessionTracker<Command> {
  readonly #options: PacketTrackerOptions;
  readonly #prepared = new PreparedTexts<number>();
  #lastPrepared = '';
  #inTransaction = false;
  #holdsTables = false;
  /** The part of an answer that comes next: `ends` of a result set, or so many packets. */
  #rest: { ends: number } | { packets: number } | null = null;
  #sendsFile = false;

  constructor(options: PacketTrackerOptions) {
    super();
    this.#options = options;
  }

  /** Reports whether the next packet of the client is a command, and not content of a file. */
  get isCommand(): boolean {
    return !this.#sendsFile;
  }

  /** `beginning`: of a packet of the client. */
  fromClient(beginning: Buffer): void {
    if (this.#sendsFile) {
      this.#sendsFile = beginning.length > 0;
      return;
    }
    const command = beginning[0] ?? 0;
    if (command === COMMAND.close) this.#prepared.delete(beginning.readUInt32LE(1));
    if (SILENT.has(command)) return;
    const text = this.#textOf(command, beginning);
    const startedAt = this.#options.now();
    this.queue.push({ command, text, startedAt, inTransaction: this.#inTransaction, affected: [] });
  }

  /** `bytes`: the length of the whole packet. */
  fromServer(beginning: Buffer, bytes: number): void {
    const [first] = this.queue;
    if (!first) return;
    if (beginning[0] === HEADS.error && bytes > 2) {
      if (beginning.readUInt16LE(1) === PROGRESS) return;
      this.#sendsFile = false;
      this.#finish(maskedError(beginning));
    } else if (this.#rest) this.#continueAnswer(first, beginning, bytes);
    else this.#begin(first, beginning, bytes);
  }

  override running(): RunningStatement | null {
    const holdsLocks = this.#inTransaction || this.#holdsTables;
    return this.queue.find(({ command }) => STATEMENTS.has(command)) ?? (holdsLocks ? this.last : null);
  }

  #begin(first: Command, beginning: Buffer, bytes: number): void {
    const { command, affected: counts } = first;
    const head = beginning[0];
    if (command === COMMAND.prepare && head === HEADS.ok) this.#endPreparation(first, beginning);
    else if (command === COMMAND.fieldList || command === COMMAND.fetch) {
      this.#rest = { ends: 1 };
      this.#continueAnswer(first, beginning, bytes);
    } else if (head === HEADS.file && command === COMMAND.query) this.#sendsFile = true;
    else if (head === HEADS.ok) {
      const { affected, status } = okPacket(beginning);
      if (counts.length < MOST_RESULTS) counts.push(affected);
      this.#endResult(status, first);
    } else if (STATEMENTS.has(command) || command === COMMAND.processInfo) {
      this.#rest = { ends: this.#options.withoutEndOfColumns ? 1 : 2 };
      if (counts.length < MOST_RESULTS) counts.push(0);
    } else this.#finish(null);
  }

  /** Descriptions of columns and parameters follow. */
  #endPreparation({ text }: Command, beginning: Buffer): void {
    this.#prepared.set(beginning.readUInt32LE(1), text);
    this.#lastPrepared = text;
    const ends = this.#options.withoutEndOfColumns ? 0 : 1;
    const counts = [beginning.readUInt16LE(5), beginning.readUInt16LE(7)];
    const packets = counts.reduce((sum, count) => sum + (count > 0 ? count + ends : 0), 0);
    if (packets > 0) this.#rest = { packets };
    else this.#finish(null);
  }

  #continueAnswer(first: Command, beginning: Buffer, bytes: number): void {
    if (!this.#rest) return;
    if ('packets' in this.#rest) {
      this.#rest.packets -= 1;
      if (this.#rest.packets === 0) this.#finish(null);
      return;
    }
    const { withoutEndOfColumns } = this.#options;
    if (beginning[0] !== HEADS.end || bytes >= LONGEST_PACKET || (!withoutEndOfColumns && bytes >= LONGEST_END)) return;
    const status = withoutEndOfColumns ? okPacket(beginning).status : beginning.readUInt16LE(3);
    this.#rest.ends -= 1;
    // Rows of a cursor are fetched by other commands.
    if (this.#rest.ends === 0 || (status & STATUS.cursor) !== 0) this.#endResult(status, first);
  }

  /** A result has ended; another one may follow. */
  #endResult(status: number, { command, text }: Command): void {
    this.#rest = null;
    this.#inTransaction = (status & STATUS.inTransaction) !== 0;
    const word = STATEMENTS.has(command) ? firstWord(text) : '';
    if (word === 'LOCK') [this.#holdsTables, this.needsLook] = [true, true];
    if (UNLOCKING.has(word)) this.#holdsTables = false;
    if ((status & STATUS.moreResults) === 0) this.#finish(null);
  }

  #finish(error: SessionStatement['error']): void {
    const { now, ended, released } = this.#options;
    const first = this.queue.shift();
    if (first && (STATEMENTS.has(first.command) || (first.command === COMMAND.prepare && error))) {
      const { command: _, ...statement } = first;
      this.last = statement;
      ended({ ...statement, endedAt: now(), error });
    }
    this.#rest = null;
    const [next] = this.queue;
    if (next) {
      next.startedAt = Math.max(next.startedAt, now());
      next.inTransaction = this.#inTransaction;
    }
    if (!this.#inTransaction && !this.#holdsTables) released();
  }

  #textOf(command: number, beginning: Buffer): string {
    if (command === COMMAND.query || command === COMMAND.prepare)
      return beginning.toString('utf8', 1, LONGEST_TEXT + 1);
    if (!STATEMENTS.has(command) || beginning.length < 5) return '';
    const number = beginning.readUInt32LE(1);
    if (number !== LAST_PREPARED) return this.#prepared.get(number) ?? '';
    return this.queue.findLast(({ command: before }) => before === COMMAND.prepare)?.text ?? this.#lastPrepared;
  }
}

/** Begin a transaction, which unlocks tables, too. */
const UNLOCKING = new Set(['UNLOCK', 'START', 'BEGIN']);

/** Payload of a packet that continues in the next one. */
const LONGEST_PACKET = 0xffffff;
/** An end of columns or rows has fewer bytes; a longer packet is a row with a value of 16 MB. */
const LONGEST_END = 9;

function maskedError(body: Buffer): { code: string; message: string } {
  const text = body.toString('utf8', 3);
  // `#23000` is the SQLSTATE.
  const message = text.startsWith('#') ? text.slice(6) : text;
  return { code: String(body.readUInt16LE(1)), message: maskValues(message) };
}
