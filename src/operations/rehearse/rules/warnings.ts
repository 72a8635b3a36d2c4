import type { MigrationRisk } from '../../../results/review/migration-risk.ts';
import type { Action } from './action.ts';
import { type Dialect, isAtLeast } from './dialect.ts';
import type { MigrationStatement, Rule } from './rule.ts';
import type { RuleFacts, Situation, TransactionState } from './situation.ts';
import { type TableState, tableState } from './state.ts';
import { type StatementFacts, statementFacts } from './statement.ts';

/** Returns a warning for each statement that is dangerous under load, in the order of the statements. */
export function warningsOf(
  dialect: Dialect,
  statements: readonly MigrationStatement[],
  facts: RuleFacts,
): MigrationRisk[] {
  const tables = tableState(facts);
  const sessions = new Map<number, Session>();
  const report = createReport(dialect, facts, tables);
  for (const [index, { text, inTransaction, session: number, affected = [] }] of statements.entries()) {
    const session = sessions.get(number) ?? newSession(facts.limitsLockWaits);
    sessions.set(number, session);
    if (session.transaction.isOpen !== inTransaction) session.transaction = newTransaction(inTransaction);
    const parts = dialect.split(text);
    const wasOpen = session.transaction.isOpen;
    if (parts.length > 1 && dialect.isOneTransaction) session.transaction.isOpen = true;
    for (const [at, part] of parts.entries()) {
      const actions = dialect.read(part.tokens, tables.resolve);
      const statement = statementFacts(part, { actions, affected: affected[at] });
      judge({ dialect, statement, index, session, facts, tables, report });
    }
    if (!wasOpen && !session.isBegun) session.transaction = newTransaction(false);
  }
  for (const table of facts.rewritten) {
    if (facts.tables.has(table)) report.unexplained(table);
  }
  return report.warnings.sort((one, other) => one.index - other.index);
}

interface Session {
  transaction: TransactionState;
  /** Reports whether a statement began a transaction that has not ended. */
  isBegun: boolean;
  limitsLockWaits: boolean;
  /** Rules that are reported once. */
  reported: Set<Rule>;
}

function newSession(limitsLockWaits: boolean): Session {
  return { transaction: newTransaction(false), isBegun: false, limitsLockWaits, reported: new Set() };
}

function newTransaction(isOpen: boolean): TransactionState {
  return { isOpen, locks: new Map(), notValid: new Set(), addedValues: new Set() };
}

interface Judgement {
  dialect: Dialect;
  statement: StatementFacts;
  index: number;
  session: Session;
  facts: RuleFacts;
  tables: TableState;
  report: Report;
}

function judge({ dialect, statement, index, session, facts, tables, report }: Judgement): void {
  const situation: Situation = {
    ...{ facts, statement, tables, transaction: session.transaction },
    limitsLockWaits: session.limitsLockWaits,
  };
  for (const action of statement.actions) {
    for (const rule of dialect.rules) {
      if (session.reported.has(rule)) continue;
      const found = rule.find(action, situation);
      for (const table of found.slice(0, rule.isOnce ? 1 : undefined)) report.add(rule, { table, index, statement });
      if (rule.isOnce && found.length > 0) session.reported.add(rule);
    }
    report.note(action, { index, statement });
    tables.apply(action);
  }
  for (const action of statement.actions) follow({ dialect, session, action, situation });
}

interface Step extends Pick<Judgement, 'dialect' | 'session'> {
  action: Action;
  situation: Situation;
}

/** Changes what is known of the session. */
function follow({ dialect, session, action, situation }: Step): void {
  const { transaction } = session;
  for (const { table, mode } of dialect.locksOf(action, situation)) {
    const held = transaction.locks.get(table);
    if (situation.tables.busy(table) && (!held || isAtLeast(dialect, mode, held))) transaction.locks.set(table, mode);
  }
  if (action.kind === 'add constraint' && action.constraint.isNotValid) {
    transaction.notValid.add(`${action.table} ${action.constraint.name}`);
  }
  if (action.kind === 'add enum value') transaction.addedValues.add(action.value);
  const { name, limits } = dialect.waitSetting;
  if (action.kind === 'set' && action.name === name) session.limitsLockWaits = limits(action.value);
  if (action.kind !== 'begin' && action.kind !== 'commit' && !dialect.commits(action)) return;
  session.isBegun = action.kind === 'begin';
  session.transaction = newTransaction(session.isBegun);
}

interface Place {
  index: number;
  statement: StatementFacts;
}

interface Report {
  warnings: MigrationRisk[];
  add(rule: Rule, place: Place & { table: string }): void;
  /** Remembers the last statement that changed a table. */
  note(action: Action, place: Place): void;
  /** Adds a warning for a rewritten table that no rule explains. */
  unexplained(table: string): void;
}

function createReport(
  { rewritten, onlineText }: Dialect,
  { isMariadb = false }: RuleFacts,
  tables: TableState,
): Report {
  const warnings: MigrationRisk[] = [];
  const seen = new Set<string>();
  const explained = new Set<string>();
  const last = new Map<string, Place>();
  const add: Report['add'] = (rule, { table, index, statement }) => {
    const { code, safer, rewrites } = rule;
    const text = onlineText && tables.isCopiedOnline(table) ? onlineText(rule.text) : rule.text;
    const url = (isMariadb && rule.mariadbUrl) || rule.url;
    const name = tables.originalName(table);
    if (rewrites) explained.add(name);
    const shown = shortened(statement.text);
    const key = `${code} ${name} ${shown}`;
    if (seen.has(key)) return;
    seen.add(key);
    warnings.push({ code, table: name === '' ? null : name, index, statement: shown, text, safer, url });
  };
  return {
    warnings,
    add,
    note(action, place) {
      if ('table' in action && action.table && !OF_ROWS.has(action.kind))
        last.set(tables.originalName(action.table), place);
    },
    unexplained(table) {
      const place = last.get(table);
      if (place && !explained.has(table)) add(rewritten, { table, ...place });
    },
  };
}

const OF_ROWS = new Set<Action['kind']>(['update', 'delete', 'insert']);

const SHOWN = 300;

function shortened(text: string): string {
  const words = text
    .slice(0, 4 * SHOWN)
    .replaceAll(/\s+/g, ' ')
    .trim();
  return words.length > SHOWN ? `${words.slice(0, SHOWN)}…` : words;
}
