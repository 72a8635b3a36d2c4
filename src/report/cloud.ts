import { stringify } from 'yaml';
import type { ApplyPlan, ResourceChange } from '../operations/cloud/apply.ts';
import type { HubContent } from '../operations/cloud/show.ts';
import { printable } from '../text/printable.ts';
import type { Question } from './question.ts';

/** One line a resource, and one for each of its keys that changes. */
export function applyPlanLines({ resources }: ApplyPlan): string[] {
  return resources.flatMap(({ kind, name, action, changes }) => [
    `${action} ${kind === 'target' ? 'target' : 'storage profile'} ${name}`,
    ...(action === 'unchanged' ? [] : changes.map(changeLine)),
  ]);
}

const LONGEST_VALUE = 60;

function changeLine({ key, before, after, overwrites }: ResourceChange['changes'][number]): string {
  const text = (value: unknown): string => {
    const whole = value === null ? '(none)' : typeof value === 'string' ? value : JSON.stringify(value);
    const plain = printable(whole);
    return plain.length > LONGEST_VALUE ? `${plain.slice(0, LONGEST_VALUE)}…` : plain;
  };
  const note = overwrites ? ' (changed on the hub since the last apply)' : '';
  return `  ${key.replace(/^settings\./, '')}: ${text(before)} → ${text(after)}${note}`;
}

export function applyQuestion(plan: ApplyPlan): Question {
  return { plan: applyPlanLines(plan), ask: `Apply this to the hub at ${plan.hub}?` };
}

export function appliedText({ resources, hub }: ApplyPlan): string {
  const count = (action: string): number => resources.filter((one) => one.action === action).length;
  const [created, changed, unchanged] = ['create', 'change', 'unchanged'].map(count);
  return `Applied to ${hub}: ${created} created, ${changed} changed, ${unchanged} unchanged`;
}

/** In the shape of tool.yml, so that it can be kept as a file. */
export function hubContentText({ hub, storage_profiles, targets }: HubContent): string {
  const document = { ...(storage_profiles && { storage_profiles }), targets };
  return `# ${hub}\n${stringify(document).trimEnd()}`;
}
