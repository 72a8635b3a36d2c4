import { expect } from 'vitest';
import { build } from '../../../src/operations/build/build.ts';
import { applyLoad, planLoad } from '../../../src/operations/load/load.ts';
import { loadQuestion } from '../../../src/operations/load/text.ts';
import type { RunEvent, WarningEvent } from '../../../src/results/events.ts';
import type { HiddenObjects } from '../../../src/results/manifest/hidden-objects.ts';
import type { SnapshotRow } from '../../../src/results/results.ts';
import { withDetails } from '../databases/build-and-load.ts';
import { dumpedObjects } from '../postgres/dumped-objects.ts';
import { testContext } from '../postgres/postgres-server.ts';
import type { TestFlavour, TestMysql } from './mysql-server.ts';

const SOURCE = 'app';
const COPY = 'copy';

/** An object of every kind that a user's rights may hide, and those that depend on them. */
const OBJECTS = [
  'CREATE TABLE parent (id int PRIMARY KEY, code varchar(20) UNIQUE, more int CHECK (more > 0), last int, CONSTRAINT positive CHECK (last > 1))',
  'CREATE TABLE child (id int AUTO_INCREMENT PRIMARY KEY, parent int, document json, KEY (parent), CONSTRAINT to_parent FOREIGN KEY (parent) REFERENCES parent (id))',
  'CREATE TABLE `odd ``.table` (id int PRIMARY KEY, twice int GENERATED ALWAYS AS (id * 2) STORED, UNIQUE KEY `odd ,( key` (twice))',
  "INSERT INTO parent VALUES (1, 'a', 5, 6), (2, 'b', 7, 8)",
  "INSERT INTO child (parent, document) VALUES (1, '{}'), (2, '[1]')",
  'INSERT INTO `odd ``.table` (id) VALUES (7)',
  'CREATE FUNCTION twice_of(number int) RETURNS int DETERMINISTIC RETURN number * 2',
  'CREATE FUNCTION unused() RETURNS int DETERMINISTIC RETURN 1',
  'CREATE PROCEDURE nothing() SELECT 1',
  'CREATE VIEW plain AS SELECT id FROM parent',
  'CREATE VIEW of_view AS SELECT p.id FROM (plain p JOIN child c ON c.parent = p.id) WHERE extract(year FROM now()) > 0',
  'CREATE VIEW of_function AS SELECT twice_of(id) AS twice FROM child',
  'CREATE VIEW of_query AS WITH few AS (SELECT id FROM parent) SELECT id FROM few WHERE id IN (SELECT parent FROM child)',
  'CREATE TRIGGER of_child BEFORE INSERT ON child FOR EACH ROW SET NEW.parent = NEW.parent',
  'CREATE TRIGGER of_odd BEFORE INSERT ON `odd ``.table` FOR EACH ROW SET NEW.id = NEW.id',
  "CREATE EVENT later ON SCHEDULE AT '2037-01-01 00:00:00' ON COMPLETION PRESERVE DO DELETE FROM child WHERE id = 0",
];
const MARIADB_OBJECTS = [
  'CREATE SEQUENCE counter START 5',
  'CREATE TABLE counted (id int PRIMARY KEY, number int DEFAULT nextval(counter))',
  'CREATE TABLE kept (id int PRIMARY KEY) WITH SYSTEM VERSIONING',
];

export const TABLES: Record<TestFlavour, string[]> = {
  mysql: ['parent', 'child', 'odd `.table'],
  mariadb: ['parent', 'child', 'odd `.table', 'counter', 'counted', 'kept'],
};
export const VIEWS = ['plain', 'of_view', 'of_function', 'of_query'];

export async function createSource(server: TestMysql): Promise<void> {
  await server.createDatabase(SOURCE);
  await server.sql(SOURCE, ...OBJECTS, ...(server.flavour === 'mariadb' ? MARIADB_OBJECTS : []));
}

/** Which rights a user has, and how they were granted. */
export interface RightsCase {
  name: string;
  /** Statements with `USER` for the user. */
  grants: string[];
}

/** The right to see the text of routines. */
export function routineGrant(flavour: TestFlavour): string {
  return flavour === 'mysql' ? 'GRANT SHOW_ROUTINE ON *.* TO USER' : 'GRANT SELECT ON mysql.proc TO USER';
}

export interface Outcome {
  /** Messages of the refusals that came before a build that succeeded. */
  refusals: string[];
  /** What the first build that succeeded left out. */
  hidden: HiddenObjects[];
}

/**
 * Builds as the user. A refusal must name a GRANT that helps; a snapshot must load, lack exactly what it announces by
 * the dumps of the server's own program, and lack nothing when the announced GRANTs were run.
 */
export async function checkRights(
  server: TestMysql,
  { user, workingDirectory, grants }: Pick<RightsCase, 'grants'> & { user: string; workingDirectory: string },
): Promise<Outcome> {
  await server.sql('', `DROP USER IF EXISTS ${user}`, `CREATE USER ${user} IDENTIFIED BY 'secret'`);
  await server.sql('', ...grants.map((grant) => grant.replaceAll('USER', user)));
  const snapshot = { src_url: server.url(SOURCE, { name: user, password: 'secret' }), dst_url: server.url(COPY) };
  const settings = { working_directory: workingDirectory, targets: { [user]: { snapshot } } };
  const events: RunEvent[] = [];
  const context = testContext({ settings, events });

  const refusals: string[] = [];
  const buildAllowed = async (): Promise<SnapshotRow> => {
    while (true) {
      events.length = 0;
      const built = await build(context, { target: user, cpus: 2 }).catch((error) => error);
      if (!(built instanceof Error)) return built;
      expect(built).toMatchObject({ code: 'dump_failed', hint: expect.stringContaining('GRANT ') });
      refusals.push(built.message);
      if (refusals.length > 3) throw new Error('the GRANTs of the refusals do not help', { cause: built });
      const help = /run on the source: (.*)$/s.exec((built as Error & { hint: string }).hint)?.[1] ?? '';
      await server.sql('', ...help.split('; '));
    }
  };
  const row = await buildAllowed();
  const hidden = row.hidden ?? [];
  const warnings = events
    .filter((event): event is WarningEvent => event.event === 'warning' && event.code === 'objects_hidden')
    .map(({ message }) => message);
  expect(warnings).toHaveLength(hidden.length);

  const planned = await planLoad(context, { target: user, cpus: 2, undo: false });
  expect(planned.plan.snapshot?.hidden ?? []).toEqual(hidden);
  expect(loadQuestion(planned.plan, new Date()).facts.filter(({ name }) => name === 'Hidden')).toHaveLength(
    hidden.length > 0 ? 1 : 0,
  );
  await withDetails(applyLoad(context, planned));
  expect(await unannounced(server, hidden)).toEqual([]);

  for (const message of warnings) {
    const help = /To include (?:it|them): (GRANT .*)$/s.exec(message)?.[1];
    if (help !== undefined) await server.sql('', help);
  }
  const whole = await buildAllowed();
  expect(whole.hidden ?? []).toEqual([]);
  if (process.env.TEST_FULL !== '1') return { refusals, hidden };
  await withDetails(applyLoad(context, await planLoad(context, { target: user, cpus: 2, undo: false })));
  expect(await unannounced(server, [])).toEqual([]);
  return { refusals, hidden };
}

/** Differences of the copy from the source that were not announced, and announced ones that are none. */
async function unannounced(server: TestMysql, hidden: HiddenObjects[]): Promise<string[]> {
  // A default draws from the sequence of its own database.
  const objectsOf = async (database: string): Promise<Map<string, string>> =>
    dumpedObjects((await server.dump(database)).replaceAll(`nextval(\`${database}\`.`, 'nextval('));
  const source = await objectsOf(SOURCE);
  const copy = await objectsOf(COPY);
  expect(source.size).toBeGreaterThan(OBJECTS.length - 2);
  const missing = [...source].filter(([key]) => !copy.has(key));
  return [
    ...missing
      .filter(([key, text]) => !isAnnounced(hidden, key, text) && !isOfMissingTable(key, text, copy))
      .map(([key]) => `${key} is missing`),
    ...[...copy.keys()].filter((key) => !source.has(key)).map((key) => `${key} is not in the source`),
    ...[...source].flatMap(([key, text]) => {
      const other = copy.get(key);
      return other === undefined || other === text ? [] : [`${key} differs: ${text} → ${other}`];
    }),
    ...hidden.flatMap(({ kind, names }) =>
      names.filter((name) => copy.has(`${kind} ${name}`)).map((name) => `${kind} ${name} is there`),
    ),
  ];
}

/** Which is announced itself, or would be missing as well. */
function isOfMissingTable(key: string, text: string, copy: Map<string, string>): boolean {
  const table =
    /^foreign key (.*?)\./.exec(key)?.[1] ?? /^CREATE TRIGGER [\s\S]*? ON (`(?:[^`]|``)*`|\S+) /.exec(text)?.[1];
  return table !== undefined && !copy.has(`table ${table.replaceAll('`', '')}`);
}

const ROUTINES = new Set(['function', 'procedure', 'package', 'package body']);

function isAnnounced(hidden: HiddenObjects[], key: string, text: string): boolean {
  const object = key.replace(/^rows of /, 'table ');
  return hidden.some(({ kind, names, tables }) => {
    if (names.length > 0) return names.some((name) => object === `${kind} ${name}`);
    const isKind =
      kind === 'routine' ? ROUTINES.has(object.slice(0, object.indexOf(' '))) : object.startsWith(`${kind} `);
    const ofTable = tables?.some((table) =>
      text
        .replaceAll('``', '')
        .replaceAll('`', '')
        .includes(` ON ${table.replaceAll('`', '')} `),
    );
    return isKind && (tables === undefined || ofTable === true);
  });
}
