import { type Definers, settingsOf } from '../catalog/definitions/code.ts';
import type { Code, CodeDefinitions, DanglingKey } from '../catalog/definitions/definitions.ts';
import type { CodeRow } from '../catalog/definitions/read-definitions.ts';
import { defaultStatements } from '../catalog/definitions/sequence-defaults.ts';
import { withoutDefiner } from '../catalog/definitions/statement-text.ts';
import { lexicalModeOf, significant } from '../catalog/definitions/tokens.ts';
import type { Flavour } from '../catalog/introspect.ts';
import { plainWord, plainWords, quoteName, quotePath, quoteText } from '../connection/quote.ts';
import { PLAIN_GRAMMAR } from '../connection/session.ts';
import { type Counter, DONE, MOVED, type Rename } from './journal-schema.ts';
import type { GrantStatement } from './routine-grants.ts';
import { counterStatement } from './row-exchange.ts';

export interface SwapProgram {
  flavour: Flavour;
  /** Equal for two names that are one to the server. */
  fold: (name: string) => string;
  destination: string;
  /** The database of the journal. */
  work: string;
  made: boolean;
  /** Readable code of the destination. */
  before: CodeDefinitions;
  /** Everything of it, readable or not. */
  listed: CodeRow[];
  after: CodeDefinitions;
  definers: Definers;
  /** None where the rows are exchanged by a transaction, which is open. */
  renames: Rename[];
  /** MySQL: tables to lock before triggers are dropped, in groups that the server locks together. */
  locks: [database: string, table: string][][];
  /** Counters to set where rows are exchanged. */
  counters: Counter[];
  /** Renames after which the undo copy is the replaced database. */
  later: Rename[];
  grants: GrantStatement[];
}

/** Seconds to wait for locks on the destination, and on objects that only the tool uses. */
const LOCK_WAIT = 3;
const LONG_WAIT = 3600;

/**
 * The whole swap as statements of one packet, which the server runs to the end even when the client is gone. Only the
 * first may fail: nothing has changed then. MariaDB runs the others as blocks, which know whether the tables have moved
 * and continue after a failure; on MySQL, LOCK TABLES keeps the tables from the moment before the triggers are dropped,
 * where the server locks all of them together.
 */
export function swapStatements(program: SwapProgram): string[] {
  const { destination, made, after } = program;
  const head = [
    `SET lock_wait_timeout = ${LOCK_WAIT}, innodb_lock_wait_timeout = ${LOCK_WAIT}, foreign_key_checks = 1`,
    'SET @tool_moved = 0, @tool_dropped = 0, @tool_failed = 0, @tool_refused = 0, @tool_message = NULL, @tool_begun = SYSDATE(6), @tool_ended = NULL',
    ...(made
      ? [
          `CREATE DATABASE ${quoteName(destination)} CHARACTER SET ${plainWord(after.charset)} COLLATE ${plainWord(after.collation)}`,
        ]
      : []),
    `USE ${quoteName(destination)}`,
  ];
  return [
    ...head,
    ...(program.flavour === 'mariadb' ? blocksOf(program) : plainStatementsOf(program)),
    'SELECT @tool_moved AS moved, @tool_refused AS refused, @tool_message AS message, TIMESTAMPDIFF(MICROSECOND, @tool_begun, @tool_ended) AS microseconds',
  ];
}

/** Result of the last statement of the packet. */
export interface SwapOutcome {
  moved: number;
  /** The number of the error that kept the tables from moving. */
  refused: number;
  message: string | null;
  microseconds: number | string | null;
}

interface PacketStep {
  settings: string[];
  statement: string;
}

const plain = (statement: string): PacketStep => ({ settings: [], statement });

/**
 * Returns the steps that replace the code of the destination after the tables have moved, in an order in which no step
 * needs a later one.
 */
function stepsAfter(program: SwapProgram): Record<'triggers' | 'drops' | 'code' | 'events' | 'end', PacketStep[]> {
  const { destination, work, listed, after, definers, later, counters, grants } = program;
  const away = new Map(viewsInTheWay(program).map(({ name }, at) => [name, awayName(at)]));
  const collate = ({ charset, collation }: Pick<CodeDefinitions, 'charset' | 'collation'>): PacketStep =>
    plain(
      `ALTER DATABASE ${quoteName(destination)} CHARACTER SET ${plainWord(charset)} COLLATE ${plainWord(collation)}`,
    );
  const create = (code: Code): PacketStep[] => {
    const step = { settings: settingsOf(inUtf8(code)), statement: createText(code, definers) };
    const { database_collation: collation } = code;
    if (!collation || collation === after.collation) return [step];
    return [plain(`ALTER DATABASE ${quoteName(destination)} COLLATE ${plainWord(collation)}`), step, collate(after)];
  };
  return {
    triggers: after.triggers.flatMap(create),
    drops: listed
      .filter(({ kind }) => kind !== 'TRIGGER')
      .map(({ kind, name }) => {
        const present = kind === 'VIEW' ? (away.get(name) ?? name) : name;
        return inModeOf(kind, `DROP ${plainWords(kind)} IF EXISTS ${quoteName(present)}`);
      }),
    code: [
      collate(after),
      ...defaultStatements(after.defaults ?? []).map(plain),
      ...danglingSteps(after.dangling ?? []),
      ...after.routines.flatMap(create),
      // A view that was not valid may be refused: it is made after the packet.
      ...inOrder(after.views.filter(({ invalid }) => !invalid)).flatMap(create),
      ...grants.map(({ kind, statement }) => inModeOf(kind, statement)),
    ],
    events: after.events.flatMap(create),
    end: [
      plain('SET @tool_ended = SYSDATE(6)'),
      ...counters.map((counter) => plain(counterStatement(counter))),
      ...withoutDangling(program).map(plain),
      ...(later.length > 0 ? [plain(renameStatement(later))] : []),
      plain(renameStatement([{ from: [work, MOVED], to: [work, DONE] }])),
    ],
  };
}

/**
 * Returns the code without its bytes: if UTF-8 cannot represent it, it is created again after the packet, from its
 * bytes.
 */
function inUtf8({ bytes: _, ...code }: Code): Code {
  return code;
}

/** MariaDB reads statements about packages in Oracle's mode only. */
function inModeOf(kind: string, statement: string): PacketStep {
  return { settings: kind.startsWith('PACKAGE') ? ["SET sql_mode = 'ORACLE'"] : [], statement };
}

function danglingSteps(keys: DanglingKey[]): PacketStep[] {
  if (keys.length === 0) return [];
  const add = keys.map(({ table, clause }) => plain(`ALTER TABLE ${quoteName(table)} ADD ${clause}`));
  return [plain('SET foreign_key_checks = 0'), ...add, plain('SET foreign_key_checks = 1')];
}

/**
 * Removes foreign keys to missing tables from what becomes the undo copy: one of them would follow a table of that name
 * that comes and goes. The copy's record has them.
 */
/** Tables of a base copy have no foreign keys. */
const BASE_SUFFIX = '.tool-base';

export function withoutDangling({ before, later }: { before: CodeDefinitions; later: Rename[] }): string[] {
  return (before.dangling ?? []).flatMap(({ table, name }) =>
    later
      .filter(({ to }) => to[1] === table && !to[0].endsWith(BASE_SUFFIX))
      .map(({ from }) => `ALTER TABLE ${quotePath(...from)} DROP FOREIGN KEY ${quoteName(name)}`),
  );
}

function blocksOf(program: SwapProgram): string[] {
  const { before } = program;
  const { triggers, drops, code, events, end } = stepsAfter(program);
  const refused =
    'DECLARE EXIT HANDLER FOR SQLEXCEPTION GET DIAGNOSTICS CONDITION 1 @tool_refused = MYSQL_ERRNO, @tool_message = MESSAGE_TEXT;';
  const move = [
    ...before.triggers.flatMap((trigger) => [dynamic(dropTrigger(trigger)), 'SET @tool_dropped = 1']),
    dynamic(moveStatement(program)),
    'SET @tool_moved = 1',
  ];
  const again = before.triggers.map((code) => ({
    settings: settingsOf(inUtf8(code)),
    statement: createText(code, 'theirs'),
  }));
  return [
    `BEGIN NOT ATOMIC ${refused} ${move.join('; ')}; END`,
    `SET lock_wait_timeout = ${LONG_WAIT}, innodb_lock_wait_timeout = DEFAULT`,
    // All of them: the order of triggers is that in which they were made.
    ...before.triggers.map((trigger) => block(plain(dropTrigger(trigger)), '@tool_dropped AND NOT @tool_moved')),
    ...again.map((step) => block(step, '@tool_dropped AND NOT @tool_moved')),
    ...[...drops, ...code, ...triggers, ...events].map((step) => block(step, '@tool_moved')),
    ...end.map((step) => block(step, '@tool_moved AND NOT @tool_failed')),
  ];
}

/** A step under its own settings, which the block takes back; a failure is noted, and the next step goes on. */
function block({ settings, statement }: PacketStep, condition: string): string {
  const run = [...settings, dynamic(statement), ...(settings.length > 0 ? [PLAIN_GRAMMAR] : [])].join('; ');
  return `BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR SQLEXCEPTION SET @tool_failed = 1; IF ${condition} THEN ${run}; END IF; END`;
}

/** Prepared by the server, which takes one statement and no more. */
export function dynamic(statement: string): string {
  return `EXECUTE IMMEDIATE ${quoteText(statement)}`;
}

function plainStatementsOf(program: SwapProgram): string[] {
  const { before, locks } = program;
  const { triggers, drops, code, events, end } = stepsAfter(program);
  const hasTriggers = before.triggers.length > 0;
  const locked = hasTriggers && locks.length === 1;
  const lock = locks.map((group) => `LOCK TABLES ${group.map((path) => `${quotePath(...path)} WRITE`).join(', ')}`);
  const plainly = (steps: PacketStep[]): string[] =>
    steps.flatMap(({ settings, statement }) => [
      ...settings,
      statement,
      ...(settings.length > 0 ? [PLAIN_GRAMMAR] : []),
    ]);
  return [
    ...(hasTriggers ? [...lock, ...(locked ? [] : ['UNLOCK TABLES']), ...before.triggers.map(dropTrigger)] : []),
    moveStatement(program),
    'SET @tool_moved = 1',
    ...(locked ? [...plainly(triggers), 'UNLOCK TABLES'] : []),
    `SET lock_wait_timeout = ${LONG_WAIT}, innodb_lock_wait_timeout = DEFAULT`,
    ...plainly([...drops, ...code]),
    ...(locked ? [] : plainly(triggers)),
    ...plainly([...events, ...end]),
  ];
}

export function dropTrigger({ name }: Code): string {
  return `DROP TRIGGER IF EXISTS ${quoteName(name)}`;
}

/** Without a semicolon and blanks of its own at the end: the packet has them there, and MySQL keeps them. */
export function createText({ create, sql_mode }: Code, definers: Definers): string {
  const mode = lexicalModeOf(sql_mode);
  const text = definers === 'theirs' ? create : withoutDefiner(create, mode);
  const last = significant(text, mode).at(-1);
  return (last?.text === ';' ? text.slice(0, last.at) : text).trimEnd();
}

/** Views of the destination whose names tables take: renamed in the statement that moves the tables. */
function viewsInTheWay(program: Pick<SwapProgram, 'before' | 'renames' | 'destination' | 'fold'>): Code[] {
  const { before, renames, destination, fold } = program;
  const arriving = new Set(renames.filter(({ to }) => to[0] === destination).map(({ to: [, table] }) => fold(table)));
  return before.views.filter(({ name }) => arriving.has(fold(name)));
}

function awayName(at: number): string {
  return `tool-away-${at}`;
}

export function awayRenames(program: Pick<SwapProgram, 'before' | 'renames' | 'destination' | 'fold'>): Rename[] {
  const { destination } = program;
  return viewsInTheWay(program).map(({ name }, at) => ({ from: [destination, name], to: [destination, awayName(at)] }));
}

/** At its end the destination's tables are the new ones, or their rows are. */
function moveStatement(program: SwapProgram): string {
  if (program.renames.length === 0) return 'COMMIT';
  return renameStatement([...awayRenames(program), ...program.renames]);
}

/** All in one statement, which the server does whole or not at all. */
export function renameStatement(renames: Rename[]): string {
  return `RENAME TABLE ${renames.map(({ from, to }) => `${quotePath(...from)} TO ${quotePath(...to)}`).join(', ')}`;
}

/** Each view after the views whose names stand in it. */
function inOrder(views: Code[]): Code[] {
  const byName = new Map(views.map((view) => [view.name.toLowerCase(), view]));
  const ordered = new Set<Code>();
  const visited = new Set<Code>();
  const visit = (view: Code): void => {
    if (visited.has(view)) return;
    visited.add(view);
    for (const { value } of significant(view.create, lexicalModeOf(view.sql_mode))) {
      const needed = byName.get(value.toLowerCase());
      if (needed) visit(needed);
    }
    ordered.add(view);
  };
  for (const view of views) visit(view);
  return [...ordered];
}
