import { type Fact, listFacts } from '../../presentation/shapes/fact.ts';
import { type Question, typedName, warningsOf } from '../../presentation/shapes/question.ts';
import { summaryOf } from '../../presentation/shapes/summary.ts';
import type { LinkPlan, LinkResult, UnlinkPlan, UnlinkResult } from '../../results/configuration/link-results.ts';
import type { RunSummary } from '../../state/runs.ts';
import { printable } from '../../text/printable.ts';
import { shell } from '../../text/shell-word.ts';

export function linkQuestion(plan: LinkPlan): Question {
  const { target, destination, file, key, url, hook } = plan;
  return {
    title: `Link the working trees of this repository to ${target}`,
    facts: [
      { name: 'Destination', value: destination.url },
      { name: 'Application', value: `${printable(file)}: ${printable(key)} is ${printable(url)}` },
      ...hookFacts(hook),
    ],
    steps: [],
    warnings: warningsOf(plan),
    consequence: `Each new working tree gets a branch of ${target}, and its URL in ${printable(file)}, without a question. To remove: tool unlink`,
    ask: `Link this repository to ${target}?`,
    go: 'Link',
    typed: typedName(destination),
  };
}

export function linkSummary({ target, file, key }: LinkResult): RunSummary {
  return summaryOf(`Linked to ${target}: new working trees get a database of their own, as ${key} of ${file}`);
}

export function unlinkQuestion({ target, hook, files, branches, warnings }: UnlinkPlan): Question {
  return {
    title: `Remove the link of this repository to ${target}`,
    facts: [
      ...hookFacts(hook),
      ...files.map((file) => ({ name: 'File', value: printable(file) })),
      ...branches.map((name) => ({ name: 'Kept', value: `branch ${printable(name)}` })),
    ],
    steps: [],
    warnings: warnings.map(({ message }) => printable(message)),
    consequence: 'Working trees will have their former URL again. Branches are kept.',
    ask: `Remove the link to ${target}?`,
    go: 'Remove',
    typed: null,
  };
}

export function unlinkSummary({ target, branches }: UnlinkResult): RunSummary {
  return summaryOf(`Removed the link to ${target}`, {
    details: branches.map(
      (name) => `Kept branch ${printable(name)}: ${shell`tool branch drop ${target} ${printable(name)}`}`,
    ),
  });
}

function hookFacts(hook: LinkPlan['hook']): Fact[] {
  if (!hook) return [];
  const lines = hook.text.split('\n').slice(0, -1);
  return [
    { name: 'Git hook', value: printable(hook.file) },
    ...listFacts(
      'Lines',
      lines.map((line) => printable(line)),
    ),
  ];
}
