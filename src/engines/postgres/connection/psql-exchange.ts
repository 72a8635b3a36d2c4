import { randomBytes } from 'node:crypto';
import type { Command, RunningProcess } from '../../../process/runner.ts';
import { releaseChunk } from '../../../repository/objects/release.ts';
import type { EngineContext } from '../../engine-context.ts';
import { type Exchange, reported, type Send, SUCCESS } from './exchange.ts';
import { assertNoNul } from './quote.ts';
import { ConnectionLost, SqlError } from './session-errors.ts';

export interface OutputFile {
  /** Must exist: psql would otherwise write to its standard output when it cannot create it. */
  path: string;
  ending: string;
}

export function startPsql(
  { runner, report, signal }: Pick<EngineContext, 'runner' | 'report' | 'signal'>,
  program: Command,
): Exchange {
  const errors: string[] = [];
  const child = runner.start(program, {
    signal,
    onErrorLine(line) {
      errors.push(line);
      if (errors.length > ERROR_LINES) errors.shift();
    },
  });
  return {
    send: reported(
      exchanges(child, () => errors.splice(0)),
      report,
    ),
    async close() {
      child.stdin.end();
      await child.ended.catch(() => {});
    },
  };
}

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

export function copyingToFile(statement: string, { path, ending }: OutputFile): string {
  const end = `\\if :ERROR\n\\else\n\\qecho -n ${quoteArgument(ending)}\n\\endif\n`;
  return `\\o ${quoteArgument(path)}\n${copying(statement)}${end}\\o\n`;
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

/** Statements that psql cannot take for anything else, and that must not follow another one in a transaction. */
const PLAIN = /^(?:BEGIN|START TRANSACTION|SET TRANSACTION)[A-Za-z, ]*$/i;

/**
 * A line for psql that has it send a foreign statement to the server unread: psql would run commands (`\!`) in it, and
 * replace `:name`. As text of base64 it means the same under every setting of strings and encodings.
 */
export function literalStatement(statement: Buffer): string {
  const text = statement.length < MOST_PLAIN ? statement.toString('latin1') : '';
  if (PLAIN.test(text)) return `${text};\n`;
  return `SELECT ${textOfLiteral(statement)} \\gexec\n`;
}

/** An expression for a text in the encoding of the client. */
export function textOfLiteral(text: Buffer): string {
  return `pg_catalog.convert_from(pg_catalog.decode('${text.toString('base64')}', 'base64'), pg_catalog.pg_client_encoding())`;
}

const MOST_PLAIN = 200;
