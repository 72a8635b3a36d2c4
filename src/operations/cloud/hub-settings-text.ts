import { stringify } from 'yaml';
import type { Question } from '../../presentation/shapes/question.ts';
import type { ApplyPlan, HubContent, ResourceChange } from '../../results/cloud-results.ts';
import { boundedList } from '../../text/bounded-list.ts';
import { formatNumberOf } from '../../text/format.ts';
import { printable } from '../../text/printable.ts';

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

export function appliedText({ resources, hub }: ApplyPlan): string {
  const count = (action: string): number => resources.filter((one) => one.action === action).length;
  const [created, changed, unchanged] = ['create', 'change', 'unchanged'].map(count);
  const line = `Applied ${formatNumberOf(resources.length, 'resource')} to ${hub}: ${created} created, ${changed} changed, ${unchanged} unchanged`;
  return [line, ...resources.flatMap(removalTexts)].join('\n');
}

function removalTexts(resource: ResourceChange): string[] {
  const { name, removes = [] } = resource;
  return removes.length === 0
    ? []
    : [
        nextRemovalsText(
          name,
          removes.map(({ id }) => id),
        ),
      ];
}

const MOST_NAMED = 10;

/** Describes the removals of a keep policy, and their time. */
function nextRemovalsText(target: string, ids: string[]): string {
  return `keep of target ${printable(target)} removes ${formatNumberOf(ids.length, 'snapshot')} at the next publication: ${boundedList(ids, MOST_NAMED)}`;
}

/** In the shape of tool.yml, so that it can be kept as a file. */
export function hubContentText({ hub, storage_profiles, targets, next_removals }: HubContent): string {
  const document = { ...(storage_profiles && { storage_profiles }), targets };
  const removals = Object.entries(next_removals).map(([target, ids]) => `# ${nextRemovalsText(target, ids)}`);
  return [`# ${hub}`, ...removals, stringify(document).trimEnd()].join('\n');
}

/** `Change target app: cpus: 2 → 4` */
function resourceText(resource: ResourceChange): string {
  const { action, changes } = resource;
  const what = `${action === 'create' ? 'Create' : 'Change'} ${nameOf(resource)}`;
  return [what, ...changes.map(changeText)].join('\n        ');
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
