import { type MysqlSession, SESSION_SETTINGS } from '../../connection/session.ts';
import { type Definers, settingsOf } from '../../definitions/code.ts';
import type { Code, CodeDefinitions } from '../../definitions/definitions.ts';
import { readCode } from '../../definitions/read-definitions.ts';
import { lexicalModeOf, significant } from '../../definitions/tokens.ts';
import { readNameCase } from '../../name-case.ts';
import { inDatabase, plainWords, quoteName } from '../../quote.ts';
import { createText } from './swap-packet.ts';

interface Tidying {
  destination: string;
  after: CodeDefinitions;
  definers: Definers;
  /** Names of routines that others have rights on, which go with the routine. */
  granted: Set<string>;
}

/**
 * MySQL keeps the semicolon that ends a statement of a packet as part of a body that is one statement. It changes
 * nothing but the text; each such program is created again as the last statement of a packet of its own, which has
 * none. Triggers with another one after them, and routines with grants, stay: their order and rights matter more.
 */
export async function tidyBodies(
  server: MysqlSession,
  { destination, after, definers, granted }: Tidying,
): Promise<void> {
  const present = await readCode(server, destination, () => {});
  const last = await lastTriggers(server, destination);
  const { fold } = await readNameCase(server, [...after.triggers.map(({ name }) => name), ...last]);
  const lastNames = new Set([...last].map(fold));
  const nameOf = ({ kind, name }: Code): string => (kind === 'TRIGGER' ? fold(name) : name);
  const wanted: [Code[], Code[]][] = [
    [after.routines.filter(({ name }) => !granted.has(name.toLowerCase())), present.routines],
    [after.triggers.filter(({ name }) => lastNames.has(fold(name))), present.triggers],
    [after.events, present.events],
  ];
  for (const [codes, found] of wanted) {
    for (const code of codes) {
      const there = found.find((one) => one.kind === code.kind && nameOf(one) === nameOf(code));
      // In its own bytes it was created after the packet.
      if (code.bytes !== undefined || !there || !endsWithSemicolon(there) || endsWithSemicolon(code)) continue;
      const drop = `DROP ${plainWords(code.kind)} IF EXISTS ${quoteName(code.name)}`;
      await server.query([...settingsOf(code), drop, createText(code, definers)].join('\n;\n'));
      for (const setting of SESSION_SETTINGS.slice(0, 1)) await server.execute(setting);
    }
  }
}

function endsWithSemicolon({ create, sql_mode }: Code): boolean {
  return significant(create, lexicalModeOf(sql_mode)).at(-1)?.text === ';';
}

/** Triggers after which no other one runs at the same moment. */
async function lastTriggers(server: MysqlSession, database: string): Promise<Set<string>> {
  const rows = await server.query<{ name: string; moment: string }>(`
    SELECT TRIGGER_NAME AS name, CONCAT_WS(' ', EVENT_OBJECT_TABLE, EVENT_MANIPULATION, ACTION_TIMING) AS moment
    FROM information_schema.TRIGGERS WHERE ${inDatabase('TRIGGER_SCHEMA', database)} ORDER BY ACTION_ORDER`);
  return new Set(new Map(rows.map(({ name, moment }) => [moment, name])).values());
}
