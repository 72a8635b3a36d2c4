import { definitionsOnlyText } from '../results/definitions-only.ts';
import { hiddenText } from '../results/hidden-objects.ts';
import { leftOutText } from '../results/left-out-schemas.ts';
import { programText } from '../results/program-text.ts';
import { isForeign, type LoadPlan, type LoadResult, type MissingParts } from '../results/results.ts';
import { dataText } from '../results/sanitize-results.ts';
import { reasonsOf, shortened, type TableSelection } from '../results/selected-tables.ts';
import { signatureText } from '../results/signature-text.ts';
import { formatBytes, formatDuration, formatNumberOf } from '../text/format.ts';
import { destinationLines, typedName } from './destination.ts';
import type { Question } from './question.ts';

/** The plan of a load for people: what goes where, why there, how, and what can be undone. */
export function loadPlanLines(plan: LoadPlan): string[] {
  return [
    `Load ${contents(plan)}`,
    ...(plan.selection ? selectionLines(plan.selection) : []),
    ...programLines(plan),
    ...leftOutLines(plan),
    ...hiddenLines(plan),
    dataLine(plan),
    ...destinationLines(plan.destination),
    `  chosen by ${plan.chosen_by}`,
    `  strategy  ${plan.strategy}: ${plan.strategy_reason}`,
    `  undo      ${undoLine(plan)}`,
    ...(plan.snapshot ? [`  signature ${signatureText(plan.snapshot.signature)}`] : []),
    ...plan.steps.map((step, index) => `  ${String(index + 1).padStart(2)}. ${step}`),
    ...plan.warnings.map(({ message }) => `  warning: ${message}`),
  ];
}

export function loadQuestion(plan: LoadPlan): Question {
  const { destination, file } = plan;
  const place = `database "${destination.database}" on ${destination.host}`;
  const ask = file !== null ? `Run ${file} on ${place}?` : `${destination.exists ? 'Replace' : 'Create'} ${place}?`;
  return {
    plan: loadPlanLines(plan),
    ask,
    ...(isForeign(plan) ? { typed: destination.database } : typedName(destination)),
  };
}

/** What a load did, and how to take it back. */
export function loadedText(plan: LoadPlan, result: LoadResult) {
  const { snapshot, destination, selection, swap_ms, undo_database, ...size } = result;
  const what = snapshot ? `snapshot ${snapshot.index} of ${plan.target}` : plan.file;
  const amount = [formatNumberOf(size.tables, 'table'), formatNumberOf(size.rows, 'row'), formatBytes(size.size_bytes)];
  return [
    `Loaded ${what} into ${destination}${snapshot ? `: ${amount.join(', ')}` : ''}`,
    ...(selection ? selectionLines({ ...selection, empty: shortened(selection.empty) }) : []),
    ...hiddenLines({ snapshot }),
    ...(swap_ms === null ? [] : [`The database was away for ${formatDuration(swap_ms)}`]),
    ...(result.missing ? missingLines(result.missing) : []),
    ...(undo_database === null ? [] : [`The database as it was is kept: ${undoCommand(plan)}`]),
  ].join('\n');
}

function missingLines({ differences, errors }: MissingParts): string[] {
  return ['Missing:', ...differences.map((text) => `  ${text}`), ...errors.map((text) => `  ${text}`)];
}

/** `  data      NOT sanitized: the target has no sanitization query` */
export function dataLine({ sanitized, sanitized_reason }: Pick<LoadPlan, 'sanitized' | 'sanitized_reason'>): string {
  return `  data      ${dataText({ sanitized, sanitized_reason })}`;
}

/** Schemas of the source that cannot be loaded, since the snapshot does not have them. */
function leftOutLines({ snapshot }: LoadPlan): string[] {
  const leftOut = snapshot?.left_out_schemas ?? [];
  const definitionsOnly = snapshot?.definitions_only ?? [];
  return [
    ...(leftOut.length === 0 ? [] : [`  left out  ${leftOutText(leftOut)}: not in the snapshot`]),
    ...(definitionsOnly.length === 0 ? [] : [`  no rows   ${definitionsOnlyText(definitionsOnly)}: definitions only`]),
  ];
}

/** What loads a snapshot that the vendor's program has written. */
function programLines({ snapshot }: LoadPlan): string[] {
  return snapshot?.program === undefined ? [] : [`  program   ${programText(snapshot.program)}`];
}

/** Objects that the user of the build could not read. */
function hiddenLines({ snapshot }: Pick<LoadPlan, 'snapshot'>): string[] {
  const hidden = snapshot?.hidden ?? [];
  return hidden.length === 0 ? [] : [`  hidden    ${hiddenText(hidden)}: not in the snapshot`];
}

function contents({ target, snapshot, file, tables, rows, size_bytes, schemas }: LoadPlan): string {
  if (file !== null) return `${file} for ${target}`;
  const amount = [formatNumberOf(tables, 'table'), formatNumberOf(rows, 'row'), formatBytes(size_bytes)].join(', ');
  return `snapshot ${snapshot?.index} of ${target} (${snapshot?.id}): ${amount}, schemas ${schemas.join(', ')}`;
}

/** What comes, what comes along and why, and what is left empty. */
function selectionLines({ chosen, needed, empty }: TableSelection): string[] {
  return [
    ...listed('tables', chosen),
    ...listed('needed', reasonsOf(needed)),
    `  empty     ${empty.length === 0 ? 'none' : empty.join(', ')}`,
  ];
}

function listed(title: string, lines: string[]): string[] {
  return lines.map((line, index) => `  ${(index === 0 ? title : '').padEnd(9)} ${line}`);
}

function undoLine(plan: LoadPlan): string {
  if (plan.undo) return `the database as it is now is kept: ${undoCommand(plan)}`;
  if (!plan.destination.exists) return 'nothing to keep: the database is new';
  return plan.strategy === 'script' ? 'none: what the file changes stays changed' : 'none: what is replaced is gone';
}

/** A destination that was named on the command line must be named again. */
function undoCommand({ target, chosen_by }: LoadPlan): string {
  return chosen_by === '--destdb' ? `tool undo ${target} --destdb URL` : `tool undo ${target}`;
}
