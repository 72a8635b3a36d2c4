import { createInterface } from 'node:readline';
import type { RunningProcess } from '../../../../process/runner.ts';
import { withOutcome } from '../../../../runtime/errors.ts';
import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import { scriptFailed } from '../../../shared/script/script-errors.ts';
import { readScript, type ScriptStatement } from '../../../shared/script/split-script.ts';
import { literalStatement, textOfLiteral } from '../../connection/psql-exchange.ts';
import { PSQL_FLAGS } from '../../connection/session.ts';
import { anyClientTools } from '../../connection/tools.ts';
import { connectionEnvironment } from '../../connection/url.ts';
import { endsTransaction } from './file-settings.ts';
import { createSplitter } from './split.ts';

/** psql ends at the first error, so that no rows follow a COPY that failed; results are not read. */
const FLAGS = [...PSQL_FLAGS, '--set=ON_ERROR_STOP=1', '--set=VERBOSITY=verbose', '--output=/dev/null'];

const SETTINGS = { client_min_messages: 'warning', standard_conforming_strings: 'on' };

/** A dump, which runs without a transaction. */
export interface DumpScript {
  /** Its content. */
  text: AsyncIterable<Uint8Array>;
  /** Decides on a statement; work `before` it begins when all statements that precede it have run. */
  accept(statement: ScriptStatement): { run: boolean; before?: () => Promise<void> };
}

interface FileRun {
  url: DatabaseUrl;
  file: string;
  dump?: DumpScript;
}

/**
 * Runs a file in one transaction and resolves with the number of its statements. psql gets each as a value that it
 * sends unread: it has no way to switch its own commands off. COPY with rows is rendered instead.
 */
export async function runFile(context: EngineContext, { url, file, dump }: FileRun): Promise<number> {
  const { runner, signal } = context;
  const tools = await anyClientTools(context);
  const { args, env, mounts } = connectionEnvironment(url, SETTINGS);
  const errors: string[] = [];
  const onErrorLine = (line: string): void => {
    errors.push(line);
    if (errors.length > ERROR_LINES) errors.shift();
  };
  const psql = runner.start({ file: tools.psql, args: [...FLAGS, ...args], env, mounts }, { signal, onErrorLine });
  const { send, progress, answered, allAnswered } = sender(psql);
  let statements = 0;
  let ownCommit = false;
  let isEnding = false;

  try {
    if (!dump) await send(BEGINNING);
    for await (const part of readScript(file, createSplitter({ asFile: true, ofDump: !!dump }), dump?.text)) {
      if (progress.hasEnded) break;
      if (part.kind === 'rows') {
        await send(part.bytes);
        if (part.isLast) await send(`\\.\n${ACKNOWLEDGED}`);
        continue;
      }
      const { run, before } = dump?.accept(part) ?? { run: true };
      if (before) {
        await allAnswered();
        if (progress.hasEnded) break;
        await before();
      }
      if (!run) continue;
      statements = part.number;
      ownCommit ||= endsTransaction(part);
      progress.sent.push({ number: part.number, line: part.line, column: part.column });
      await send(part.hasRows ? copyLines(part.bytes) : `${literalStatement(part.bytes)}${ACKNOWLEDGED}`);
    }
    isEnding = true;
    await send(dump ? COMMITTED : END);
    psql.stdin.end();
    await psql.ended;
    await answered;
  } catch (error) {
    psql.kill();
    await psql.ended.catch(() => {});
    throw withOutcome(error, ownCommit ? COMMITTED_HINT : isEnding ? ENDING_HINT : FAILED_HINT);
  }
  if (progress.isCommitted) return statements;
  throw scriptFailed(file, {
    statement: progress.sent[0] ?? null,
    message: errorOf(errors),
    hint: dump ? DUMP_HINT : ownCommit ? COMMITTED_HINT : FAILED_HINT,
  });
}

const FAILED_HINT =
  'It ran in one transaction: the database is unchanged. Statements that refuse one (VACUUM) cannot be in it.';
const ENDING_HINT = 'It ran in one transaction, which was ending: the database has all of its effects or none.';
const COMMITTED_HINT =
  'The file has a COMMIT or ROLLBACK of its own: what it committed before the failure stays in the database it ran in.';

const DUMP_HINT =
  'Nothing was stored. A dump runs as a user who is no superuser, on a server with the extensions of this machine only.';

const DATABASE = 'SELECT oid AS database FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()';
const BEGINNING = `${DATABASE} \\gset\nBEGIN;\n`;

const ACKNOWLEDGED = '\\echo done\n';

/** Commits only in the database where it began. */
const COMMITTED = '\\echo committed\n';
const END = `${DATABASE.replace('oid AS database', 'oid = :database AS is_same')} \\gset\n\\if :is_same\nCOMMIT;\n${COMMITTED}\\endif\n`;

const ERROR_LINES = 100;

interface Progress {
  /** Statements without an answer, in order. */
  sent: Pick<ScriptStatement, 'number' | 'line' | 'column'>[];
  isCommitted: boolean;
  hasEnded: boolean;
}

function sender(psql: RunningProcess) {
  const progress: Progress = { sent: [], isCommitted: false, hasEnded: false };
  const ended = psql.ended
    .catch(() => {})
    .then(() => {
      progress.hasEnded = true;
    });
  // psql ends at an error and does not read the rest.
  psql.stdin.on('error', () => {});
  let onAnswers = (): void => {};
  const answers = createInterface({ input: psql.stdout }).on('line', (line) => {
    if (line === 'committed') progress.isCommitted = true;
    else progress.sent.shift();
    if (progress.sent.length === 0) onAnswers();
  });
  return {
    progress,
    /** All answers are read. */
    answered: new Promise<void>((resolve) => answers.once('close', resolve)),
    /** Resolves when all statements that were sent have run, or psql has ended. */
    async allAnswered() {
      if (progress.sent.length === 0) return;
      const empty = new Promise<void>((resolve) => {
        onAnswers = resolve;
      });
      await Promise.race([empty, ended]);
    },
    /** Resolves when psql has room for more, or has ended. */
    async send(input: string | Buffer) {
      if (progress.hasEnded || psql.stdin.write(input)) return;
      await Promise.race([new Promise((resolve) => psql.stdin.once('drain', resolve)), ended]);
    },
  };
}

/** The last message, with its SQLSTATE and without the place in the server's source. */
function errorOf(lines: string[]): string {
  const first = lines.findLastIndex((line) => /^\S+: +[0-9A-Z]{5}: /.test(line));
  const message = lines.slice(Math.max(0, first)).filter((line) => !line.startsWith('LOCATION: '));
  return message.length > 0 ? message.join('\n') : 'psql ended without a message';
}

/** Quoted texts and names of a COPY in canonical form. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"/g;

/**
 * Lines for psql that begin a COPY in canonical form. It stands there as text: behind a value that the server returns
 * for a statement there may be any other one, and psql would run the rows as commands. Only a name whose bytes depend
 * on the encoding is such a value, which psql quotes.
 */
function copyLines(copy: Buffer): string {
  const names: string[] = [];
  const text = copy.toString('latin1').replaceAll(QUOTED, (quoted) => {
    if (!quoted.startsWith('"') || /^\p{ASCII}*$/u.test(quoted)) return quoted;
    names.push(quoted.slice(1, -1).replaceAll('""', '"'));
    return `:"copy_name_${names.length}"`;
  });
  const values = names.map((name, at) => `${textOfLiteral(Buffer.from(name, 'latin1'))} AS copy_name_${at + 1}`);
  const setting = values.length > 0 ? `SELECT ${values.join(', ')} \\gset\n` : '';
  return `${setting}${text};\n`;
}
