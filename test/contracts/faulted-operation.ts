import type { Settings } from '../../src/config/schema/settings.ts';
import { applyUndo, planUndo } from '../../src/operations/undo/undo.ts';
import type { AnyServer, ServerKind } from '../helpers/databases/any-server.ts';
import type { WatchedServer } from '../helpers/databases/watched-server.ts';
import { testContext } from '../helpers/postgres/postgres-server.ts';
import type { Round } from '../helpers/trials.ts';

/** An operation of which one statement is to fail. */
export interface FaultedOperation {
  name: string;
  run(): Promise<unknown>;
  /** The same as a command. */
  words: string[];
  environment?: Record<string, string>;
  /** Of what it changes. */
  state(): Promise<string>;
  before: string;
  /** The state that a complete run leaves; `null`: any that has no original value. */
  wanted: string | null;
  /** States between, which `wanted` allows too: several databases, of which each is old or new. */
  isBetween?: (state: string) => boolean;
  /** After a kill, what the next command does first when the destination is old or new and a branch is neither. */
  complete?: { isNeeded: (state: string) => boolean; run: () => Promise<void> };
  /** Whether `tool undo app` leads back from the new state. */
  undo: boolean;
  /** The database of which the server's own dump has to agree. */
  dumped: string;
  /** Does what a user does next, and resolves with the state of the destination. */
  follow?: (after: FollowUp) => Promise<string>;
}

/** The state after a fault. */
export interface FollowUp {
  now: string;
  round: Round;
  /** For messages. */
  at: string;
}

/** What operations are prepared on. */
export interface FaultWorld {
  server: AnyServer;
  watch: WatchedServer;
  settings: Partial<Settings>;
  /** At how many sessions the operations work. */
  cpus: number;
}

/** Makes ready what an operation begins with: from any state, or from that in which a fault has left the same operation. */
export type Preparation = (left: string | null) => Promise<FaultedOperation>;

export const TABLES = [
  'CREATE TABLE parent (id integer PRIMARY KEY, name varchar(60) NOT NULL)',
  "INSERT INTO parent VALUES (1, 'one@real.example.org'), (2, 'two@real.example.org'), (3, 'three@real.example.org')",
  'CREATE TABLE child (id integer PRIMARY KEY, parent_id integer NOT NULL, note varchar(60), FOREIGN KEY (parent_id) REFERENCES parent (id))',
  "INSERT INTO child VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'c'), (4, 3, 'd')",
  'CREATE INDEX by_note ON child (note)',
  'CREATE VIEW named AS SELECT p.name, c.note FROM parent p JOIN child c ON c.parent_id = p.id',
];
export const PROGRAMS: Record<ServerKind, string[]> = {
  postgres: [
    `CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.note := NEW.note || ''!''; RETURN NEW; END'`,
    'CREATE TRIGGER noted BEFORE INSERT ON child FOR EACH ROW EXECUTE FUNCTION noted()',
    'CREATE SEQUENCE numbers START 7',
    'CREATE MATERIALIZED VIEW names AS SELECT name FROM parent',
    `SELECT lo_from_bytea(4711, 'large')`,
  ],
  mariadb: mysqlPrograms(),
  mysql: mysqlPrograms(),
};
export const CHANGE = [
  "UPDATE child SET note = 'changed' WHERE id > 2",
  'CREATE TABLE extra (id integer PRIMARY KEY)',
  'INSERT INTO extra VALUES (1)',
];
export const ORIGINAL = "SELECT count(*) FROM parent WHERE name LIKE '%real.example.org'";

function mysqlPrograms(): string[] {
  return [
    "CREATE TRIGGER noted BEFORE INSERT ON child FOR EACH ROW SET NEW.note = CONCAT(NEW.note, '!')",
    'CREATE FUNCTION doubled(n integer) RETURNS integer DETERMINISTIC RETURN 2 * n',
    'CREATE EVENT hourly ON SCHEDULE EVERY 1 HOUR DO UPDATE child SET note = note WHERE id = 0',
    'CREATE TABLE log (id integer PRIMARY KEY) ENGINE = MyISAM',
    'INSERT INTO log VALUES (1), (2)',
  ];
}

export function undoOf({ settings }: FaultWorld): () => Promise<unknown> {
  const context = () => testContext({ settings });
  return async () => applyUndo(context(), await planUndo(context(), { target: 'app' }));
}

export async function stateOf({ watch }: FaultWorld, database: string): Promise<string> {
  await watch.quiet();
  return (await watch.databases()).includes(database) ? watch.facts(database) : 'no database';
}
