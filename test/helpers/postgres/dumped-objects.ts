/**
 * The objects of a dump by mysqldump or mariadb-dump, each with its definition, without who owns it and whether an event
 * is enabled. Knows nothing of the program's own readers.
 */
export function dumpedObjects(dump: string): Map<string, string> {
  const objects = new Map<string, string>();
  for (const statement of statementsOf(dump)) {
    const rows = /^INSERT INTO `((?:[^`]|``)*)`/.exec(statement);
    if (rows) objects.set(`rows of ${rows[1]}`, `${objects.get(`rows of ${rows[1]}`) ?? ''}${statement}`);
    const created = CREATED.exec(statement);
    if (!created) continue;
    const kind = String(created[1]).toLowerCase().replaceAll(/\s+/g, ' ');
    const name = String(created[2]).replaceAll('`', '');
    // Views stand in a dump as tables first, until those are there that they read.
    if (kind === 'view' && /AS\s+SELECT\s+(NULL|1) AS `/.test(statement)) continue;
    if (kind !== 'table') objects.set(`${kind} ${name}`, statement);
    else {
      const lines = statement.split('\n');
      const isKey = (line: string): boolean => /^\s*CONSTRAINT `.*` FOREIGN KEY /.test(line);
      for (const line of lines.filter(isKey)) {
        objects.set(`foreign key ${name}.${/`(.*?)`/.exec(line)?.[1]}`, line.trim().replace(/,$/, ''));
      }
      const rest = lines.filter((line) => !isKey(line)).map((line) => line.replace(/,$/, ''));
      objects.set(`table ${name}`, rest.join('\n').replaceAll(/ AUTO_INCREMENT=\d+/g, ''));
    }
  }
  return objects;
}

const NAME = '`(?:[^`]|``)*`|[\\w$]+';
const CREATED = new RegExp(
  `^CREATE\\s+(?:ALGORITHM\\s*=\\s*\\w+\\s+)?(?:SQL SECURITY \\w+\\s+)?(TABLE|VIEW|TRIGGER|EVENT|FUNCTION|PROCEDURE|PACKAGE BODY|PACKAGE|SEQUENCE)\\s+(?:IF NOT EXISTS\\s+)?(${NAME})`,
  'i',
);

function statementsOf(dump: string): string[] {
  const statements: string[] = [];
  let delimiter = ';';
  let statement = '';
  for (const line of dump.split('\n')) {
    const changed = /^DELIMITER (.+)$/.exec(line);
    if (changed) {
      delimiter = String(changed[1]);
      continue;
    }
    statement += `${line}\n`;
    if (!line.endsWith(delimiter)) continue;
    statements.push(plain(statement.slice(0, -delimiter.length - 1)));
    statement = '';
  }
  return statements;
}

function plain(statement: string): string {
  return statement
    .replaceAll(/\/\*M?!\d*\s?|\*\//g, '')
    .replaceAll(/DEFINER\s*=\s*`[^`]*`@`[^`]*`\s*/g, '')
    .replaceAll(/\b(ENABLE|DISABLE( ON (SLAVE|REPLICA))?)\b/g, '')
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/^ ?CREATE +/g, 'CREATE ')
    .trim();
}
