import type { Fact } from '../../components/facts.tsx';
import { definitionsOnlyText } from '../../src/results/definitions-only.ts';
import { hiddenText } from '../../src/results/hidden-objects.ts';
import { leftOutText } from '../../src/results/left-out-schemas.ts';
import { programText } from '../../src/results/program-text.ts';
import type { LoadPlan, RemovePlan, UndoPlan } from '../../src/results/results.ts';
import { isForeign } from '../../src/results/results.ts';
import { dataWord } from '../../src/results/sanitize-results.ts';
import { othersOf, reasonsOf, shortened, type TableSelection } from '../../src/results/selected-tables.ts';
import { signatureText } from '../../src/results/signature-text.ts';
import { formatAge, formatBytes, formatTime } from '../../src/text/format.ts';
import {
  contentsLine,
  destinationFacts,
  nameToType,
  type Question,
  snapshotLine,
  unverifiedWarnings,
} from './question-facts.ts';

export function loadQuestion(plan: LoadPlan, now: Date): Question {
  const { destination } = plan;
  const { database } = destination;
  return {
    facts: [
      { name: 'Snapshot', value: plan.snapshot ? snapshotLine(plan.snapshot, now) : (plan.file ?? '') },
      { name: 'Contents', value: `${contentsLine(plan)}, ${dataWord(plan)}` },
      ...programFacts(plan),
      ...leftOutFacts(plan),
      ...hiddenFacts(plan),
      ...destinationFacts(destination),
      // Last, so that a low window cuts the lists and not the destination.
      ...(plan.selection ? selectionFacts(plan.selection) : []),
      { name: 'Chosen by', value: plan.chosen_by },
      { name: 'How', value: plan.strategy_reason },
      ...(plan.snapshot ? [{ name: 'Signature', value: signatureText(plan.snapshot.signature) }] : []),
    ],
    steps: plan.steps,
    warnings: [...unverifiedWarnings(plan), ...plan.warnings.map(({ message }) => message)],
    consequence: loadConsequence(plan),
    safe: destination.exists ? `Leave ${database} as it is` : 'Do not load',
    go: destination.exists ? `Replace ${database}` : `Create ${database}`,
    typeName: isForeign(plan) ? database : nameToType(destination, plan),
  };
}

function programFacts({ snapshot }: LoadPlan): Fact[] {
  return snapshot?.program === undefined ? [] : [{ name: 'Program', value: programText(snapshot.program) }];
}

function leftOutFacts({ snapshot }: LoadPlan): Fact[] {
  const leftOut = snapshot?.left_out_schemas ?? [];
  const definitionsOnly = snapshot?.definitions_only ?? [];
  return [
    ...(leftOut.length === 0 ? [] : [{ name: 'Left out', value: leftOutText(leftOut) }]),
    ...(definitionsOnly.length === 0 ? [] : [{ name: 'No rows', value: definitionsOnlyText(definitionsOnly) }]),
  ];
}

function hiddenFacts({ snapshot }: LoadPlan): Fact[] {
  const hidden = snapshot?.hidden ?? [];
  return hidden.length === 0 ? [] : [{ name: 'Hidden', value: hiddenText(hidden), tone: 'caution' }];
}

function selectionFacts(selection: TableSelection): Fact[] {
  const { chosen, needed } = selection;
  const along = needed.length === 0 ? ['none: they refer to no other'] : shortened(reasonsOf(needed));
  return [
    { name: 'Tables', value: shortened(chosen).join(', '), tone: 'strong' },
    ...along.map((value, index) => ({ name: index === 0 ? 'Come along' : '', value })),
    { name: 'Left empty', value: othersOf(selection) },
  ];
}

function loadConsequence({ destination, undo }: LoadPlan): string {
  if (!destination.exists) return `${destination.database} does not exist yet: it is created.`;
  return undo
    ? `${destination.database} is replaced. What it holds now is kept for one undo.`
    : `${destination.database} is replaced. This cannot be undone.`;
}

const PLACES: Record<RemovePlan['from'][number], string> = { local: 'this machine', remote: 'the bucket' };

export function removeQuestion({ snapshot, target, from, frees_bytes }: RemovePlan, now: Date): Question {
  return {
    facts: [
      { name: 'Snapshot', value: snapshotLine(snapshot, now) },
      { name: 'Target', value: target },
      { name: 'Contents', value: contentsLine(snapshot) },
      { name: 'Note', value: snapshot.note ?? 'none' },
      { name: 'From', value: from.map((place) => PLACES[place]).join(' and ') },
      { name: 'Frees', value: `${formatBytes(frees_bytes)}, at the latest a day later` },
    ],
    steps: [],
    warnings: [],
    consequence: 'The snapshot is removed. This cannot be undone.',
    safe: 'Keep the snapshot',
    go: 'Remove the snapshot',
    typeName: null,
  };
}

export function undoQuestion(plan: UndoPlan, now: Date): Question {
  const { destination, undo_database, replaced_at, size_bytes } = plan;
  const replacedFor = now.getTime() - Date.parse(replaced_at);
  return {
    facts: [
      ...destinationFacts(destination),
      { name: 'Comes back', value: `${undo_database}, ${formatBytes(size_bytes)}` },
      { name: 'Replaced', value: `${formatAge(replacedFor)} (${formatTime(replaced_at)})` },
    ],
    steps: [],
    warnings: unverifiedWarnings(plan),
    consequence: `${destination.database} becomes what it was before the load. Undo again brings the load back.`,
    safe: `Leave ${destination.database} as it is`,
    go: `Put the old ${destination.database} back`,
    typeName: nameToType(destination, plan),
  };
}
