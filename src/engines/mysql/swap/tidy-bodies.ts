import { type Definers, settingsOf } from '../catalog/definitions/code.ts';
import type { Code, CodeDefinitions } from '../catalog/definitions/definitions.ts';
import { readCode } from '../catalog/definitions/read-definitions.ts';
import { isWord, lexicalModeOf, significant } from '../catalog/definitions/tokens.ts';
import { readNameCase } from '../catalog/name-case.ts';
import { inDatabase, plainWords, quoteName } from '../connection/quote.ts';
import { type MysqlSession, PLAIN_GRAMMAR } from '../connection/session.ts';
import { createText } from './swap-packet.ts';

interface TidyRequest {
  destination: string;
  after: Pick<CodeDefinitions, 'routines' | 'triggers' | 'events'>;
  /** Default: read from the server. */
  present?: TidyRequest['after'];
  definers: Definers;
  /** Names of routines that others have rights on, which go with the routine. */
  granted: Set<string>;
}

/**
 * MySQL keeps the semicolon that ends a statement of a packet as part of a body that is one statement. It changes
 * nothing but the text; each such program is created again as the last statement of a packet of its own, which has
 * none. Routines with grants stay: their rights matter more.
 */
export async function tidyBodies(
  server: MysqlSession,
  { destination, after, present: given, definers, granted }: TidyRequest,
): Promise<void> {
  const present = given ?? (await readCode(server, destination, () => {}));
  const { fold } = await readNameCase(
    server,
    after.triggers.map(({ name }) => name),
  );
  const followers = await readFollowers(server, destination);
  const nameOf = ({ kind, name }: Code): string => (kind === 'TRIGGER' ? fold(name) : name);
  const wanted: [Code[], Code[]][] = [
    [after.routines.filter(({ name }) => !granted.has(name.toLowerCase())), present.routines],
    [after.triggers, present.triggers],
    [after.events, present.events],
  ];
  for (const [codes, found] of wanted) {
    for (const code of codes) {
      const there = found.find((one) => one.kind === code.kind && nameOf(one) === nameOf(code));
      // In its own bytes it was created after the packet.
      if (code.bytes !== undefined || !there || !endsWithSemicolon(there) || endsWithSemicolon(code)) continue;
      const drop = `DROP ${plainWords(code.kind)} IF EXISTS ${quoteName(code.name)}`;
      const next = code.kind === 'TRIGGER' ? followers.get(there.name) : undefined;
      const create = next === undefined ? code : { ...code, create: before(next, code) };
      await server.query([...settingsOf(code), drop, createText(create, definers)].join('\n;\n'));
      await server.execute(PLAIN_GRAMMAR);
    }
  }
}

function endsWithSemicolon({ create, sql_mode }: Code): boolean {
  return significant(create, lexicalModeOf(sql_mode)).at(-1)?.text === ';';
}

/** The next trigger of the same moment, by the name of each that has one. */
async function readFollowers(server: MysqlSession, database: string): Promise<Map<string, string>> {
  const rows = await server.query<{ name: string; moment: string }>(`
    SELECT TRIGGER_NAME AS name, CONCAT_WS(' ', EVENT_OBJECT_TABLE, EVENT_MANIPULATION, ACTION_TIMING) AS moment
    FROM information_schema.TRIGGERS WHERE ${inDatabase('TRIGGER_SCHEMA', database)} ORDER BY ACTION_ORDER`);
  const groups = [...Map.groupBy(rows, ({ moment }) => moment).values()];
  return new Map(
    groups.flatMap((group) => group.slice(1).map(({ name }, at): [string, string] => [group[at]?.name ?? '', name])),
  );
}

/** The statement of a trigger with its place in the order, which is not part of the text that the server stores. */
function before(next: string, { create, sql_mode }: Code): string {
  const tokens = significant(create, lexicalModeOf(sql_mode));
  const row = tokens.find(
    (token, at) => isWord(token, 'ROW') && isWord(tokens[at - 1], 'EACH') && isWord(tokens[at - 2], 'FOR'),
  );
  if (!row) return create;
  const end = row.at + row.text.length;
  return `${create.slice(0, end)} PRECEDES ${quoteName(next)} ${create.slice(end)}`;
}
