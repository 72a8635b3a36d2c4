import type { Question } from '../../../presentation/shapes/question.ts';
import { summaryOf } from '../../../presentation/shapes/summary.ts';
import type { ApplyPlan, ResourceChange } from '../../../results/cloud-results.ts';
import type { RunSummary } from '../../../state/runs.ts';
import { boundedList } from '../../../text/bounded-list.ts';
import { formatNumberOf } from '../../../text/format.ts';
import { printable } from '../../../text/printable.ts';

export function applyQuestion({ hub, file, resources }: ApplyPlan): Question {
  const changed = resources.filter(({ action }) => action !== 'unchanged');
  return {
    title: `Apply ${file} to the hub`,
    facts: [{ name: 'Hub', value: hub, tone: 'strong' }],
    steps: changed.map(resourceText),
    warnings: changed.flatMap((resource) => [
      ...resource.changes
        .filter(({ overwrites }) => overwrites)
        .map(({ key }) => `${nameOf(resource)}: ${keyText(key)} was changed on the hub since the last apply`),
      ...removalTexts(resource),
    ]),
    consequence: changed.length === 0 ? 'Nothing changes.' : 'The hub keeps no copy of the previous values.',
    ask: `Apply this to the hub at ${hub}?`,
    go: 'Apply',
    typed: null,
  };
}

export function applySummary({ resources, hub }: ApplyPlan): RunSummary {
  const count = (action: string): number => resources.filter((one) => one.action === action).length;
  const [created, changed, unchanged] = ['create', 'change', 'unchanged'].map(count);
  const line = `Applied ${formatNumberOf(resources.length, 'resource')} to ${hub}: ${created} created, ${changed} changed, ${unchanged} unchanged`;
  return summaryOf(line, { details: resources.flatMap(removalTexts) });
}

function removalTexts({ name, removes = [] }: ResourceChange): string[] {
  const ids = removes.map(({ id }) => id);
  return ids.length === 0 ? [] : [nextRemovalsText(name, ids)];
}

const MOST_NAMED = 10;

/** Describes the removals of a keep policy, and their time. */
export function nextRemovalsText(target: string, ids: string[]): string {
  return `keep of target ${printable(target)} removes ${formatNumberOf(ids.length, 'snapshot')} at the next publication: ${boundedList(ids, MOST_NAMED)}`;
}

/** `Change target app: cpus: 2 → 4; pool: (none) → fast` */
function resourceText(resource: ResourceChange): string {
  const { action, changes } = resource;
  return `${action === 'create' ? 'Create' : 'Change'} ${nameOf(resource)}: ${changes.map(changeText).join('; ')}`;
}

function nameOf({ kind, name }: ResourceChange): string {
  return `${kind === 'target' ? 'target' : 'storage profile'} ${name}`;
}

function keyText(key: string): string {
  return key.replace(/^settings\./, '');
}

const LONGEST_VALUE = 60;

function changeText({ key, before, after }: ResourceChange['changes'][number]): string {
  const text = (value: unknown): string => {
    const whole = value === null ? '(none)' : typeof value === 'string' ? value : JSON.stringify(value);
    const plain = printable(whole);
    return plain.length > LONGEST_VALUE ? `${plain.slice(0, LONGEST_VALUE)}…` : plain;
  };
  return `${keyText(key)}: ${text(before)} → ${text(after)}`;
}
