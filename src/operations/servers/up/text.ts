import type { Question } from '../../../presentation/shapes/question.ts';
import { summaryOf } from '../../../presentation/shapes/summary.ts';
import type { ServerEvent } from '../../../results/events.ts';
import type { UpPlan, UpResult } from '../../../results/server-results.ts';
import type { ExpectedStep } from '../../../state/overall-progress.ts';
import type { RunSummary } from '../../../state/runs.ts';
import { shell } from '../../../text/shell-word.ts';
import { contentOf, copyStep, restoreSteps, swapStep } from '../../expected-steps.ts';

export function upQuestion(plan: UpPlan): Question {
  const { target, snapshot, product, server_version, port, detached, steps } = plan;
  return {
    title: `Start a server for ${target}`,
    facts: [
      { name: 'Snapshot', value: `${snapshot.sanitized ? 'SAFE' : 'RAW'} ${snapshot.id}` },
      {
        name: 'Server',
        value: `${product} ${server_version}, ${port === null ? 'a free port' : `port ${port}`} of 127.0.0.1`,
      },
      { name: 'Ends', value: detached ? `with ${shell`tool down ${target}`}` : 'with this program, or tool down' },
    ],
    steps,
    warnings: snapshot.sanitized ? [] : ['The snapshot is not sanitized: its image stays on this machine.'],
    consequence: 'Nothing is replaced: the server has files of its own.',
    ask: `Start a server for ${target}?`,
    go: 'Start',
    harmless: true,
    typed: null,
  };
}

export function upSteps({ target, snapshot, image }: UpPlan): ExpectedStep[] {
  const content = contentOf(snapshot);
  const start = { step: 'start', label: `Start a server for ${target}`, ms: 1000 };
  if (image === 'stored') return [start];
  return [
    ...restoreSteps(content),
    swapStep(target, content),
    copyStep('image', `Store the image of ${snapshot.id}`, content),
    start,
  ];
}

/** The only place that shows the password, which is stored nowhere. */
export function serverUrl({ url, password }: Pick<ServerEvent, 'url' | 'password'>): string {
  return url.replace('@', () => `:${password}@`);
}

export function upSummary({ target, detached, snapshot, url }: UpResult): RunSummary {
  if (url === undefined) return summaryOf(`Stopped the server for ${target}, and removed its files`);
  const ends = detached ? `Stop it: ${shell`tool down ${target}`}` : 'It ends with this program';
  return summaryOf(`Started a server for ${target} with snapshot ${snapshot}. ${ends}`, {
    card: { title: `server for ${target} started`, facts: [] },
    details: [url],
    url,
  });
}
