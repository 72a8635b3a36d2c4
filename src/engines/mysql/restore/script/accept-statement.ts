import { ScriptProblem } from '../../../shared/script/script-problem.ts';
import { readScript, type ScriptPart } from '../../../shared/script/split-script.ts';
import { createSplitter, type MysqlStatement } from './split.ts';

/** https://dev.mysql.com/doc/refman/en/mysql-commands.html and those of MariaDB's client */
const CLIENT_COMMANDS = new Set(
  'CHARSET CLEAR CONNECT COSTS DELIMITER EDIT EGO EXIT GO HELP NOPAGER NOTEE NOWARNING PAGER PRINT PROMPT QUERY_ATTRIBUTES QUIT REHASH RESETCONNECTION SANDBOX SOURCE SSL_SESSION_DATA_PRINT STATUS SYSTEM TEE WARNINGS'.split(
    ' ',
  ),
);
const DATABASE = new Set(['DATABASE', 'SCHEMA']);

const CONFIRMED = 'a load runs on the confirmed database only';

/** Around code of another collation, mysqldump writes it with the name of the source. */
const COLLATION_OF_DUMPS = /^ALTER DATABASE (?:`(?:[^`]|``)*`|[\w$]+) (CHARACTER SET \w+ COLLATE \w+)$/i;
const MOST_BYTES = 4096;

/** In these a byte of a character may be a backslash or a quote. */
export const UNSAFE_CHARSETS = /\b(?:big5|cp932|gb18030|gbk|sjis)\b/i;

/**
 * Refuses commands of the client and statements that lead to another database; a statement may run without the name of
 * its database.
 */
export function acceptStatement(statement: MysqlStatement): MysqlStatement {
  assertNoClientCommand(statement);
  const { line, column, words, bytes } = statement;
  const refuse = (message: string, hint: string): never => {
    throw new ScriptProblem(message, { position: { line, column }, hint });
  };
  if (mayBegin(statement, [new Set(['USE'])]))
    refuse('USE leads to another database', `Remove it: ${CONFIRMED}. mysqldump writes it with --databases.`);
  const short = bytes.length > MOST_BYTES ? '' : bytes.toString('latin1');
  const collation = COLLATION_OF_DUMPS.exec(short)?.[1];
  if (collation !== undefined) return { ...statement, bytes: Buffer.from(`ALTER DATABASE ${collation}`, 'latin1') };
  if (
    mayBegin(statement, [new Set(['CREATE', 'DROP', 'ALTER']), DATABASE]) ||
    mayBegin(statement, [new Set(['CREATE']), new Set(['OR']), new Set(['REPLACE']), DATABASE])
  )
    refuse(
      `${words[0]} DATABASE leads to another database`,
      `Remove it: ${CONFIRMED}. mysqldump writes it with --databases.`,
    );
  if (mayBegin(statement, [new Set(['LOAD'])]) && words.includes('LOCAL'))
    refuse('LOAD DATA LOCAL reads files of this machine', 'Use INSERT, or LOAD DATA with a file of the server.');
  if (mayBegin(statement, [new Set(['SET'])]) && UNSAFE_CHARSETS.test(short))
    refuse(
      'text in a character set that cannot be split into statements',
      'Write the file in utf8mb4: mysqldump --default-character-set=utf8mb4.',
    );
  return statement;
}

export function assertNoClientCommand(statement: MysqlStatement): void {
  if (!mayBegin(statement, [CLIENT_COMMANDS])) return;
  const { line, column, words } = statement;
  const command = words.find((word) => CLIENT_COMMANDS.has(word)) ?? '';
  throw new ScriptProblem(`${command.toLowerCase()} is a command of the client, not SQL`, {
    position: { line, column },
    hint: 'Remove it: only SQL is run.',
  });
}

const MOST_WORDS = 32;

export interface AcceptedScript {
  /** The content; by default that of the file. */
  text?: AsyncIterable<Uint8Array>;
  /** The statement that runs; `null` for none. */
  accept: (statement: MysqlStatement) => MysqlStatement | null;
}

/** The statements of a file, each of which is accepted. */
export function acceptedStatements(
  file: string,
  sqlMode: string,
  { text, accept }: AcceptedScript = { accept: acceptStatement },
): AsyncGenerator<ScriptPart> {
  return readScript(file, createSplitter({ sqlMode, accept, mostWords: MOST_WORDS }), text);
}

/** Reports whether a statement begins with these words on some version of the server; words of a version may be skipped. */
function mayBegin({ words, isOptional }: MysqlStatement, pattern: Set<string>[]): boolean {
  // Numbers of words of the pattern that some version has read.
  let reached = [0];
  for (const [at, word] of words.entries()) {
    const matched = reached.filter((count) => pattern[count]?.has(word)).map((count) => count + 1);
    if (matched.includes(pattern.length)) return true;
    reached = isOptional[at] === false ? matched : [...new Set([...reached, ...matched])];
    if (reached.length === 0) return false;
  }
  return false;
}
