import { randomBytes } from 'node:crypto';
import { redact } from '../../../process/redact.ts';
import type { Mount, Runner, RunningProcess } from '../../../process/runner.ts';
import { releaseChunk } from '../../../repository/objects/release.ts';
import { UserError } from '../../../runtime/errors.ts';
import type { Report } from '../../../runtime/events.ts';
import type { DatabaseUrl } from '../../database-url.ts';
import { prepareSession } from '../../shared/prepare-session.ts';
import { literalStatement } from './literal-statement.ts';
import { connectionEnvironment, type SessionSettings } from './url.ts';

/**
 * A connection through psql: it follows libpq's rules (host lists, service files, GSS, sockets) as pg_dump and
 * pg_restore do, and runs where they run.
 */
export interface PsqlSession extends AsyncDisposable {
  query<Row>(sql: string): Promise<Row[]>;
  /** Passes on the output of `COPY … TO STDOUT`, in whole lines; the memory is reused afterwards. */
  lines(statement: string, take: (lines: Buffer) => void): Promise<void>;
  /**
   * psql itself writes the output of each `COPY … TO STDOUT` into a file, and the ending only behind a whole output. The
   * first failure ends it.
   */
  copyToFile(statements: string[], file: OutputFile): Promise<void>;
  execute(statement: string): Promise<void>;
  /** Executes a statement from outside, which psql sends unread. */
  executeForeign(statement: string): Promise<void>;
  transaction(statements: string[]): Promise<void>;
  close(): Promise<void>;
}

export interface OutputFile {
  /** Must exist: psql would otherwise write to its standard output when it cannot create it. */
  path: string;
  ending: string;
}

/** An error of the server; identified by its SQLSTATE. */
export class SqlError extends Error {
  override readonly name = 'SqlError';
  readonly sqlstate: string;

  constructor(message: string, sqlstate: string) {
    super(message);
    this.sqlstate = sqlstate;
  }
}

export interface PsqlSessionOptions {
  runner: Runner;
  report: Report;
  psql: string;
  url: DatabaseUrl;
  signal?: AbortSignal | undefined;
  settings?: SessionSettings;
  /** Mounts of the folders that psql writes files to. */
  mounts?: Mount[] | undefined;
}

/** A failed or lost connection; the message is psql's. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** No start-up file, no prompt, bare values; psql continues after an error. */
export const PSQL_FLAGS = ['--no-psqlrc', '--no-password', '--quiet', '--no-align', '--tuples-only'];

/** A database's own search path must not change the meaning of queries. */
export const SESSION_SETTINGS: SessionSettings = {
  search_path: 'pg_catalog',
  client_min_messages: 'warning',
  standard_conforming_strings: 'on',
};

const STATEMENT_LIMITS: SessionSettings = { statement_timeout: '10min' };
/** The client encoding for SQL_ASCII databases: with UTF-8 the server would refuse to send bytes that are not UTF-8. */
const READ_RAW = `SELECT set_config('client_encoding', 'SQL_ASCII', false) WHERE current_setting('server_encoding') = 'SQL_ASCII'`;
/** Disk space for sorts. Only a superuser may set it. */
const LIMIT_TEMPORARY_FILES = `SELECT set_config('temp_file_limit', '2GB', false) WHERE current_setting('is_superuser') = 'on'`;

export async function openSession({
  runner,
  report,
  psql,
  url,
  signal,
  settings = {},
  mounts = [],
}: PsqlSessionOptions): Promise<PsqlSession> {
  const connection = connectionEnvironment(url, { ...SESSION_SETTINGS, ...STATEMENT_LIMITS, ...settings });
  const errors: string[] = [];
  const child = runner.start(
    {
      file: psql,
      ...connection,
      args: [...PSQL_FLAGS, ...connection.args],
      mounts: [...connection.mounts, ...mounts],
    },
    {
      signal,
      onErrorLine(line) {
        errors.push(line);
        if (errors.length > ERROR_LINES) errors.shift();
      },
    },
  );
  const exchange = reported(
    exchanges(child, () => errors.splice(0)),
    report,
  );

  const session: PsqlSession = {
    async query<Row>(sql: string) {
      return JSON.parse(await exchange(`SELECT coalesce(json_agg(q), '[]') FROM (${sql}) q`)) as Row[];
    },
    async lines(statement, take) {
      await exchange(statement, { take });
    },
    async copyToFile(statements, file) {
      await exchange(statements.join(';\n'), { take: () => {}, script: copyingToFile(statements, file) });
    },
    async execute(statement) {
      await exchange(statement);
    },
    async executeForeign(statement) {
      await exchange(statement, { isForeign: true });
    },
    async transaction(statements) {
      try {
        // Without its transaction each of the others would be committed alone.
        await exchange('BEGIN');
        // Sent together: behind one that fails, the server refuses the others, and COMMIT ends what was begun.
        await Promise.all([...statements, 'COMMIT'].map((statement) => exchange(statement)));
      } catch (error) {
        await exchange('ROLLBACK').catch(() => {});
        throw error;
      }
    },
    async close() {
      child.stdin.end();
      await child.ended.catch(() => {});
    },
    [Symbol.asyncDispose]: () => session.close(),
  };
  return prepareSession(session, () =>
    session.execute('statement_timeout' in settings ? READ_RAW : `${LIMIT_TEMPORARY_FILES};\n${READ_RAW}`),
  );
}

const SUCCESS = '00000';
/** Lines of standard error to keep. */
const ERROR_LINES = 20;

interface PendingStatement extends PromiseWithResolvers<string> {
  statement: string;
  marker: string;
  output: string[];
  take: ((lines: Buffer) => void) | undefined;
  /** Takes the last lines of psql's standard error, which alone has the reason when a COPY fails. */
  errors: () => string[];
  /** `null` until the statement has ended, then the lines of the server's message. */
  message: string[] | null;
  sqlstate: string;
}

interface SendOptions {
  take?: (lines: Buffer) => void;
  /** The statement as psql is to read it. */
  script?: string;
  isForeign?: boolean;
}

type Send = (statement: string, options?: SendOptions) => Promise<string>;

/** Statements with thousands of rows are logged up to here. */
const TOLD_CHARACTERS = 4000;

function reported(send: Send, report: Report): Send {
  return async (statement, options) => {
    const startedAt = performance.now();
    const tell = (sqlstate: string | null) => {
      const duration_ms = Math.round(performance.now() - startedAt);
      report({ event: 'statement', statement: redact(statement.slice(0, TOLD_CHARACTERS)), sqlstate, duration_ms });
    };
    try {
      const answer = await send(statement, options);
      tell(SUCCESS);
      return answer;
    } catch (error) {
      tell(error instanceof SqlError ? error.sqlstate : null);
      throw error;
    }
  };
}

/**
 * Statements go to psql's stdin in sequence, each followed by `\echo` of its SQLSTATE between two markers: psql has
 * no other end of an answer.
 */
function exchanges(child: RunningProcess, errors: () => string[]): Send {
  const queue: PendingStatement[] = [];
  let lost: Error | null = null;
  child.stdin.on('error', () => {});
  onLines(child, (lines) => {
    let rest = lines;
    while (rest.length > 0) {
      const current = queue[0];
      if (!current) return;
      const taken = takeLines(current, rest);
      if (taken.isLast) queue.shift();
      rest = rest.subarray(taken.bytes);
    }
  });
  const end = (error: Error): void => {
    lost = error;
    for (const exchange of queue.splice(0)) exchange.reject(error);
  };
  child.ended.then(
    ({ stderr }) => end(new ConnectionLost(stderr.trim())),
    (thrown) => end(thrown),
  );

  return (statement, { take, script, isForeign = false } = {}) => {
    if (lost) return Promise.reject(lost);
    const marker = `--${randomBytes(12).toString('hex')}`;
    const exchange: PendingStatement = {
      ...Promise.withResolvers<string>(),
      ...{ statement, marker, take, output: [], errors: take ? errors : () => [], message: null, sqlstate: '' },
    };
    queue.push(exchange);
    const text = isForeign ? literalStatement(Buffer.from(statement)) : `${statement}\n;\n`;
    child.stdin.write(
      `${script ?? (take ? copying(statement) : text)}\\echo ${marker} :SQLSTATE\n\\if :ERROR\n\\echo :LAST_ERROR_MESSAGE\n\\endif\n\\echo ${marker}\n`,
    );
    return exchange.promise;
  };
}

/**
 * psql leaves its variables as they were when a COPY has begun and then fails, at the server or because its output
 * cannot be written. So they say beforehand that it failed; its end sets them. The reason is on standard error only.
 */
function copying(statement: string): string {
  return `${FAILED_SO_FAR}${statement}\n;\n`;
}

function copyingToFile(statements: string[], { path, ending }: OutputFile): string {
  const end = `\\if :ERROR\n\\set failed true\n\\else\n\\qecho -n ${quoteArgument(ending)}\n\\endif\n`;
  const each = statements.map((statement) => `\\if :failed\n\\else\n${copying(statement)}${end}\\endif\n`);
  return `\\set failed false\n\\o ${quoteArgument(path)}\n${each.join('')}\\o\n`;
}

/** `io_error` of PostgreSQL's list of codes. */
const CUT_SHORT = '58030';
const FAILED_SO_FAR = `\\set ERROR true\n\\set SQLSTATE ${CUT_SHORT}\n\\set LAST_ERROR_MESSAGE 'the output of COPY is cut short'\n`;

/** An argument of a command of psql. */
function quoteArgument(text: string): string {
  assertNoNul(text);
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`;
}

function takeLines(exchange: PendingStatement, lines: Buffer): { bytes: number; isLast: boolean } {
  if (exchange.take && exchange.message === null) {
    const marker = lines.indexOf(exchange.marker);
    const bytes = marker === -1 ? lines.length : marker;
    if (bytes > 0) exchange.take(lines.subarray(0, bytes));
    if (bytes > 0) return { bytes, isLast: false };
  }
  const end = lines.indexOf(LINE_FEED);
  return { bytes: end + 1, isLast: readLine(exchange, lines.toString('utf8', 0, end)) };
}

function readLine(exchange: PendingStatement, line: string): boolean {
  if (!line.startsWith(exchange.marker)) {
    (exchange.message ?? exchange.output).push(line);
    return false;
  }
  if (exchange.message === null) {
    exchange.message = [];
    exchange.sqlstate = line.slice(exchange.marker.length + 1);
    return false;
  }
  if (exchange.sqlstate === SUCCESS) exchange.resolve(exchange.output.join('\n'));
  else exchange.reject(new SqlError([...exchange.message, ...exchange.errors()].join('\n'), exchange.sqlstate));
  return true;
}

const LINE_FEED = 0x0a;

/** Hands over lines as bytes, released at once: strings of millions of rows would burden the garbage collector. */
function onLines(child: RunningProcess, take: (lines: Buffer) => void): void {
  let unfinished: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer<ArrayBuffer>) => {
    const first = chunk.indexOf(LINE_FEED) + 1;
    const last = chunk.lastIndexOf(LINE_FEED) + 1;
    if (first > 0) {
      take(Buffer.concat([...unfinished, chunk.subarray(0, first)]));
      take(chunk.subarray(first, last));
      unfinished = [];
    }
    if (last < chunk.length) unfinished.push(Buffer.from(chunk.subarray(last)));
    releaseChunk(chunk);
  });
}

export function quoteName(name: string): string {
  assertNoNul(name);
  return `"${name.replaceAll('"', '""')}"`;
}

export function quoteText(text: string): string {
  assertNoNul(text);
  return text.includes('\\')
    ? `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`
    : `'${text.replaceAll("'", "''")}'`;
}

/** Numbers of a server or a manifest are untrusted. */
export function quoteNumber(value: number | bigint): string {
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) throw refusedValue(`${value} is not a whole number`);
  return `${value}`;
}

/** NUL is invalid on every server, and ends program arguments. */
function assertNoNul(text: string): void {
  if (text.includes('\0')) throw refusedValue(`${JSON.stringify(text)} contains a NUL character`);
}

function refusedValue(why: string): UserError {
  return new UserError('value_refused', `A value cannot be part of a statement: ${why}`, {
    hint: 'PostgreSQL has no such names or values: do not trust the snapshot or its server.',
  });
}
