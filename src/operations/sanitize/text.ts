import type { Fact } from '../../presentation/shapes/fact.ts';
import {
  askToReplace,
  destinationFacts,
  type Question,
  replacement,
  restoringFacts,
  serverFact,
  typedName,
  warningsOf,
} from '../../presentation/shapes/question.ts';
import { summaryOf, unavailableFor } from '../../presentation/shapes/summary.ts';
import {
  briefName,
  contentsText,
  kindBadge,
  lostFacts,
  lostNames,
  snapshotFact,
  snapshotName,
} from '../../presentation/snapshot.ts';
import type { SanitizePlan, SanitizeResult } from '../../results/review/sanitize-results.ts';
import type { RunSummary } from '../../state/runs.ts';
import { capitalized, formatNumberOf } from '../../text/format.ts';
import { commonText, findingsText, indirectText } from './coverage-text.ts';

export function sanitizeQuestion(plan: SanitizePlan, now: Date): Question {
  const { target, snapshot, query, destination, where, strict, steps } = plan;
  const exists = destination?.exists === true;
  return {
    title: `Sanitize ${snapshot ? snapshotName(target, snapshot) : `a new snapshot of ${target}`}`,
    subject: {
      badge: kindBadge(false),
      text: `${snapshot?.id ?? 'new snapshot'} of ${target}${destination ? `, in ${destination.database} on ${destination.host}` : ''}`,
    },
    facts: [
      snapshot ? snapshotFact(snapshot, now) : { name: 'Snapshot', value: 'a new one' },
      ...queryFacts(query),
      ...(destination
        ? [...destinationFacts(destination), serverFact(destination)]
        : [{ name: 'Runs in', value: where }]),
      ...restoringFacts(plan),
      ...(strict ? [{ name: 'Strict', value: 'publish nothing while personal data is left' }] : []),
    ],
    steps,
    warnings: warningsOf(plan),
    consequence: consequenceOf(plan),
    ask: destination ? askToReplace(destination) : 'Sanitize?',
    go: exists ? `Sanitize, and replace ${destination.database}` : 'Sanitize',
    typed: exists ? typedName(destination) : null,
  };
}

function queryFacts({ chosen_by, file, base64, statements }: SanitizePlan['query']): Fact[] {
  const count = formatNumberOf(statements.length, 'statement');
  const from = `${file === null ? '' : `${file}, `}${chosen_by}${base64 ? ' (base64)' : ''}`;
  return [
    { name: 'Query', value: `${count} from ${from}`, brief: `${file ?? chosen_by}, ${count}` },
    ...statements.map(({ number, line, text }) => ({
      name: '',
      value: `${number}. (line ${line}) ${oneLine(text)}`,
      brief: '',
    })),
  ];
}

const SHOWN = 100;

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
}

function consequenceOf({ destination, undo }: SanitizePlan): string {
  if (!destination) return 'A temporary database is created and dropped. The original snapshot is not changed.';
  return `${replacement(destination, undo)} The original snapshot is not changed.`;
}

export function sanitizeTitle({ target, snapshot }: SanitizePlan): string {
  return snapshot ? `sanitize ${snapshot.id}` : `build and sanitize ${target}`;
}

export function sanitizeSummary(result: SanitizeResult, { target, query }: SanitizePlan): RunSummary {
  const { snapshot, original, destination, statements, coverage, swap_ms, undo_database } = result;
  const by = formatNumberOf(statements, 'statement');
  const notes = [indirectText(coverage.tables), commonText(coverage.common)].filter((note) => note !== null);
  const unchanged = coverage.findings.length > 0 ? [findingsText(coverage)] : [];
  return summaryOf(`Sanitized ${snapshotName(target, original)} by ${by}: ${findingsText(coverage)}`, {
    caution: unchanged.length + lostFacts(snapshot).length > 0,
    card: { title: `Snapshot ${briefName(snapshot)} created`, facts: [...unchanged, ...lostFacts(snapshot)] },
    details: [
      `Sanitized snapshot ${briefName(snapshot)}: ${contentsText(snapshot)}`,
      ...notes.map(capitalized),
      ...(destination === null ? [] : [`${destination} holds the sanitized data`]),
      ...(undo_database === null ? [] : [`The previous database is kept: ${undo_database}`]),
    ],
    ...unavailableFor('It', swap_ms),
    snapshot: snapshot.id,
    ...lostNames(snapshot),
    sanitized: { original, coverage, queryFile: query.file },
  });
}
