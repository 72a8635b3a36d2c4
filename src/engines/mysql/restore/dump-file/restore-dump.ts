import type { DatabaseUrl } from '../../../database-url.ts';
import type { EngineContext } from '../../../engine-context.ts';
import type { DumpFile, RestoredDump } from '../../../facets/dump-file.ts';
import { LeftOut } from '../../../shared/script/left-out.ts';
import { withFileStep } from '../../../shared/script/run-file-step.ts';
import { ScriptProblem } from '../../../shared/script/script-problem.ts';
import { connectToServer } from '../../connection/connect.ts';
import { quoteName } from '../../connection/quote.ts';
import { acceptStatement } from '../script/accept-statement.ts';
import { runFile } from '../script/run-file.ts';
import type { MysqlStatement } from '../script/split.ts';
import { textOfDump } from './read-dump.ts';

/**
 * Restores a dump into a new database of a throw-away server, as the user of the URL, who has rights on it only: none on
 * files, settings and accounts.
 */
export async function restoreDump(context: EngineContext, url: DatabaseUrl, dump: DumpFile): Promise<RestoredDump> {
  const leftOut = new LeftOut();
  await using server = await connectToServer(context, url);
  await server.execute(`CREATE DATABASE ${quoteName(url.database ?? '')}`);
  await withFileStep(context, dump.path, () =>
    runFile(context, { url, file: dump.path, dump: { text: textOfDump(dump), accept: acceptOfDump(leftOut) } }),
  );
  return { url, leftOut: leftOut.texts() };
}

const NAME = '(?:`(?:[^`]|``)*`|[\\w$]+)';
const ACCOUNT = `${NAME}(?:@${NAME})?`;

/** Before the first quoted text: what a comment or a body has in it is no definer. */
const DEFINER = new RegExp(`^([^'"]{0,200}?\\bDEFINER\\s*=\\s*)${ACCOUNT}`);
const NOT_QUOTED = /^(?:[^`]|`(?:[^`]|``)*`)*$/;

const USE = new RegExp(`^USE\\s+(${NAME})$`, 'i');
const CREATE_DATABASE = /^CREATE DATABASE\b/i;
const COLLATION = /\bDEFAULT CHARACTER SET (\w+)(?: COLLATE (\w+))?/;

const REPLICATION =
  /^(?:SET\s+@(?:@SESSION\.SQL_LOG_BIN|@GLOBAL\.GTID_PURGED|MYSQLDUMP_TEMP_LOG_BIN)|SET GLOBAL gtid_|CHANGE (?:MASTER|REPLICATION)\b)/i;

/** Longer statements are of none of these kinds. */
const MOST_BYTES = 64 * 1024;
const HEAD_BYTES = 1024;

/** Accepts a dump of one database, also with `--databases`, without what needs rights on the server. */
function acceptOfDump(leftOut: LeftOut): (statement: MysqlStatement) => MysqlStatement | null {
  let used: string | null = null;
  return (statement) => {
    const short = statement.bytes.length > MOST_BYTES ? '' : statement.bytes.toString('latin1');
    if (REPLICATION.test(short)) {
      leftOut.add('positions of replication');
      return null;
    }
    const name = USE.exec(short)?.[1];
    if (name !== undefined) {
      if (used !== null && used !== name) throw severalDatabases(statement);
      used = name;
      return null;
    }
    if (CREATE_DATABASE.test(short)) return collationOf(statement, short);
    return acceptStatement(withoutDefiner(statement, leftOut));
  };
}

function collationOf(statement: MysqlStatement, text: string): MysqlStatement | null {
  const [, charset, collation] = COLLATION.exec(text) ?? [];
  if (charset === undefined) return null;
  const clause = `CHARACTER SET ${charset}${collation === undefined ? '' : ` COLLATE ${collation}`}`;
  return { ...statement, bytes: Buffer.from(`ALTER DATABASE ${clause}`) };
}

/** Only a superuser may create code in the name of another account; here it is created in the name of the user. */
function withoutDefiner(statement: MysqlStatement, leftOut: LeftOut): MysqlStatement {
  const { bytes, words } = statement;
  if (words[0] !== 'CREATE' && words[0] !== 'ALTER') return statement;
  const head = bytes.toString('latin1', 0, HEAD_BYTES);
  const [whole = '', before = ''] = DEFINER.exec(head) ?? [];
  if (whole === '' || !NOT_QUOTED.test(before)) return statement;
  leftOut.add('definers');
  const rest = bytes.subarray(whole.length);
  return { ...statement, bytes: Buffer.concat([Buffer.from(`${before}CURRENT_USER`, 'latin1'), rest]) };
}

function severalDatabases({ line, column }: MysqlStatement): ScriptProblem {
  return new ScriptProblem('the dump has several databases', {
    position: { line, column },
    hint: 'Nothing was stored. Write one database: mysqldump DATABASE.',
  });
}
