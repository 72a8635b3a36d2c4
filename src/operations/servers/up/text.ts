import type { Question } from '../../../presentation/shapes/question.ts';
import { summaryOf } from '../../../presentation/shapes/summary.ts';
import type { ServerEvent } from '../../../results/events.ts';
import type { UpPlan, UpResult } from '../../../results/server-results.ts';
import type { RunSummary } from '../../../state/runs.ts';
import { shellWord } from '../../../text/shell-word.ts';

export function upQuestion({ target, snapshot, product, server_version, port, steps }: UpPlan): Question {
  return {
    title: `Start a server for ${target}`,
    facts: [
      { name: 'Snapshot', value: `${snapshot.sanitized ? 'SAFE' : 'RAW'} ${snapshot.id}` },
      {
        name: 'Server',
        value: `${product} ${server_version}, ${port === null ? 'a free port' : `port ${port}`} of 127.0.0.1`,
      },
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

/** The only place that shows the password, which is stored nowhere. */
export function serverUrl({ url, password }: Pick<ServerEvent, 'url' | 'password'>): string {
  return url.replace('@', () => `:${password}@`);
}

export function upSummary({ target, detached, snapshot }: UpResult): RunSummary {
  if (!detached) return summaryOf(`Stopped the server for ${target}, and removed its files`);
  return summaryOf(`Started a server for ${target} with snapshot ${snapshot}. Stop it: tool down ${shellWord(target)}`);
}
