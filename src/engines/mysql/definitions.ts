import * as v from 'valibot';
import { readCollations } from './catalogue.ts';
import { quoteName, quoteText, type Session } from './connection/session.ts';

/** A table as statements: it is filled before its indexes are built, which sorts once instead of a million times. */
const tableSchema = v.object({
  name: v.string(),
  create: v.string(),
  /** Clauses of one ALTER TABLE each: those that can be made together, together. */
  indexes: v.array(v.array(v.string())),
  foreignKeys: v.array(v.string()),
});
export type TableDefinition = v.InferOutput<typeof tableSchema>;

/** Code that the server keeps as text, and under which settings it was written. */
const codeSchema = v.object({
  kind: v.string(),
  name: v.string(),
  create: v.string(),
  sql_mode: v.nullable(v.string()),
  charset: v.nullable(v.string()),
  collation: v.nullable(v.string()),
  /** Of an event, whose times are in it. */
  time_zone: v.nullable(v.string()),
});
export type Code = v.InferOutput<typeof codeSchema>;

const sequenceSchema = v.object({ name: v.string(), create: v.string(), next: v.string() });

/** Everything of a database but its rows: the file `definitions.json` of a snapshot. */
export const definitionsSchema = v.object({
  charset: v.string(),
  collation: v.string(),
  tables: v.array(tableSchema),
  sequences: v.array(sequenceSchema),
  routines: v.array(codeSchema),
  views: v.array(codeSchema),
  triggers: v.array(codeSchema),
  events: v.array(codeSchema),
});
export type Definitions = v.InferOutput<typeof definitionsSchema>;

/** What has to be made anew when tables move from one database to another. */
export type CodeDefinitions = Omit<Definitions, 'tables' | 'sequences'>;

/** What could not be read, for a warning each. */
export type Unreadable = (what: string, why: string) => void;

export async function readDefinitions(
  session: Session,
  database: string,
  unreadable: Unreadable,
): Promise<Definitions> {
  const within = `= ${quoteText(database)}`;
  const named = await session.query<{ name: string; type: string }>(
    `SELECT TABLE_NAME AS name, TABLE_TYPE AS type FROM information_schema.TABLES WHERE TABLE_SCHEMA ${within} ORDER BY TABLE_NAME`,
  );
  const tables: TableDefinition[] = [];
  const sequences: Definitions['sequences'] = [];
  for (const { name, type } of named) {
    const path = `${quoteName(database)}.${quoteName(name)}`;
    if (type === 'SEQUENCE') sequences.push(await readSequence(session, { name, path }));
    else if (type !== 'VIEW' && type !== 'SYSTEM VIEW')
      tables.push(splitTable(name, await showCreate(session, `TABLE ${path}`)));
  }
  return { ...(await readCode(session, database, unreadable)), tables, sequences };
}

/** Where a server lists a kind of code, in the order in which it can be made again. */
const CODE: Record<'routines' | 'views' | 'triggers' | 'events', (within: string) => string> = {
  routines: (within) =>
    `SELECT ROUTINE_TYPE AS kind, ROUTINE_NAME AS name FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA ${within} ORDER BY ROUTINE_TYPE, ROUTINE_NAME`,
  views: (within) =>
    `SELECT 'VIEW' AS kind, TABLE_NAME AS name FROM information_schema.VIEWS WHERE TABLE_SCHEMA ${within} ORDER BY TABLE_NAME`,
  triggers: (within) =>
    `SELECT 'TRIGGER' AS kind, TRIGGER_NAME AS name FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA ${within}
     ORDER BY EVENT_OBJECT_TABLE, EVENT_MANIPULATION, ACTION_TIMING, ACTION_ORDER`,
  events: (within) =>
    `SELECT 'EVENT' AS kind, EVENT_NAME AS name FROM information_schema.EVENTS WHERE EVENT_SCHEMA ${within} ORDER BY EVENT_NAME`,
};

export async function readCode(session: Session, database: string, unreadable: Unreadable): Promise<CodeDefinitions> {
  const collations = await readCollations(session, database);
  const read = async (kind: keyof typeof CODE): Promise<Code[]> => {
    const listed = await session.query<{ kind: string; name: string }>(CODE[kind](`= ${quoteText(database)}`));
    const codes: Code[] = [];
    for (const each of listed) {
      const code = await readOne(session, { ...each, database }).catch((error: Error) => {
        unreadable(`${each.kind.toLowerCase()} ${each.name}`, error.message);
        return null;
      });
      if (code) codes.push(code);
    }
    return codes;
  };
  return {
    charset: collations?.charset ?? 'utf8mb4',
    collation: collations?.collation ?? 'utf8mb4_general_ci',
    routines: await read('routines'),
    views: await read('views'),
    triggers: await read('triggers'),
    events: await read('events'),
  };
}

interface Listed {
  kind: string;
  name: string;
  database: string;
}

async function readOne(session: Session, { kind, name, database }: Listed): Promise<Code> {
  const [row = {}] = await session.query<Record<string, string | null>>(
    `SHOW CREATE ${kind} ${quoteName(database)}.${quoteName(name)}`,
  );
  const create = statementOf(row);
  if (create === null) throw new Error('the user may not see how it is made');
  return {
    kind,
    name,
    create: withoutDatabase(create, database),
    sql_mode: row.sql_mode ?? null,
    charset: row.character_set_client ?? null,
    collation: row.collation_connection ?? null,
    time_zone: row.time_zone ?? null,
  };
}

async function showCreate(session: Session, what: string): Promise<string> {
  const [row = {}] = await session.query<Record<string, string | null>>(`SHOW CREATE ${what}`);
  return statementOf(row) ?? '';
}

/** The column has a name of its own for every kind of object. */
function statementOf(row: Record<string, string | null>): string | null {
  const column = Object.keys(row).find((name) => /^(Create .*|SQL Original Statement)$/.test(name));
  return column === undefined ? null : (row[column] ?? null);
}

async function readSequence(session: Session, { name, path }: { name: string; path: string }) {
  const [row] = await session.query<{ next: string | number }>(
    `SELECT CAST(next_not_cached_value AS CHAR) AS next FROM ${path}`,
  );
  const create = await showCreate(session, `SEQUENCE ${path}`);
  return {
    name,
    create: create.replace(/^CREATE SEQUENCE `[^`]*`\.`/, 'CREATE SEQUENCE `'),
    next: String(row?.next ?? 1),
  };
}

/**
 * SHOW CREATE TABLE writes one column, key or constraint a line. An AUTO_INCREMENT column needs its key from the start,
 * and only InnoDB builds indexes afterwards faster than on the way; the server makes one FULLTEXT index at a time.
 */
export function splitTable(name: string, create: string): TableDefinition {
  const lines = create.split('\n');
  const end = lines.findIndex((line, at) => at > 0 && line.startsWith(')'));
  const body = lines.slice(1, end).map((line) => line.replace(/,$/, ''));
  const isIndex = (line: string): boolean => /^ {2}(UNIQUE |FULLTEXT |SPATIAL )?KEY /.test(line);
  const isForeignKey = (line: string): boolean => /^ {2}CONSTRAINT `(?:[^`]|``)*` FOREIGN KEY /.test(line);
  const afterwards = /\bENGINE=InnoDB\b/.test(lines[end] ?? '') && !keepsIndexes(body);
  const later = (line: string): boolean => isForeignKey(line) || (afterwards && isIndex(line));
  const indexes = body.filter((line) => isIndex(line) && later(line)).map((line) => line.trim());
  const plain = indexes.filter((line) => !line.startsWith('FULLTEXT'));
  const fulltext = indexes.filter((line) => line.startsWith('FULLTEXT'));
  return {
    name,
    create: [lines[0], body.filter((line) => !later(line)).join(',\n'), ...lines.slice(end)].join('\n'),
    indexes: [...(plain.length > 0 ? [plain] : []), ...fulltext.map((line) => [line])],
    foreignKeys: body.filter(isForeignKey).map((line) => line.trim()),
  };
}

/** The table as one statement again, but for its foreign keys: where rows are few or none an ALTER costs more than they do. */
export function withIndexes(table: TableDefinition): TableDefinition {
  const lines = table.create.split('\n');
  const end = lines.findIndex((line, at) => at > 0 && line.startsWith(')'));
  const clauses = table.indexes.flat().map((clause) => `  ${clause}`);
  const body = [lines.slice(1, end).join('\n'), ...clauses].join(',\n');
  return { ...table, create: [lines[0], body, ...lines.slice(end)].join('\n'), indexes: [] };
}

function keepsIndexes(body: string[]): boolean {
  const counted = body.find((line) => /\bAUTO_INCREMENT\b/.test(line) && line.startsWith('  `'));
  const column = counted && /^ {2}(`(?:[^`]|``)*`)/.exec(counted)?.[1];
  return column !== undefined && !body.some((line) => line.startsWith(`  PRIMARY KEY (${column}`));
}

/**
 * A definition without the name of its own database, so that it can be made in another. Quoted texts are left alone.
 */
export function withoutDatabase(sql: string, database: string): string {
  const prefix = `${quoteName(database)}.`;
  return sql.replaceAll(/'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|`(?:[^`]|``)*`\.?/gs, (token) =>
    token === prefix ? '' : token,
  );
}

/** A definition that belongs to whoever makes it: only an administrator may make it somebody else's. */
export function withoutDefiner(create: string): string {
  return create.replace(
    /^(CREATE\b(?:(?!\b(?:VIEW|TRIGGER|PROCEDURE|FUNCTION|EVENT)\b)[^'"])*?) DEFINER\s*=\s*(?:`(?:[^`]|``)*`|[^\s@]+)@(?:`(?:[^`]|``)*`|\S+)/s,
    '$1',
  );
}
