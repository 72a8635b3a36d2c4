import { keyText } from '../../config/keys/keys-in-effect.ts';
import { type Fact, listFacts } from '../../presentation/shapes/fact.ts';
import {
  askToReplace,
  destinationFacts,
  type Question,
  replacement,
  restoringFacts,
  serverFact,
  typedName,
  undoFacts,
  warningsOf,
} from '../../presentation/shapes/question.ts';
import { summaryOf, unavailableFor } from '../../presentation/shapes/summary.ts';
import {
  contentsText,
  dataFact,
  kindBadge,
  lackingFacts,
  lackingLines,
  signatureFact,
  snapshotFact,
  snapshotName,
} from '../../presentation/snapshot.ts';
import { isForeign } from '../../results/configuration/foreign-code.ts';
import type { LoadDifference, LoadPlan, LoadResult } from '../../results/load-results.ts';
import type { SnapshotRow } from '../../results/results.ts';
import type { TableSelection } from '../../results/selected-tables.ts';
import type { RunSummary } from '../../state/runs.ts';
import { formatBytes, formatDuration, formatNumberOf } from '../../text/format.ts';
import { shell } from '../../text/shell-word.ts';
import { saveFact, saveName } from '../save/facts-text.ts';
import { automaticSaveFacts } from '../save/text.ts';
import { copiesFacts } from './copies-text.ts';
import { loadExpectedMs } from './expected-steps.ts';

export function loadQuestion(plan: LoadPlan, now: Date): Question {
  const { destination, file, snapshot, target, selection, save } = plan;
  const { database, host } = destination;
  return {
    subject: {
      badge: plan.sanitized === null ? null : kindBadge(plan.sanitized),
      text: `${save ?? snapshot?.id ?? file} into ${database} on ${host}`,
      ends: {
        from: snapshot ? `${target} ${save ?? snapshot.id}` : (file ?? ''),
        to: `${database} on ${host}`,
      },
    },
    title:
      save === undefined
        ? `Load ${snapshot ? snapshotName(target, snapshot) : `${file} for ${target}`}`
        : `Return ${database} to ${saveName(target, save)}`,
    facts: [
      ...(snapshot ? snapshotFacts(plan, snapshot, now) : [{ name: 'File', value: file ?? '' }]),
      dataFact(plan),
      ...(snapshot ? lackingFacts(snapshot) : []),
      ...destinationFacts(destination),
      // Last, so that a low window cuts the lists and not the destination.
      ...(plan.only_rows ? onlyRowsFacts(plan.only_rows) : selection ? selectionFacts(selection) : []),
      estimateFact(plan),
      serverFact(destination),
      { name: 'Chosen by', value: plan.chosen_by },
      { name: 'Strategy', value: `${plan.strategy}: ${plan.strategy_reason}`, brief: plan.strategy_reason },
      ...(snapshot ? [signatureFact(snapshot.signature)] : []),
      ...restoringFacts(plan),
      ...baseFacts(plan),
      ...listFacts(
        'After load',
        (plan.after_load ?? []).map(({ run }) => run),
        'strong',
      ),
      ...automaticSaveFacts(plan.automatic_saves ?? []),
      ...undoFacts(plan.undo ? undoCommand(plan) : null),
    ],
    steps: plan.steps,
    warnings: warningsOf(plan),
    consequence: consequenceOf(plan),
    ask: plan.only_rows
      ? `Replace the rows of ${formatNumberOf(plan.only_rows.tables.length, 'table')} in "${database}" on ${host}?`
      : file === null
        ? askToReplace(destination)
        : `Run ${file} on database "${database}" on ${host}?`,
    harmless: !destination.exists,
    go: plan.only_rows ? 'Replace the rows' : destination.exists ? `Replace ${database}` : `Create ${database}`,
    typed: isForeign(plan) ? database : typedName(plan.destination),
  };
}

/** `about 1.5 s, by 3 earlier loads` */
function estimateFact(plan: LoadPlan): Fact {
  const { estimate, file } = plan;
  if (estimate) {
    const value = `about ${formatDuration(estimate.duration_ms)}, by ${formatNumberOf(estimate.loads, 'earlier load')}`;
    return { name: 'Duration', value };
  }
  if (file !== null) return { name: 'Duration', value: 'unknown: no earlier load of this file' };
  return { name: 'Duration', value: `about ${formatDuration(loadExpectedMs(plan))}, by its size: no earlier load` };
}

function baseFacts({ target, chosen_by, copies, keep_base, reset_instead, difference, save }: LoadPlan): Fact[] {
  const place = chosen_by === '--destdb' ? ' --destdb URL' : '';
  return [
    ...(difference ? [methodFact(difference), ...wayFacts(difference)] : []),
    ...(reset_instead
      ? [
          {
            name: 'Faster',
            value: `${shell`tool reset ${target}`}${place}: the base copy is of this snapshot (${keyText('reset')} on screen)`,
          },
        ]
      : []),
    ...(copies ? copiesFacts(copies, () => copyFate(keep_base !== undefined, save)) : []),
  ];
}

function copyFate(isReplaced: boolean, save: string | undefined): string {
  if (save !== undefined) return 'stays, of the last load';
  return isReplaced ? 'will be replaced' : 'will be dropped';
}

function methodFact({ method, reason, tables, size_bytes, saved_tables, saved_bytes }: LoadDifference): Fact {
  if (method === 'full') return { name: 'Method', value: `full load of all tables: ${reason}` };
  const loads = `${formatNumberOf(tables, 'table')} (${formatBytes(size_bytes)})`;
  const reused = `${formatNumberOf(saved_tables, 'table')} (${formatBytes(saved_bytes)})`;
  const brief = `difference: loads ${loads}, reuses ${reused}`;
  return { name: 'Method', value: `${brief}; ${reason}`, brief };
}

const MOST_WAYS = 5;
const WAYS = { rows: 'rows that differ', whole: 'whole' };

/** `public.orders: rows that differ (2 MB), it has a key`, of the largest tables. */
function wayFacts({ by_table = [], tables }: LoadDifference): Fact[] {
  const shown = by_table.slice(0, MOST_WAYS);
  const lines = shown.map(({ table, method, reason, size_bytes }, index) => {
    const more = index === shown.length - 1 && tables > shown.length ? `; and ${tables - shown.length} more` : '';
    return `${table}: ${WAYS[method]} (${formatBytes(size_bytes)}), ${reason}${more}`;
  });
  return listFacts('Differing tables', lines);
}

function snapshotFacts(plan: LoadPlan, snapshot: SnapshotRow, now: Date): Fact[] {
  return [
    plan.save === undefined ? snapshotFact(snapshot, now) : saveFact({ ...snapshot, name: plan.save }, now),
    { name: 'Contents', value: `${contentsText(plan)} in ${plan.schemas.join(', ')}`, brief: contentsText(plan) },
  ];
}

function selectionFacts({ chosen, needed, empty }: TableSelection): Fact[] {
  const required = needed.length === 0 ? ['none'] : reasonsOf(needed);
  const more = required.length - MOST;
  return [
    { name: 'Tables', value: chosen.join(', '), brief: shortened(chosen), tone: 'strong' },
    // A line each; where room is short the last one shown says how many more there are.
    ...required.map((value, index) => ({
      name: index === 0 ? 'Required tables' : '',
      value,
      brief: index < MOST ? `${value}${index === MOST - 1 && more > 0 ? `, and ${more} more` : ''}` : '',
    })),
    { name: 'Left empty', value: empty.join(', ') || 'none', brief: restOf(empty) },
  ];
}

function restOf(empty: string[]): string {
  return empty.length > FEW ? `the other ${formatNumberOf(empty.length, 'table')}` : empty.join(', ') || 'none';
}

function consequenceOf(plan: LoadPlan): string {
  const { destination, strategy, undo } = plan;
  if (strategy === 'script' && destination.exists && !undo) {
    return `The file runs on the existing ${destination.database}. Its changes cannot be undone.`;
  }
  if (plan.only_rows) return onlyRowsConsequence(plan);
  return replacement(destination, undo);
}

function onlyRowsConsequence({ only_rows, destination, undo }: LoadPlan): string {
  const tables = formatNumberOf(only_rows?.tables.length ?? 0, 'table');
  const what = `Only the rows of ${tables} in ${destination.database} will be replaced.`;
  return undo
    ? `${what} The present rows are kept for one undo, in place of an older undo copy.`
    : `${what} This cannot be undone.`;
}

type OnlyRows = NonNullable<LoadPlan['only_rows']>;

/** `public.orders: 1,204 rows → 1,180 rows`, a line each. */
function onlyRowsFacts({ tables, views_not_refreshed: views }: OnlyRows): Fact[] {
  const lines = tables.map(
    ({ table, rows_before, rows }) =>
      `${table}: ${formatNumberOf(rows_before, 'row')} → ${formatNumberOf(rows, 'row')}`,
  );
  const shown = lines.slice(0, MOST);
  const more = lines.length - shown.length;
  return [
    ...shown.map((value, index) => ({
      name: index === 0 ? 'Rows replaced' : '',
      value: index === shown.length - 1 && more > 0 ? `${value}; and ${more} more` : value,
      ...(index === 0 && { tone: 'strong' as const }),
    })),
    {
      name: 'Kept',
      value: 'definitions, indexes, grants, triggers (they do not fire), all other tables and their sequences',
      brief: 'everything else; triggers do not fire',
    },
    ...(views.length > 0 ? [{ name: 'Not refreshed', value: shortened(views) }] : []),
  ];
}

/** A destination that was named on the command line must be named again. */
function undoCommand({ target, chosen_by }: LoadPlan): string {
  return chosen_by === '--destdb' ? shell`tool undo ${target} --destdb URL` : shell`tool undo ${target}`;
}

/** `snapshot 0 of app (8c41f2ab RAW)`, `3 tables of snapshot …`, `/tmp/fixtures.sql` */
function loadedThing({ selection, snapshot, target, file }: LoadPlan): string {
  const some = selection ? `${formatNumberOf(selection.chosen.length, 'table')} of ` : '';
  return snapshot ? `${some}${snapshotName(target, snapshot)}` : (file ?? target);
}

/** `load 58f7fad5 → shop_dev` */
export function loadTitle({ save, selection, snapshot, file, target, destination }: LoadPlan): string {
  if (save !== undefined) return `back to ${save} → ${destination.database}`;
  const some = selection ? `${formatNumberOf(selection.chosen.length, 'table')} of ` : '';
  return `load ${some}${snapshot?.id ?? file ?? target} → ${destination.database}`;
}

export function loadSummary(result: LoadResult, plan: LoadPlan): RunSummary {
  const { snapshot, statements, destination, selection, swap_ms, undo_database, missing } = result;
  const { database, exists } = plan.destination;
  const contents = snapshot ? `: ${contentsText(result)}` : '';
  const done =
    plan.save === undefined ? `Loaded ${loadedThing(plan)} into` : `Returned to ${saveName(plan.target, plan.save)}:`;
  return summaryOf(`${done} ${destination}${contents}`, {
    details: [
      ...(result.only_rows ? onlyRowsLines(result.only_rows) : selection ? selectionLines(selection) : []),
      ...(result.difference ? [methodLine(result.difference)] : []),
      ...(statements === undefined ? [] : [`Ran ${formatNumberOf(statements, 'statement')}; nothing was verified`]),
      ...(snapshot && plan.strategy === 'swap' && !missing ? [VERIFIED] : []),
      ...(snapshot ? lackingLines([snapshot]) : []),
      ...(result.after_load
        ? [`Ran ${formatNumberOf(result.after_load.length, 'step')} of after_load after the verification`]
        : []),
      ...(result.base_database ? [`The base copy for tool reset: ${result.base_database}`] : []),
      ...(result.spare_database ? [`The spare for the next reset: ${result.spare_database}`] : []),
    ],
    card: { title: `${database} ${plan.only_rows ? 'changed' : exists ? 'replaced' : 'created'}`, facts: [] },
    ...(snapshot && plan.save === undefined && { snapshot: snapshot.id }),
    ...unavailableFor(database, exists ? swap_ms : null),
    problems: missing ? ['Missing:', ...missing.differences, ...missing.errors] : [],
    undo: undo_database === null ? null : { database, command: undoCommand(plan), rows: plan.only_rows !== undefined },
  });
}

function methodLine(difference: LoadDifference): string {
  const { name, value, brief = value } = methodFact(difference);
  return `${name}: ${brief}`;
}

function onlyRowsLines({ tables, views_not_refreshed: views }: OnlyRows): string[] {
  return [
    `Replaced rows of: ${shortened(tables.map(({ table }) => table))}`,
    'Verified row counts, and foreign keys from and to the tables; everything else is unchanged',
    ...(views.length > 0 ? [`Materialized views not refreshed: ${shortened(views)}`] : []),
  ];
}

export const VERIFIED = 'Verified against the manifest: rows, indexes, constraints, triggers, sequences';

function selectionLines({ chosen, needed, empty }: TableSelection): string[] {
  return [
    `Tables: ${shortened(chosen)}`,
    `Required tables: ${shortened(reasonsOf(needed)) || 'none'}`,
    `Left empty: ${restOf(empty)}`,
  ];
}

/** `public.customer (public.orders refers to it)` */
function reasonsOf(needed: TableSelection['needed']): string[] {
  return needed.map(({ table, needed_by, why }) =>
    why === 'part' ? `${table} (a part of ${needed_by})` : `${table} (${needed_by} refers to it)`,
  );
}

/** Names that are listed where there is little room. */
const MOST = 6;

function shortened(texts: string[]): string {
  const more = texts.length - MOST;
  return (more > 1 ? [...texts.slice(0, MOST), `and ${more} more`] : texts).join(', ');
}

const FEW = 3;
